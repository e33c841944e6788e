"""Every read and every transition of chats, called once on a large world: for tests of how they are carried out."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from chatd.core.access import OwnedBy
from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.core.secret import Secret
from chatd.core.workspaces.kinds import BuildStatus, BuildTransition, ProvisionerKind
from chatd.store.queries import CheckpointRow, InsertBuildLogsItem
from chatd.store.store import SqlStore
from chatd.store.transitions import NewChat, Repeated, SendKey, Take, Transitions
from store.authorization_cases import (
    DIFF_REFS,
    FIRST_PAGE,
    HOUR,
    NEW_WORKSPACE,
    PINNED,
    PLACE,
    POSTPONED,
    PULL_REQUEST,
    SEARCH,
    SIDE_COST,
)
from store.large_world import LargeWorld, numbered
from store.silent_hints import SilentHints
from store.transition_driver import DYNAMIC, ERROR, answer, applied, fence, result
from store.world import CIPHER, MODEL, NOW, new_id

_MONTH = {"since": NOW - timedelta(days=9999), "until": NOW}
_STARTS = dict.fromkeys(("day_start", "week_start", "month_start"), NOW - timedelta(days=9999))
SEALED = CIPHER.encrypt(Secret("s"))
_FIRST_PAGE = {**FIRST_PAGE, "max_rows": 50}


def reads(world: LargeWorld) -> dict[str, dict[str, Any]]:
    """What is asked for once per request or turn, or by a sweeper, with its arguments."""
    mine = {"authorize": OwnedBy(world.owner_id)}
    chat = {"chat_id": world.chat, **mine}
    return {
        "get_chat": {"id": world.chat, **mine},
        "get_chat_state": chat,
        "get_turn_context": {"chat_id": world.chat, "model_config_id": MODEL},
        "list_chats": {"archived": False, **_FIRST_PAGE, **mine},
        "list_labeled_chats": {"archived": False, "labels": '{"ticket": "101"}', **_FIRST_PAGE, **mine},
        "list_pinned_chats": {"owner_id": world.owner_id, **PINNED, **mine},
        "list_child_chats": {"root_chat_ids": [world.root], "max_rows": 50},
        "update_chat": {"id": world.chat, "title": "t", "labels": "{}", "plan_mode": None, **mine},
        "replace_chat_title": {"id": world.chat, "title": "t", "expected": "A chat", **mine},
        "set_turn_label": {"id": world.chat, "history_version": 1, "label": "l", **mine},
        "set_chat_summary": {"id": world.chat, "history_version": 1, "summary": "s", **mine},
        "count_messages_since_summary": {"id": world.chat, "history_version": 1, **mine},
        "pin_chat": {"id": world.chat, "place": 3, **mine},
        "mark_chat_read": {"id": world.chat, "message_id": 2**62, **mine},
        "search_chats": {"owner_id": world.owner_id, "archived": False, **SEARCH, **mine},
        "list_unindexed_chats": {"after_id": world.root, "max_rows": 500},
        "list_messages_page": {"before_id": None, "after_id": None, "max_rows": 50, **chat},
        "list_user_messages": {"max_rows": 50, **chat},
        "find_messages": {"words": "answer", "before_id": None, "max_rows": 50, **chat},
        "get_send": {"key": new_id(), **chat},
        "delete_old_sends": {"older_than": timedelta(minutes=1), "max_rows": 10},
        "list_messages_after": {"after_id": 100, "max_rows": 50, **chat},
        "list_prompt_messages": chat,
        "get_message": {"id": 1, **chat},
        "has_unread": chat,
        "sum_cost_by_model": {"owner_id": world.owner_id, **_MONTH},
        "sum_cost_by_chat": {"owner_id": world.owner_id, "max_rows": 50, **_MONTH},
        "sum_cost_by_day": {"owner_id": world.owner_id, **_MONTH},
        "sum_cost_by_user": {"after_id": None, "max_rows": 50, **_MONTH},
        "sum_cost_of_family": chat,
        "sum_runtime_ms": {"owner_id": world.owner_id, **_MONTH},
        "list_spending": {"user_id": world.owner_id, **_STARTS},
        "list_queued_messages": chat,
        "get_draft": chat,
        "list_checkpoints": {"history_version": 10, **chat},
        "get_file": {"id": world.file, **mine},
        "get_file_metadata": {"id": world.file, **mine},
        "list_chat_files": chat,
        "lock_orphan_files": {"older_than": timedelta(minutes=1), "max_rows": 10},
        "delete_orphan_files": {"ids": [numbered("f", 50)]},
        "list_owned_chats": {"replica_id": world.replica},
        "list_chat_versions": {"chat_ids": [numbered("c", n) for n in range(1, 30)]},
        "count_queued_chats": {},
        "upsert_push_subscription": {
            "id": new_id(),
            "endpoint_hash": bytes(32),
            "endpoint": SEALED,
            "p256dh": bytes(65),
            "auth": SEALED,
            "user_id": world.owner_id,
            "token_id": numbered("e", 1),
        },
        "list_push_subscriptions": {"user_id": world.owner_id, "max_rows": 10},
        "drop_push_subscription": {"id": numbered("d", 1)},
        "delete_push_subscription": {"user_id": world.owner_id, "endpoint_hash": bytes(32)},
        "delete_oldest_push_subscriptions": {"user_id": world.owner_id, "keep": 10},
        "insert_side_cost": {"chat_id": world.chat, **SIDE_COST, **mine},
        **_workspace_reads(world, mine),
        "get_chat_context": chat,
        "upsert_chat_context": {"hash": "i", "snapshot": "[]", **chat},
        "mark_contexts": {"workspace_id": world.workspace, "hash": "other"},
        "get_diff_status": chat,
        "list_diff_statuses": {"chat_ids": [world.chat, world.root], **mine},
        "upsert_diff_refs": {"chat_id": world.chat, **DIFF_REFS},
        "forget_pull_request": {"chat_id": world.chat, **PLACE},
        "update_pull_request": {"chat_id": world.chat, **PULL_REQUEST},
        "postpone_diff_statuses": {"chat_ids": [world.chat, world.root], **POSTPONED},
        "mark_diff_stale": {"chat_id": world.chat, "at": NOW},
        "lease_stale_diff_statuses": {"leased_until": NOW, "at": NOW, "max_rows": 50},
    }


def _workspace_reads(world: LargeWorld, mine: dict[str, Any]) -> dict[str, dict[str, Any]]:
    build = numbered("8", 1012)  # the latest of the workspace
    pending = numbered("8", 1002)
    return {
        "delete_template": {"id": numbered("9", 1)},
        "count_template_workspaces": {"template_ids": [numbered("9", 1)], **mine},
        "count_workspaces": {"owner_id": world.owner_id, **mine},
        "insert_workspace": {
            **NEW_WORKSPACE,
            "id": new_id(),
            "build_id": new_id(),
            "organization_id": world.organization_id,
            "owner_id": world.owner_id,
            "template_id": numbered("9", 1),
            "initiator_id": world.owner_id,
        },
        "get_workspace": {"id": world.workspace, **mine},
        "get_workspace_id": {"owner_id": world.owner_id, "name": "w101", **mine},
        "list_workspaces": {"owner_id": None, "after_id": None, "max_rows": 50, **mine},
        "update_workspace": {"id": world.workspace, "name": "renamed", "ttl_ms": 1, **mine},
        "set_workspace_deadline": {"id": world.workspace, "deadline": NOW, **mine},
        "get_workspace_spec": {"id": world.workspace},
        "resolve_workspace": {"chat_id": world.chat, **mine},
        "get_workspace_agent": {"id": world.workspace, **mine},
        "bump_workspaces": {"replica_id": world.replica, "used_ids": [world.workspace]},
        "stop_overdue_workspaces": {"again_after": HOUR, "max_rows": 20},
        "list_host_workspaces": {"host_id": "h1", "after_id": UUID(int=0), "max_rows": 50},
        "set_agent_address": {"id": world.workspace, "build_number": 2, "agent_address": "unix:b"},
        "count_running_workspaces": {},
        "list_workspace_chats": {"workspace_ids": [world.workspace], **mine},
        "list_chats_in_workspace": {"workspace_id": world.workspace, "max_rows": 50, **mine},
        "insert_workspace_build": {
            "id": new_id(),
            "workspace_id": world.workspace,
            "after_number": 2,
            "transition": BuildTransition.STOP,
            "reason": NEW_WORKSPACE["reason"],
            "initiator_id": None,
            "key": new_id(),
            "parameters": "{}",
            "kept_parameters": "{}",
        },
        "get_workspace_build": {"id": build, **mine},
        "get_workspace_build_by_key": {"key": build, **mine},
        "list_workspace_builds": {"workspace_id": world.workspace, "before_number": None, "max_rows": 5, **mine},
        "claim_workspace_builds": {
            "replica_id": world.replica,
            "host_id": "h1",
            "provisioners": [ProvisionerKind.LOCAL],
            "known_ids": [],
            "max_rows": 5,
        },
        "list_carried_out_builds": {"replica_id": world.replica},
        "insert_build_logs": {
            "build_id": pending,
            "replica_id": world.replica,
            "most_lines": 5,
            "items": [InsertBuildLogsItem(NOW, "info", "start", "l")],
        },
        "finish_workspace_build": {
            "id": pending,
            "replica_id": world.replica,
            "status": BuildStatus.SUCCEEDED,
            "error": "",
            "error_code": "",
            "agent_address": "unix:c",
            "ttl": HOUR,
            "lifetime": None,
        },
        "cancel_workspace_build": {"id": numbered("8", 2002), "cancelled_by": None, **mine},
        "fail_unclaimed_builds": {"error": "e", "older_than": HOUR},
        "orphan_workspace": {"id": new_id(), "workspace_id": numbered("7", 2003), "initiator_id": None, **mine},
        "list_orphans": {"host_id": "h1", "after_id": UUID(int=0), "max_rows": 50},
        "settle_orphan": {"workspace_id": world.workspace},
        "list_build_logs": {"build_id": build, "after_id": 0, "max_rows": 50, **mine},
        "delete_old_build_logs": {"older_than": HOUR, "max_rows": 50},
    }


def insert_file_of(world: LargeWorld) -> dict[str, Any]:
    return {
        "id": new_id(),
        "organization_id": world.organization_id,
        "owner_id": world.owner_id,
        "name": "a",
        "media_type": "text/plain",
        "data": b"",
        "sha256": bytes(32),
    }


class Scenario(msgspec.Struct, frozen=True):
    """Chats of one owner that go through everything, beside all the others."""

    sql: SqlStore
    do: Transitions
    world: LargeWorld

    @classmethod
    def on(cls, sql: SqlStore, world: LargeWorld) -> "Scenario":
        return cls(sql, Transitions(sql, SilentHints()), world)

    def user(self, text: str = "hello") -> NewMessage:
        return NewMessage(role=Role.USER, parts=(TextPart(text=text),), created_by=self.world.owner_id)

    def take(self) -> Take:
        return Take(self.world.replica, new_id(), root_capacity=1_000_000, child_capacity=1_000_000)

    def chat(self, parent: UUID | None = None) -> NewChat:
        return NewChat(
            id=new_id(),
            organization_id=self.world.organization_id,
            owner_id=self.world.owner_id,
            model_config_id=MODEL,
            title="t",
            parent_id=parent,
            dynamic_tools=f'[{{"name": "{DYNAMIC}"}}]',
        )

    async def play(self) -> None:
        for part in (self._turn, self._action, self._queue, self._interruption, self._family, self._ownership):
            await part()

    async def _start(self) -> Any:
        return applied(
            await self.do.create_chat(self.chat(), [self.user()], file_ids=[self.world.file], take=self.take())
        )

    async def _turn(self) -> None:
        """Attempts, a draft, steps with calls, the end of a turn; an edit; a compaction."""
        do, made = self.do, await self._start()
        id, now = made.change.chat_id, fence(made)
        shown = CheckpointRow(id, now.history_version, 1, 1, 1, "[]")
        await self.sql.write_checkpoints(writer=self.world.replica, ranges=[shown], done=[self.world.chat])
        now = fence(await do.record_retry(now, retry="{}"))
        now = fence(await do.record_attempt(now))
        now = fence(await do.save_draft(now, answer("draft", calls=[("c1", "look")])))
        now = fence(await do.commit_step(now, [answer(calls=[("c1", "look")])]))
        now = fence(await do.commit_step(now, [result("c1"), answer("so")]))
        applied(await do.commit_step(now, [answer("done")], finish=True))
        key = SendKey(new_id(), new_id())
        sent = await do.send_once(id, self.user(), key, planning=True, take=self.take())
        assert not isinstance(sent, Repeated)
        now = fence(sent)
        assert isinstance(await do.send_once(id, self.user(), key), Repeated)
        queued = await do.send_once(id, self.user(), SendKey(new_id(), new_id()))
        assert not isinstance(queued, Repeated)
        applied(await do.delete_queued(id, applied(queued).change.queued_id or 0))
        now = fence(await do.commit_step(now, [answer(calls=[("c2", "look")])]))
        applied(await do.finish_turn(now))
        now = fence(await do.send_message(id, self.user(), file_ids=[self.world.file], take=self.take()))
        applied(await do.fork_chat(new_id(), id, owner_id=self.world.owner_id, at_message=made.messages[0].id))
        await self.sql.index_messages(chat_ids=[id, self.world.chat], most=200)
        now = fence(await do.edit_message(id, made.messages[0].id, self.user(), file_ids=[self.world.file]))
        await self.sql.index_messages(chat_ids=[id], most=200)
        applied(await do.commit_step(now, [answer("again")], finish=True))
        now = fence(await do.request_compaction(id, take=self.take()))
        now = fence(await do.save_draft(now, answer("draft", calls=[("c3", "look")])))
        applied(await do.finish_error(now, error=ERROR))
        await do.reconcile_invalid(id, error=ERROR)

    async def _action(self) -> None:
        do, made = self.do, await self._start()
        id, now = made.change.chat_id, fence(made)
        endings: list[Callable[[], Awaitable[Any]]] = [
            lambda: do.complete_requires_action(id, [result("c")]),
            lambda: do.interrupt(id),
            lambda: do.cancel_requires_action(now, reason="late"),
        ]
        for end in endings:
            now = fence(await do.commit_step(now, [answer(calls=[("c", DYNAMIC)])]))
            now = fence(await do.enter_requires_action(now))
            now = fence(await end())
        applied(await do.abandon(id, now.runner_id))

    async def _queue(self) -> None:
        do, made = self.do, await self._start()
        id, holder = made.change.chat_id, new_id()
        first, second, third = [applied(await do.send_message(id, self.user())).change.queued_id or 0 for _ in range(3)]
        applied(await do.reorder_queued(id, [third, first, second]))
        applied(await do.hold_queued(id, first, holder=holder))
        applied(await do.release_queued(id, first, holder=holder, message=self.user(), file_ids=[self.world.file]))
        applied(await do.delete_queued(id, first))
        promoted = applied(await do.promote_queued(id, second))
        applied(await do.finish_interruption(fence(promoted)))
        assert await do.release_overdue(most_chats=10)

    async def _interruption(self) -> None:
        do, made = self.do, await self._start()
        now = fence(await do.save_draft(fence(made), answer("draft", calls=[("c", "look")])))
        applied(await do.interrupt(now.chat_id))
        applied(await do.finish_interruption(now))

    async def _family(self) -> None:
        do, root = self.do, await self._start()
        child = applied(
            await do.create_chat(self.chat(root.change.chat_id), [self.user()], file_ids=[], take=self.take())
        )
        for made in (root, child):
            applied(await do.finish_turn(fence(made)))
        applied(await do.bind_workspace(child.change.chat_id, self.world.workspace))
        applied(await do.archive(root.change.chat_id))
        applied(await do.unarchive(root.change.chat_id))

    async def _ownership(self) -> None:
        do, runners = self.do, [new_id() for _ in range(30)]
        taken = await do.acquire(
            self.world.replica, runners, error=ERROR, root_capacity=1_000_000, child_capacity=1_000_000
        )
        assert len(taken) == len(runners)
        assert any(one.change.takeovers for one in taken)
        assert await do.hand_over(self.world.replica, most_chats=100)
        applied(await do.give_up(taken[0].change.chat_id, error=ERROR))
