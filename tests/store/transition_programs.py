"""Clients that make random calls on one chat at the same time, and keep what they asked and what they were told."""

import asyncio
from typing import Any
from uuid import UUID

import msgspec

from chatd.core.chat_model import Call, Content, ToolCall
from chatd.core.messages import NewMessage
from chatd.core.outcomes import Refused
from chatd.core.parts import TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.core.states import RUNNABLE, Status, classify
from chatd.core.transitions import TABLE, Transition
from chatd.store.transitions import Applied, Fence, Outcome, Take
from store.stored_change import assert_stored
from store.transition_driver import DYNAMIC, ERROR, LOCAL, Chats
from store.world import new_id

T = Transition
HOLDERS = (UUID(int=11), UUID(int=12))
QUEUE = {T.DELETE_QUEUED, T.PROMOTE_QUEUED, T.REORDER_QUEUED, T.HOLD_QUEUED, T.RELEASE_QUEUED}
FENCED = {
    *(T.RECORD_ATTEMPT, T.RECORD_RETRY, T.SAVE_DRAFT, T.COMMIT_STEP, T.ENTER_REQUIRES_ACTION),
    *(T.CANCEL_REQUIRES_ACTION, T.FINISH_TURN, T.FINISH_INTERRUPTION, T.FINISH_ERROR),
}


class Step(msgspec.Struct, frozen=True):
    """What one client does next; the numbers choose the arguments once the chat is known."""

    client: int
    action: Transition | str  # or one of BATCHES
    first: int
    second: int
    stale: bool  # act on an older look at the chat
    flag: bool
    choice: int = 0  # above zero: not `action`, but something that the table allows where the chat is thought to be


BATCHES = ("hand_over", "release_overdue", "fall_silent")


class Record(msgspec.Struct, frozen=True):
    """A call that was answered. It took effect, or was refused, at a version from `low` to `high`."""

    call: Call
    outcome: Outcome
    low: int
    high: int


class Program(msgspec.Struct):
    """One chat, what has been seen of it, and what was answered."""

    chats: Chats
    chat_id: UUID
    views: list[dict[str, Any]]
    replicas: tuple[UUID, ...]
    records: list[Record] = []
    silenced: set[UUID] = set()
    texts: int = 0
    machines: dict[UUID, str] = {}
    workspaces: tuple[tuple[UUID | None, str | None], ...] = ((None, None),)  # with their machines

    async def run(self, steps: list[Step]) -> None:
        async with asyncio.TaskGroup() as group:
            for client in sorted({step.client for step in steps}):
                group.create_task(self._client([step for step in steps if step.client == client]), name=f"{client}")

    async def look(self) -> dict[str, Any]:
        view = await self.chats.look(self.chat_id)
        check_view(view)
        self.views.append(view)
        return view

    @property
    def seen(self) -> int:
        """The newest version that anybody knows of."""
        return max(view["state"]["snapshot_version"] for view in self.views)

    async def _client(self, steps: list[Step]) -> None:
        for step in steps:
            low = self.seen
            view = self.views[-1 - step.first % min(4, len(self.views))] if step.stale else await self.look()
            action = likely(step, view) if step.choice else step.action
            if isinstance(action, Transition):
                call = self._compose(action, step, view["state"], view)
                answered = await perform(self.chats, self.chat_id, call, hold_seconds=0.0 if step.flag else 60.0)
                outcomes = [(call, answered)] if not isinstance(answered, list) else [(call, one) for one in answered]
            else:
                outcomes = await self._batch(step)
            view = await self.look()
            for call, outcome in outcomes:
                if isinstance(outcome, Refused):
                    self.records.append(Record(call, outcome, low, view["state"]["snapshot_version"]))
                elif outcome.change.chat_id == self.chat_id:
                    assert_stored(outcome, view)
                    self.records.append(Record(call, outcome, low, view["state"]["snapshot_version"]))

    async def _batch(self, step: Step) -> list[tuple[Call, Outcome]]:
        do, replica = self.chats.transitions, self.replicas[step.client]
        if step.action == "hand_over":
            return [(Call(transition=T.ABANDON), one) for one in await do.hand_over(replica, most_chats=100)]
        if step.action == "release_overdue":
            return [
                (Call(transition=T.RELEASE_QUEUED, target=one.change.queued_id or 0), one)
                for one in await do.release_overdue(most_chats=5)
            ]
        self.silenced.add(replica)
        await self.chats.sql.expire_replica(id=replica)
        return []

    def _compose(self, transition: Transition, step: Step, state: dict[str, Any], view: dict[str, Any]) -> Call:
        self.texts += 1
        text = f"{step.client}.{self.texts}"
        queued = [each["id"] for each in view["queue"]]
        target = queued[step.first % len(queued)] if queued else step.first
        if transition is T.EDIT_MESSAGE:
            shown = [message["id"] for message in view["messages"] if not message["deleted"]]
            target = shown[-1 - step.first % min(6, len(shown))]
        open_calls = unanswered(view)
        if transition is T.SAVE_DRAFT and open_calls:
            transition = T.RECORD_ATTEMPT  # nobody asks the model while calls are open
        runner = UUID(state["runner_id"]) if state["runner_id"] else new_id()
        replica = self.replicas[step.client]
        workspace, host = self.workspaces[step.first % len(self.workspaces)]
        is_reported = transition is T.BIND_WORKSPACE and step.flag and state["runner_id"] is not None
        return Call(
            transition=transition,
            runner=runner if transition in FENCED or transition is T.ABANDON or is_reported else None,
            history=state["history_version"] if transition in FENCED else None,
            rows=composed_rows(transition, text, step, open_calls),
            text=None if transition is T.RELEASE_QUEUED and step.flag else text,
            target=target,
            order=tuple(reversed(queued)) if step.flag else tuple(queued[1:] + queued[:1]),
            holder=HOLDERS[step.second % 2],
            taker=(replica, new_id()) if transition is T.ACQUIRE or step.second % 2 else None,
            interrupts=step.second == 0,
            finish=step.flag and step.first > 2,
            compacted=step.second == 0,
            workspace=workspace,
            host=host,
            machines=self.machines,
        )


def likely(step: Step, view: dict[str, Any]) -> Transition:
    """What moves the chat along: an owner, a wait for the client where one is due, else anything that is allowed."""
    row = view["state"]
    state = classify(Status(row["status"]), archived=row["archived"], queued=row["queue_length"] > 0)
    if state in RUNNABLE and row["runner_id"] is None and step.first:
        return T.ACQUIRE
    if row["status"] == "running" and step.first > 1 and any(call.dynamic for call in unanswered(view)):
        return T.ENTER_REQUIRES_ACTION
    fitting = [each for each in T if state in TABLE[each] and each not in (T.ABANDON, T.GIVE_UP, T.ACQUIRE)]
    chosen = fitting[step.choice % len(fitting)]
    # Without a queue there is nothing to do with it, and turns that keep running show more than edits of them.
    if (chosen in QUEUE and not view["queue"]) or (chosen is T.EDIT_MESSAGE and step.first):
        return T.COMMIT_STEP if row["status"] == "running" and step.flag else T.SEND_MESSAGE
    return chosen


def composed_rows(transition: Transition, text: str, step: Step, open_calls: list[ToolCall]) -> tuple[Content, ...]:
    """As a sane runner or client does it: results while calls wait for them, else an answer."""
    if transition in (T.FINISH_ERROR, T.FINISH_INTERRUPTION) and (step.second == 0 or open_calls):
        return ()
    if transition is T.COMPLETE_REQUIRES_ACTION:
        answered = [call for call in open_calls if call.dynamic][: 9 if step.second else 1]
        return tuple(Content(Role.TOOL, answers=(call.id,)) for call in answered)
    if open_calls:
        local = [call for call in open_calls if not call.dynamic] or open_calls
        return tuple(Content(Role.TOOL, answers=(call.id,)) for call in local)
    calls = (ToolCall(f"a{text}", dynamic=True), ToolCall(f"b{text}"))[: step.second % 3]
    return (Content(Role.ASSISTANT, text, calls),)


def as_message(chats: Chats, content: Content) -> NewMessage:
    parts: list[Any] = [TextPart(text=content.text)] if content.text else []
    tools = [(call.id, DYNAMIC if call.dynamic else LOCAL) for call in content.calls]
    parts += [ToolCallPart(tool_call_id=id, tool_name=tool, args="{}") for id, tool in tools]
    parts += [ToolResultPart(tool_call_id=id, result='"done"') for id in content.answers]
    by = chats.owner.id if content.role is Role.USER else None
    return NewMessage(role=content.role, parts=tuple(parts), created_by=by)


async def perform(chats: Chats, chat_id: UUID, call: Call, *, hold_seconds: float) -> Outcome | list[Applied]:
    """The call on the database."""
    do, text = chats.transitions, call.text or ""
    rows = [as_message(chats, content) for content in call.rows]
    take = None if call.taker is None else Take(*call.taker)
    fence = Fence(chat_id, call.runner or UUID(int=0), call.history or 0)
    holder = call.holder or UUID(int=0)
    match call.transition:
        case T.CREATE_CHAT:
            return await do.create_chat(chats.new_chat(id=chat_id), rows, take=take)
        case T.SEND_MESSAGE:
            return await do.send_message(chat_id, chats.user(text), interrupts=call.interrupts, take=take)
        case T.EDIT_MESSAGE:
            return await do.edit_message(chat_id, call.target, chats.user(text), take=take)
        case T.INTERRUPT:
            return await do.interrupt(chat_id)
        case T.REQUEST_COMPACTION:
            return await do.request_compaction(chat_id, take=take)
        case T.COMPLETE_REQUIRES_ACTION:
            return await do.complete_requires_action(chat_id, rows)
        case T.ARCHIVE:
            return await do.archive(chat_id)
        case T.UNARCHIVE:
            return await do.unarchive(chat_id)
        case T.BIND_WORKSPACE:
            return await do.bind_workspace(chat_id, call.workspace, runner_id=call.runner)
        case T.RECONCILE_INVALID:
            return await do.reconcile_invalid(chat_id, error=ERROR)
        case T.DELETE_QUEUED:
            return await do.delete_queued(chat_id, call.target)
        case T.PROMOTE_QUEUED:
            return await do.promote_queued(chat_id, call.target, take=take)
        case T.REORDER_QUEUED:
            return await do.reorder_queued(chat_id, call.order)
        case T.HOLD_QUEUED:
            return await do.hold_queued(chat_id, call.target, holder=holder, seconds=hold_seconds)
        case T.RELEASE_QUEUED:
            message = None if call.text is None else chats.user(text)
            return await do.release_queued(chat_id, call.target, holder=holder, message=message, take=take)
        case T.ACQUIRE:
            assert take is not None
            await chats.beat(take.replica_id, host_id=call.machines.get(take.replica_id))
            return await do.acquire(take.replica_id, [take.runner_id], error=ERROR)
        case T.ABANDON:
            return await do.abandon(chat_id, fence.runner_id)
        case T.RECORD_ATTEMPT:
            return await do.record_attempt(fence)
        case T.RECORD_RETRY:
            return await do.record_retry(fence, retry=f'"{text}"')
        case T.SAVE_DRAFT:
            return await do.save_draft(fence, rows[0])
        case T.COMMIT_STEP:
            return await do.commit_step(fence, rows, finish=call.finish, compacted=call.compacted)
        case T.ENTER_REQUIRES_ACTION:
            return await do.enter_requires_action(fence)
        case T.CANCEL_REQUIRES_ACTION:
            return await do.cancel_requires_action(fence, reason="late")
        case T.FINISH_TURN:
            return await do.finish_turn(fence)
        case T.FINISH_INTERRUPTION:
            return await do.finish_interruption(fence, rows)
        case T.FINISH_ERROR:
            return await do.finish_error(fence, rows, error=ERROR)
        case T.GIVE_UP:
            return await do.give_up(chat_id, error=ERROR)


def unanswered(view: dict[str, Any]) -> list[ToolCall]:
    """The calls without a result, in their order; raises when a user's message stands over one."""
    waiting: dict[str, ToolCall] = {}
    for message in view["messages"]:
        if message["deleted"]:
            continue
        assert message["role"] != "user" or not waiting, "a user's message stands over an unanswered call"
        for part in message["content"]:
            if part["type"] == "tool-call":
                waiting[part["tool_call_id"]] = ToolCall(part["tool_call_id"], part["tool_name"] == DYNAMIC)
            elif part["type"] == "tool-result":
                del waiting[part["tool_call_id"]]
    return list(waiting.values())


def check_view(view: dict[str, Any]) -> None:
    """What holds of a chat at every moment."""
    state = view["state"]
    held = [each for each in view["queue"] if each["held_by"] is not None]
    assert (state["queue_length"], state["held_length"]) == (len(view["queue"]) - len(held), len(held))
    assert state["has_open_calls"] == bool(unanswered(view))
    assert state["has_draft"] == (view["draft"] is not None)
    assert all(
        version <= state["snapshot_version"]
        for version in (state["history_version"], state["queue_version"], state["retry_version"])
    )
    assert all(message["revision"] <= state["history_version"] for message in view["messages"])
    texts = [part["text"] for row in (*view["messages"], *view["queue"]) for part in row["content"] if "text" in part]
    assert len(texts) == len(set(texts)), "a message is there twice"
