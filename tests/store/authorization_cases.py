"""What authorizes each method of `Store`: one case for every method, read by the tests of authorization."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from chatd.core.access import Action, Kind, Resource
from chatd.core.secret import Secret
from chatd.core.side_kind import SideKind
from chatd.core.spend import Period
from chatd.core.workspaces.kinds import BuildReason, BuildStatus, BuildTransition, ProvisionerKind
from chatd.store.custom_queries import EncryptedColumn, SealedValue
from chatd.store.queries import (
    ChatClient,
    GitProviderKind,
    InsertBuildLogsItem,
    InsertGroupMembersItem,
    TokenKind,
    TouchTokensLastUsedItem,
    TouchUsersLastSeenItem,
    UserRole,
    UserStatus,
)
from store.world import CIPHER, MODEL, NOW, TEMPLATE, World, new_id, row

SECRETS = EncryptedColumn("public.secrets", "value")


class Case(msgspec.Struct, frozen=True):
    """What a method is called with and which checks that makes, in order. Rows are checked by a filter for an action.

    When the filter leaves nothing, a method shows nothing, or `raises`. `machines_only`: no person may, whatever the
    authorizer says.
    """

    args: Callable[[World], dict[str, Any]]
    checks: Callable[[World], Sequence[tuple[Action, Resource]]] = lambda _: ()
    filtered: Kind | None = None
    action: Action = Action.READ
    raises: bool = False
    machines_only: bool = False


def checked(
    action: Action,
    kind: Kind,
    args: Callable[[World], dict[str, Any]] = lambda _: {},
    *,
    owner: str | None = None,
) -> Case:
    """One check of one resource, which may belong to a user of the world."""

    def checks(world: World) -> Sequence[tuple[Action, Resource]]:
        return [(action, Resource(kind, owner=getattr(world, owner).id if owner else None))]

    return Case(args, checks)


def for_machines(action: Action, kind: Kind, args: Callable[[World], dict[str, Any]] = lambda _: {}) -> Case:
    """A check that no person passes."""
    return msgspec.structs.replace(checked(action, kind, args), machines_only=True)


def on_group(action: Action, args: Callable[[World], dict[str, Any]]) -> Case:
    """A check of the group that the member is in, made as the member."""
    return Case(args, lambda w: [(action, Resource(Kind.GROUP, members=frozenset({w.member.id})))])


def asked(action: Action, args: Callable[[World], dict[str, Any]] = lambda _: {}) -> Case:
    """A transition that a person asks for: it takes the owner whose chat it may be."""
    return Case(
        lambda w: {"chat_id": w.chat.chat_id, "only_owner": None, **args(w)},
        filtered=Kind.CHAT,
        action=action,
        raises=True,
    )


def seen(kind: Kind, args: Callable[[World], dict[str, Any]], action: Action = Action.READ) -> Case:
    """Rows that belong to someone."""
    return Case(args, filtered=kind, action=action)


def in_chat(args: Callable[[World], dict[str, Any]] = lambda _: {}) -> Case:
    """Rows of a chat, which belong to its owner."""
    return seen(Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, **args(w)})


def fenced(args: Callable[[World], dict[str, Any]] = lambda _: {}) -> Case:
    """What the runner of a chat reports."""
    return checked(
        Action.RUN,
        Kind.CHAT,
        lambda w: {"chat_id": w.chat.chat_id, "runner_id": new_id(), "history_version": 1, **args(w)},
    )


def in_workspace(args: Callable[[World], dict[str, Any]], action: Action = Action.READ) -> Case:
    """Rows of a workspace, which belong to its owner."""
    return seen(Kind.WORKSPACE, args, action)


def own_setting(args: Callable[[World], dict[str, Any]]) -> Case:
    """What users change for themselves."""
    return checked(Action.UPDATE_PERSONAL, Kind.USER, lambda w: {"user_id": w.member.id, **args(w)}, owner="member")


def _new_user(_: World) -> dict[str, Any]:
    return {
        "id": new_id(),
        "email": "n@example.com",
        "username": "n",
        "display_name": "",
        "password_hash": "x",
    }


CREATE, READ, UPDATE, DELETE = Action.CREATE, Action.READ, Action.UPDATE, Action.DELETE
RUN = Action.RUN
NOT_TAKEN: dict[str, Any] = {"taker": None, "taker_runner": None, "root_capacity": None, "child_capacity": None}
NO_FILES: dict[str, Any] = {"file_ids": (), "most_files": 1}
HOUR = timedelta(hours=1)
ANY_CHAT: dict[str, Any] = {"title_part": None, "unread": None, "statuses": None, "pull_requests": None}
FIRST_PAGE: dict[str, Any] = {
    "before_updated_at": None,
    "before_id": None,
    "with_pinned": True,
    "max_rows": 5,
    **ANY_CHAT,
}
PINNED: dict[str, Any] = {"labels": "{}", "after_pin_order": None, "after_id": None, "max_rows": 5, **ANY_CHAT}
SEARCH: dict[str, Any] = {
    "words": "chat",
    "labels": "{}",
    "with_pins": True,
    "after_place": 0,
    "after_updated_at": None,
    "after_id": None,
    "unread": None,
    "statuses": None,
    "pull_requests": None,
    "max_rows": 5,
}
NO_KEY: dict[str, Any] = {"send_key": None, "fingerprint": None, "planning": None}
ADDRESS: dict[str, Any] = {"client_address": "192.0.2.1"}
ANY_ENTRY: dict[str, Any] = dict.fromkeys(
    ("before_id", "actor_id", "action", "target_kind", "target_id", "outcome", "since", "until")
)
EVER: dict[str, Any] = {"since": NOW - timedelta(days=9999), "until": NOW + timedelta(days=9999)}
SIDE_COST: dict[str, Any] = {
    "kind": SideKind.TITLE,
    "model_config_id": MODEL,
    "input_tokens": 1,
    "output_tokens": None,
    "reasoning_tokens": None,
    "cache_creation_tokens": None,
    "cache_read_tokens": None,
    "cost_microdollars": 1,
}
PROVIDER: dict[str, Any] = {"name": "p", "display_name": "", "base_url": "", "options": "{}", "enabled": True}
MODEL_CONFIG: dict[str, Any] = {
    "model": "m",
    "display_name": "",
    "enabled": True,
    "context_limit": 1,
    "compression_threshold": 70,
    "options": "{}",
    "input_price": None,
    "output_price": None,
    "cache_read_price": None,
    "cache_write_price": None,
}

NEW_WORKSPACE: dict[str, Any] = {
    "name": "new",
    "host_id": None,
    "parameters": "{}",
    "agent_token": CIPHER.encrypt(Secret("t")),
    "ttl_ms": None,
    "reason": BuildReason.INITIATOR,
    "key": None,
    "build_parameters": "{}",
}
DIFF_REFS: dict[str, Any] = {
    "git_root": "/srv/b",
    "git_branch": "main",
    "git_head": "1" * 40,
    "git_upstream": "",
    "git_remote_origin": "https://example.com/a/b",
    "git_host": "example.com",
    "git_path": "a/b",
    **dict.fromkeys(("ahead", "behind", "additions", "deletions", "changed_files"), 1),
    "at": NOW,
}
PLACE: dict[str, Any] = {name: DIFF_REFS[name] for name in ("git_host", "git_path", "git_branch")}
PULL_REQUEST: dict[str, Any] = {
    "url": "https://example.com/a/b/pull/1",
    "pull_request_state": "open",
    "pull_request_draft": False,
    "changes_requested": False,
    **dict.fromkeys(("pull_request_number", "approved", "reviewer_count", "commits")),
    **dict.fromkeys(("pull_request_additions", "pull_request_deletions", "pull_request_files")),
    **dict.fromkeys(("pull_request_title", "author_login", "author_avatar_url", "base_branch", "head_branch"), ""),
    **dict.fromkeys(("at", "changed_at", "leased_until", "stale_at"), NOW),
    **PLACE,
}
POSTPONED: dict[str, Any] = {"leased_until": NOW, "stale_at": NOW}
GIT_PROVIDER: dict[str, Any] = {
    "id": UUID(int=7),
    "kind": GitProviderKind.GITHUB,
    "host": "github.com",
    "api_url": "https://api.github.com",
}

CASES: dict[str, Case] = {
    # the audit log
    "set_audit_actor": for_machines(
        CREATE, Kind.AUDIT, lambda _: {"kind": "machine", "id": None, "name": "n", "request_id": "", **ADDRESS}
    ),
    "insert_refused_attempt": for_machines(
        CREATE,
        Kind.AUDIT,
        lambda w: {
            "actor_id": w.member.id,
            "actor_name": "mia",
            "action": "update",
            "target_kind": "user",
            "target": "PUT /",
            "request_id": "r",
            **ADDRESS,
        },
    ),
    "list_audit_entries": checked(READ, Kind.AUDIT, lambda _: {**ANY_ENTRY, "max_rows": 5}),
    "delete_old_audit_entries": for_machines(DELETE, Kind.AUDIT, lambda _: {"older_than": HOUR, "max_rows": 1}),
    # chats
    "get_chat": seen(Kind.CHAT, lambda w: {"id": w.chat.chat_id}),
    "get_chat_state": in_chat(),
    "list_chats": seen(Kind.CHAT, lambda _: {"archived": False, **FIRST_PAGE}),
    "list_labeled_chats": seen(Kind.CHAT, lambda _: {"archived": False, "labels": "{}", **FIRST_PAGE}),
    "list_pinned_chats": seen(Kind.CHAT, lambda w: {"owner_id": w.member.id, **PINNED}),
    "list_child_chats": seen(Kind.CHAT, lambda w: {"root_chat_ids": [w.chat.chat_id], "max_rows": 5}),
    "update_chat": seen(
        Kind.CHAT, lambda w: {"id": w.chat.chat_id, "title": "t", "labels": None, "plan_mode": True}, UPDATE
    ),
    "pin_chat": seen(Kind.CHAT, lambda w: {"id": w.chat.chat_id, "place": 1}, UPDATE),
    "replace_chat_title": seen(Kind.CHAT, lambda w: {"id": w.chat.chat_id, "title": "t", "expected": "A chat"}, UPDATE),
    "set_turn_label": seen(
        Kind.CHAT, lambda w: {"id": w.chat.chat_id, "history_version": w.chat.history_version, "label": "l"}, UPDATE
    ),
    "set_chat_summary": seen(
        Kind.CHAT, lambda w: {"id": w.chat.chat_id, "history_version": w.chat.history_version, "summary": "s"}, UPDATE
    ),
    "count_messages_since_summary": seen(
        Kind.CHAT, lambda w: {"id": w.chat.chat_id, "history_version": w.chat.history_version}
    ),
    "mark_chat_read": seen(Kind.CHAT, lambda w: {"id": w.chat.chat_id, "message_id": 2**62}, UPDATE),
    # checkpoints
    "write_checkpoints": checked(
        RUN, Kind.CHAT, lambda w: {"writer": new_id(), "ranges": [], "done": [w.chat.chat_id]}
    ),
    "list_checkpoints": in_chat(lambda w: {"history_version": w.chat.history_version}),
    "delete_stale_checkpoints": for_machines(DELETE, Kind.CHAT),
    # files
    "attach_file": Case(
        lambda w: {**w.new_file, "id": new_id(), "chat_id": w.chat.chat_id, "most_files": 9},
        lambda w: [
            (RUN, Resource(Kind.CHAT, owner=w.member.id)),
            (CREATE, Resource(Kind.FILE, owner=w.member.id)),
        ],
    ),
    "insert_file": checked(CREATE, Kind.FILE, lambda w: {**w.new_file, "id": new_id()}, owner="member"),
    "get_file": seen(Kind.FILE, lambda w: {"id": w.new_file["id"]}),
    "get_file_metadata": seen(Kind.FILE, lambda w: {"id": w.new_file["id"]}),
    "list_chat_files": seen(Kind.FILE, lambda w: {"chat_id": w.chat.chat_id}),
    "lock_orphan_files": checked(DELETE, Kind.FILE, lambda _: {"older_than": HOUR, "max_rows": 1}),
    "delete_orphan_files": checked(DELETE, Kind.FILE, lambda _: {"ids": [new_id()]}),
    # what a chat works on
    "get_chat_context": in_chat(),
    "upsert_chat_context": seen(
        Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, "hash": "h", "snapshot": "{}"}, UPDATE
    ),
    "mark_contexts": for_machines(UPDATE, Kind.CHAT, lambda w: {"workspace_id": w.build.workspace_id, "hash": "h"}),
    "get_diff_status": in_chat(),
    "list_diff_statuses": seen(Kind.CHAT, lambda w: {"chat_ids": [w.chat.chat_id]}),
    "upsert_diff_refs": for_machines(UPDATE, Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, **DIFF_REFS}),
    "forget_pull_request": for_machines(UPDATE, Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, **PLACE}),
    "update_pull_request": for_machines(UPDATE, Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, **PULL_REQUEST}),
    "postpone_diff_statuses": for_machines(UPDATE, Kind.CHAT, lambda w: {"chat_ids": [w.chat.chat_id], **POSTPONED}),
    "mark_diff_stale": for_machines(UPDATE, Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, "at": NOW}),
    "lease_stale_diff_statuses": for_machines(
        UPDATE, Kind.CHAT, lambda _: {"leased_until": NOW, "at": NOW, "max_rows": 5}
    ),
    "pause_git_host": for_machines(UPDATE, Kind.CHAT, lambda _: {"host": "example.com", "until": NOW}),
    "get_git_host_pause": for_machines(READ, Kind.CHAT, lambda _: {"host": "example.com", "at": NOW}),
    "resume_git_host": for_machines(UPDATE, Kind.CHAT, lambda _: {"host": "example.com"}),
    "insert_git_provider": checked(
        CREATE, Kind.GIT_PROVIDER, lambda _: {**GIT_PROVIDER, "token": CIPHER.encrypt(Secret("t"))}
    ),
    "update_git_provider": checked(UPDATE, Kind.GIT_PROVIDER, lambda _: GIT_PROVIDER),
    "update_git_provider_token": checked(
        UPDATE, Kind.GIT_PROVIDER, lambda _: {"id": GIT_PROVIDER["id"], "token": CIPHER.encrypt(Secret("t"))}
    ),
    "list_git_providers": checked(READ, Kind.GIT_PROVIDER),
    "list_git_providers_with_tokens": for_machines(READ, Kind.GIT_PROVIDER),
    "delete_git_provider": checked(DELETE, Kind.GIT_PROVIDER, lambda _: {"id": GIT_PROVIDER["id"]}),
    # groups
    "get_group_by_id": on_group(READ, lambda w: {"id": w.group.id}),
    "list_groups": Case(lambda _: {"after_id": None, "max_rows": 10}, filtered=Kind.GROUP),
    "insert_group": checked(CREATE, Kind.GROUP, lambda _: {"id": new_id(), "name": "g", "display_name": ""}),
    "update_group": checked(UPDATE, Kind.GROUP, lambda w: {"id": w.group.id, "name": "g", "display_name": ""}),
    "delete_group": checked(DELETE, Kind.GROUP, lambda w: {"id": w.group.id}),
    "insert_group_members": checked(
        UPDATE,
        Kind.GROUP,
        lambda w: {"group_id": w.group.id, "items": [InsertGroupMembersItem(w.stranger.id)]},
    ),
    "delete_group_member": checked(UPDATE, Kind.GROUP, lambda w: {"group_id": w.group.id, "user_id": w.member.id}),
    "list_group_members": on_group(READ, lambda w: {"group_id": w.group.id, "after_id": None, "max_rows": 5}),
    "list_group_ids_by_user": checked(READ, Kind.USER, lambda w: {"user_id": w.member.id}, owner="member"),
    # logins
    "admit_login": checked(
        CREATE,
        Kind.LOGIN,
        lambda _: {"subjects": ["a"], "free_failures": [1], "forget_after": HOUR, "longest": HOUR},
    ),
    "settle_login": checked(UPDATE, Kind.LOGIN, lambda _: {"cleared": ["a"], "refunded": ["b"]}),
    "delete_old_login_failures": checked(DELETE, Kind.LOGIN, lambda _: {"older_than": HOUR}),
    "insert_setup_code": checked(CREATE, Kind.LOGIN, lambda _: {"hash": b"h"}),
    # search
    "search_chats": seen(Kind.CHAT, lambda w: {"owner_id": w.member.id, "archived": False, **SEARCH}),
    "index_messages": msgspec.structs.replace(
        checked(UPDATE, Kind.CHAT, lambda w: {"chat_ids": [w.chat.chat_id], "most": 10}), machines_only=True
    ),
    "list_unindexed_chats": msgspec.structs.replace(
        checked(READ, Kind.CHAT, lambda _: {"after_id": UUID(int=0), "max_rows": 5}), machines_only=True
    ),
    # messages
    "list_messages_page": in_chat(lambda _: {"before_id": None, "after_id": None, "max_rows": 5}),
    "list_user_messages": in_chat(lambda _: {"max_rows": 5}),
    "find_messages": in_chat(lambda _: {"words": "e", "before_id": None, "max_rows": 5}),
    "get_send": in_chat(lambda _: {"key": new_id()}),
    "delete_old_sends": for_machines(DELETE, Kind.CHAT, lambda _: {"older_than": HOUR, "max_rows": 1}),
    "list_messages_after": in_chat(lambda _: {"after_id": 0, "max_rows": 5}),
    "list_prompt_messages": in_chat(),
    "get_message": in_chat(lambda w: {"id": (w.chat.inserted_ids or [])[0]}),
    "has_unread": in_chat(),
    "sum_cost_by_model": seen(Kind.CHAT, lambda w: {"owner_id": w.member.id, **EVER}),
    "sum_cost_by_chat": seen(Kind.CHAT, lambda w: {"owner_id": w.member.id, "max_rows": 5, **EVER}),
    "sum_cost_by_day": seen(Kind.CHAT, lambda w: {"owner_id": w.member.id, **EVER}),
    "sum_cost_by_user": seen(Kind.CHAT, lambda _: {"after_id": None, "max_rows": 5, **EVER}),
    "sum_cost_of_family": in_chat(),
    "sum_runtime_ms": seen(Kind.CHAT, lambda w: {"owner_id": w.member.id, **EVER}),
    # models
    "insert_provider": checked(
        CREATE, Kind.PROVIDER, lambda _: {**PROVIDER, "id": new_id(), "kind": "openai", "api_key": None}
    ),
    "update_provider": checked(UPDATE, Kind.PROVIDER, lambda _: {**PROVIDER, "id": new_id()}),
    "update_provider_key": checked(UPDATE, Kind.PROVIDER, lambda _: {"id": new_id(), "api_key": None}),
    "get_provider": checked(READ, Kind.PROVIDER, lambda _: {"id": new_id()}),
    "get_provider_with_key": msgspec.structs.replace(
        checked(READ, Kind.PROVIDER, lambda _: {"id": new_id()}), machines_only=True
    ),
    "lock_models": for_machines(UPDATE, Kind.MODEL),
    "list_providers": checked(READ, Kind.PROVIDER),
    "delete_provider": checked(DELETE, Kind.PROVIDER, lambda _: {"id": new_id()}),
    "insert_model_config": checked(
        CREATE, Kind.MODEL, lambda w: {**MODEL_CONFIG, "id": new_id(), "provider_id": w.provider_id}
    ),
    "update_model_config": checked(
        UPDATE, Kind.MODEL, lambda w: {**MODEL_CONFIG, "id": new_id(), "provider_id": w.provider_id}
    ),
    "get_model_config": checked(READ, Kind.MODEL, lambda _: {"id": new_id()}),
    "get_default_model_config": checked(READ, Kind.MODEL),
    "list_model_configs": checked(READ, Kind.PROVIDER),
    "list_model_origins": checked(READ, Kind.PROVIDER),
    "list_offered_models": checked(READ, Kind.MODEL),
    "elect_default_model_config": for_machines(UPDATE, Kind.MODEL),
    "set_default_model_config": checked(UPDATE, Kind.MODEL, lambda _: {"id": new_id()}),
    "delete_model_config": checked(DELETE, Kind.MODEL, lambda _: {"id": new_id()}),
    # the queue
    "list_queued_messages": in_chat(),
    "get_draft": in_chat(),
    # replicas
    "beat_replica": checked(
        UPDATE,
        Kind.REPLICA,
        lambda _: {
            "id": new_id(),
            "url": "",
            "host": "h",
            "pid": 1,
            "version": "1",
            "host_id": "h",
            "provisioners": ["local"],
        },
    ),
    "get_replica": checked(READ, Kind.REPLICA, lambda _: {"id": new_id()}),
    "list_live_replicas": checked(READ, Kind.REPLICA),
    "expire_replica": checked(UPDATE, Kind.REPLICA, lambda _: {"id": new_id()}),
    "delete_replica": checked(DELETE, Kind.REPLICA, lambda _: {"id": new_id()}),
    "delete_old_hosts": checked(DELETE, Kind.REPLICA, lambda _: {"unseen_for": HOUR}),
    "delete_dead_replicas": checked(DELETE, Kind.REPLICA, lambda _: {"silent_for": HOUR}),
    "list_owned_chats": checked(READ, Kind.CHAT, lambda _: {"replica_id": new_id()}),
    "list_chat_versions": checked(READ, Kind.CHAT, lambda w: {"chat_ids": [w.chat.chat_id]}),
    "count_queued_chats": checked(READ, Kind.CHAT),
    # side costs
    "insert_side_cost": seen(Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, **SIDE_COST}, RUN),
    # site
    "get_default_organization": checked(READ, Kind.ORGANIZATION),
    "get_site_setting": checked(READ, Kind.SETTING, lambda _: {"key": "a"}),
    "list_site_settings": checked(READ, Kind.SETTING, lambda _: {"keys": ["a"]}),
    "delete_site_setting": checked(UPDATE, Kind.SETTING, lambda _: {"key": "a"}),
    "upsert_site_setting": checked(UPDATE, Kind.SETTING, lambda _: {"key": "a", "value": "1"}),
    "list_versions": checked(READ, Kind.SETTING),
    "get_secret": checked(READ, Kind.SECRET, lambda _: {"name": "a"}),
    "insert_secret_if_absent": checked(
        CREATE, Kind.SECRET, lambda _: {"name": "a", "value": CIPHER.encrypt(Secret("s"))}
    ),
    "list_encryption_keys": checked(READ, Kind.ENCRYPTION_KEY),
    "insert_encryption_key": checked(CREATE, Kind.ENCRYPTION_KEY, lambda _: {"id": "0" * 16, "canary": "c"}),
    "revoke_encryption_keys_except": checked(UPDATE, Kind.ENCRYPTION_KEY, lambda _: {"id": "0" * 16}),
    # templates
    "insert_template": checked(
        CREATE,
        Kind.TEMPLATE,
        lambda w: {
            **TEMPLATE,
            "id": new_id(),
            "organization_id": w.new_file["organization_id"],
            "name": "other",
            "provisioner": ProvisionerKind.DOCKER,
            "created_by": w.member.id,
        },
    ),
    "seed_template": for_machines(
        CREATE,
        Kind.TEMPLATE,
        lambda _: {
            **{name: TEMPLATE[name] for name in ("name", "display_name", "description", "icon", "readme", "config")},
            "id": new_id(),
            "provisioner": ProvisionerKind.LOCAL,
        },
    ),
    "update_template": checked(
        UPDATE, Kind.TEMPLATE, lambda w: {**TEMPLATE, "id": w.template_id, "description": "other"}
    ),
    "delete_template": checked(DELETE, Kind.TEMPLATE, lambda w: {"id": w.template_id}),
    "get_template": checked(READ, Kind.TEMPLATE, lambda w: {"id": w.template_id}),
    "list_templates": checked(READ, Kind.TEMPLATE, lambda w: {"organization_id": w.new_file["organization_id"]}),
    "offers_templates": checked(READ, Kind.TEMPLATE, lambda _: {}),
    "list_offered_templates": checked(
        READ,
        Kind.TEMPLATE,
        lambda w: {
            "organization_id": w.new_file["organization_id"],
            "owner_id": w.member.id,
            "recently": HOUR,
        },
    ),
    "count_template_workspaces": in_workspace(lambda w: {"template_ids": [w.template_id]}),
    # workspaces
    "lock_workspaces_of": checked(CREATE, Kind.WORKSPACE, lambda w: {"owner_id": w.member.id}, owner="member"),
    "count_workspaces": in_workspace(lambda w: {"owner_id": w.member.id}),
    "insert_workspace": checked(
        CREATE,
        Kind.WORKSPACE,
        lambda w: {
            **NEW_WORKSPACE,
            "id": new_id(),
            "build_id": new_id(),
            "organization_id": w.new_file["organization_id"],
            "owner_id": w.member.id,
            "template_id": w.template_id,
            "initiator_id": w.member.id,
        },
        owner="member",
    ),
    "get_workspace": in_workspace(lambda w: {"id": w.build.workspace_id}),
    "get_workspace_id": in_workspace(lambda w: {"owner_id": w.member.id, "name": "mine"}),
    "list_workspaces": in_workspace(lambda _: {"owner_id": None, "after_id": None, "max_rows": 5}),
    "update_workspace": in_workspace(lambda w: {"id": w.build.workspace_id, "name": "other", "ttl_ms": 1}, UPDATE),
    "set_workspace_deadline": in_workspace(lambda w: {"id": w.build.workspace_id, "deadline": NOW}, UPDATE),
    "get_workspace_spec": for_machines(RUN, Kind.WORKSPACE, lambda w: {"id": w.build.workspace_id}),
    "resolve_workspace": in_workspace(lambda w: {"chat_id": w.chat.chat_id}, RUN),
    "get_workspace_agent": in_workspace(lambda w: {"id": w.build.workspace_id}, RUN),
    "bump_workspaces": for_machines(
        UPDATE, Kind.WORKSPACE, lambda w: {"replica_id": new_id(), "used_ids": [w.build.workspace_id]}
    ),
    "stop_overdue_workspaces": for_machines(UPDATE, Kind.WORKSPACE, lambda _: {"again_after": HOUR, "max_rows": 5}),
    "list_host_workspaces": for_machines(
        READ, Kind.WORKSPACE, lambda _: {"host_id": "h", "after_id": UUID(int=0), "max_rows": 5}
    ),
    "set_agent_address": for_machines(
        UPDATE,
        Kind.WORKSPACE,
        lambda w: {"id": w.build.workspace_id, "build_number": 1, "agent_address": "tcp:localhost:1"},
    ),
    "count_running_workspaces": for_machines(READ, Kind.WORKSPACE),
    "list_workspace_chats": seen(Kind.CHAT, lambda w: {"workspace_ids": [w.build.workspace_id]}),
    "list_chats_in_workspace": seen(Kind.CHAT, lambda w: {"workspace_id": w.build.workspace_id, "max_rows": 5}),
    # builds
    "insert_workspace_build": in_workspace(
        lambda w: {
            "id": new_id(),
            "workspace_id": w.build.workspace_id,
            "after_number": 0,  # is not the latest, so nothing is built
            "transition": BuildTransition.STOP,
            "reason": BuildReason.INITIATOR,
            "initiator_id": w.member.id,
            "key": None,
            "parameters": "{}",
            "kept_parameters": "{}",
        },
        UPDATE,
    ),
    "get_workspace_build": in_workspace(lambda w: {"id": w.build.id}),
    "get_workspace_build_by_key": in_workspace(lambda _: {"key": new_id()}),
    "list_workspace_builds": in_workspace(
        lambda w: {"workspace_id": w.build.workspace_id, "before_number": None, "max_rows": 5}
    ),
    "claim_workspace_builds": for_machines(
        UPDATE,
        Kind.WORKSPACE,
        lambda _: {
            "replica_id": new_id(),
            "host_id": "h",
            "provisioners": [ProvisionerKind.LOCAL],
            "known_ids": [],
            "max_rows": 5,
        },
    ),
    "finish_workspace_build": for_machines(
        UPDATE,
        Kind.WORKSPACE,
        lambda w: {
            "id": w.build.id,
            "replica_id": new_id(),
            "status": BuildStatus.SUCCEEDED,
            "error": "",
            "error_code": "",
            "agent_address": None,
            "ttl": None,
            "lifetime": None,
        },
    ),
    "cancel_workspace_build": in_workspace(lambda w: {"id": w.build.id, "cancelled_by": w.member.id}, UPDATE),
    "list_carried_out_builds": for_machines(READ, Kind.WORKSPACE, lambda _: {"replica_id": new_id()}),
    "fail_unclaimed_builds": for_machines(UPDATE, Kind.WORKSPACE, lambda _: {"error": "e", "older_than": HOUR}),
    "orphan_workspace": in_workspace(
        lambda w: {"id": new_id(), "workspace_id": w.build.workspace_id, "initiator_id": w.member.id},
        DELETE,
    ),
    "list_orphans": for_machines(
        READ, Kind.WORKSPACE, lambda _: {"host_id": "h", "after_id": UUID(int=0), "max_rows": 5}
    ),
    "settle_orphan": for_machines(DELETE, Kind.WORKSPACE, lambda w: {"workspace_id": w.build.workspace_id}),
    "insert_build_logs": for_machines(
        UPDATE,
        Kind.WORKSPACE,
        lambda w: {
            "build_id": w.build.id,
            "replica_id": new_id(),
            "most_lines": 5,
            "items": [InsertBuildLogsItem(NOW, "info", "start", "l")],
        },
    ),
    "list_build_logs": in_workspace(lambda w: {"build_id": w.build.id, "after_id": 0, "max_rows": 5}),
    "delete_old_build_logs": for_machines(DELETE, Kind.WORKSPACE, lambda _: {"older_than": HOUR, "max_rows": 5}),
    # tokens
    "insert_token": checked(
        CREATE,
        Kind.TOKEN,
        lambda w: {
            "id": new_id(),
            "user_id": w.member.id,
            "kind": TokenKind.API,
            "name": "t",
            "hash": b"h" * 32,
            "scopes": ["*:*"],
            "expires_at": NOW,
            "client_ip": "",
            "user_agent": "",
        },
        owner="member",
    ),
    "insert_session": checked(
        CREATE,
        Kind.LOGIN,
        lambda w: {
            "id": new_id(),
            "user_id": w.member.id,
            "verified": "x",
            "hash": b"h" * 32,
            "scopes": ["*:*"],
            "expires_at": NOW,
            "client_ip": "",
            "user_agent": "",
        },
    ),
    "count_tokens_by_user": checked(
        READ, Kind.TOKEN, lambda w: {"user_id": w.member.id, "kind": TokenKind.API}, owner="member"
    ),
    "delete_oldest_sessions": checked(DELETE, Kind.LOGIN, lambda w: {"user_id": w.member.id, "keep": 1}),
    "get_token_by_id": checked(READ, Kind.TOKEN, lambda w: {"id": w.token.id}, owner="member"),
    "authenticate_token": checked(READ, Kind.LOGIN, lambda _: {"hash": b"h" * 32}),
    "list_tokens_by_user": checked(
        READ,
        Kind.TOKEN,
        lambda w: {"user_id": w.member.id, "kind": TokenKind.API, "before_id": None, "max_rows": 5},
        owner="member",
    ),
    "delete_token": checked(DELETE, Kind.TOKEN, lambda w: {"id": w.token.id}, owner="member"),
    "delete_user_sessions": checked(
        DELETE, Kind.TOKEN, lambda w: {"user_id": w.member.id, "except_id": None}, owner="member"
    ),
    "delete_user_tokens": checked(DELETE, Kind.TOKEN, lambda w: {"user_id": w.member.id}, owner="member"),
    "delete_expired_tokens": checked(DELETE, Kind.TOKEN, lambda _: {"expired_for": HOUR, "max_rows": 1}),
    "touch_tokens_last_used": checked(
        UPDATE, Kind.LOGIN, lambda w: {"items": [TouchTokensLastUsedItem(w.token.id, NOW)]}
    ),
    # transitions that a person asks for
    "create_chat": checked(
        CREATE,
        Kind.CHAT,
        lambda w: {
            "chat_id": new_id(),
            "organization_id": new_id(),
            "owner_id": w.member.id,
            "parent_id": new_id(),  # is not there, so nothing is created
            "title": "t",
            "labels": "{}",
            "mode": None,
            "plan_mode": False,
            "client": ChatClient.API,
            "mcp_server_ids": (),
            "dynamic_tools": "[]",
            "model_config_id": MODEL,
            "reasoning_effort": None,
            "rows": [row()],
            "workspace_id": None,
            **NO_FILES,
            **NOT_TAKEN,
        },
        owner="member",
    ),
    "fork_chat": Case(
        lambda w: {
            "chat_id": new_id(),
            "owner_id": w.member.id,
            "source_id": w.chat.chat_id,
            "only_owner": None,
            "at_message": None,
            "title": None,
        },
        lambda w: [(CREATE, Resource(Kind.CHAT, owner=w.member.id))],
        filtered=Kind.CHAT,
        raises=True,
    ),
    "send_message": asked(
        RUN,
        lambda w: {
            "message": row(by=w.member.id),
            "interrupts": False,
            "most_queued": 1,
            **NO_KEY,
            **NO_FILES,
            **NOT_TAKEN,
        },
    ),
    "edit_message": asked(RUN, lambda _: {"edited_id": 0, "message": row(), **NO_FILES, **NOT_TAKEN}),
    "interrupt": asked(UPDATE),
    "request_compaction": asked(RUN, lambda _: NOT_TAKEN),
    "complete_requires_action": asked(RUN, lambda _: {"rows": [row()]}),
    "archive": asked(UPDATE),
    "unarchive": asked(UPDATE),
    "reconcile_invalid": asked(UPDATE, lambda _: {"error": "{}"}),
    "bind_workspace": Case(
        lambda w: {
            "chat_id": w.chat.chat_id,
            "only_owner": None,
            "runner_id": None,
            "workspace_id": w.build.workspace_id,
        },
        lambda _: [(RUN, Resource(Kind.WORKSPACE))],
        filtered=Kind.CHAT,
        action=RUN,
        raises=True,
    ),
    "delete_queued": asked(UPDATE, lambda _: {"queued_id": 0}),
    "promote_queued": asked(RUN, lambda _: {"queued_id": 0, **NOT_TAKEN}),
    "reorder_queued": asked(UPDATE, lambda _: {"queued_ids": []}),
    "hold_queued": asked(UPDATE, lambda w: {"queued_id": 0, "holder": w.member.id, "hold_for": HOUR}),
    "release_queued": asked(
        RUN, lambda w: {"queued_id": 0, "holder": w.member.id, "message": None, **NO_FILES, **NOT_TAKEN}
    ),
    # transitions that a worker makes
    "release_overdue": checked(RUN, Kind.CHAT, lambda _: {"most_chats": 1}),
    "acquire": checked(
        RUN,
        Kind.CHAT,
        lambda _: {
            "taker": new_id(),
            "runner_ids": [new_id()],
            "root_capacity": None,
            "child_capacity": None,
            "most_takeovers": 3,
            "error": "{}",
        },
    ),
    "abandon": checked(RUN, Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, "runner_id": new_id()}),
    "hand_over": checked(RUN, Kind.CHAT, lambda _: {"replica_id": new_id(), "most_chats": 10}),
    "give_up": checked(RUN, Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, "error": "{}"}),
    "record_attempt": fenced(),
    "record_retry": fenced(lambda _: {"retry": "{}"}),
    "save_draft": fenced(lambda _: {"draft": row()}),
    "commit_step": fenced(lambda _: {"rows": [row()], "finish": False, "compacted": False}),
    "enter_requires_action": fenced(lambda _: {"wait_for": HOUR}),
    "cancel_requires_action": fenced(lambda _: {"reason": "r"}),
    "finish_turn": fenced(),
    "finish_interruption": fenced(lambda _: {"rows": [row()]}),
    "finish_error": fenced(lambda _: {"rows": [row()], "error": "{}"}),
    # usage limits
    "upsert_push_subscription": checked(
        CREATE,
        Kind.PUSH_SUBSCRIPTION,
        lambda w: {
            "id": new_id(),
            "endpoint_hash": bytes(32),
            "endpoint": CIPHER.encrypt(Secret("https://push.example.com/x")),
            "p256dh": bytes(65),
            "auth": CIPHER.encrypt(Secret("a")),
            "user_id": w.member.id,
            "token_id": w.token.id,
        },
        owner="member",
    ),
    "delete_oldest_push_subscriptions": checked(
        DELETE, Kind.PUSH_SUBSCRIPTION, lambda w: {"user_id": w.member.id, "keep": 1}, owner="member"
    ),
    "list_push_subscriptions": checked(
        READ, Kind.PUSH_SUBSCRIPTION, lambda w: {"user_id": w.member.id, "max_rows": 5}, owner="member"
    ),
    "delete_push_subscription": checked(
        DELETE,
        Kind.PUSH_SUBSCRIPTION,
        lambda w: {"user_id": w.member.id, "endpoint_hash": bytes(32)},
        owner="member",
    ),
    "drop_push_subscription": checked(DELETE, Kind.PUSH_SUBSCRIPTION, lambda _: {"id": new_id()}),
    "has_usage_limits": checked(READ, Kind.USAGE_LIMIT),
    "list_spending": checked(
        READ,
        Kind.USAGE_LIMIT,
        lambda w: {"user_id": w.member.id, "day_start": NOW, "week_start": NOW, "month_start": NOW},
        owner="member",
    ),
    "list_usage_limits": checked(READ, Kind.USAGE_LIMIT),
    "upsert_usage_limit": checked(
        UPDATE,
        Kind.USAGE_LIMIT,
        lambda w: {"user_id": w.member.id, "group_id": None, "period": Period.DAY, "microdollars": 1},
    ),
    "delete_usage_limit": checked(
        DELETE, Kind.USAGE_LIMIT, lambda _: {"user_id": None, "group_id": None, "period": Period.DAY}
    ),
    # what users set for their turns
    "get_turn_context": msgspec.structs.replace(
        checked(RUN, Kind.CHAT, lambda w: {"chat_id": w.chat.chat_id, "model_config_id": new_id()}), machines_only=True
    ),
    "get_custom_prompt": checked(READ, Kind.USER, lambda w: {"user_id": w.member.id}, owner="member"),
    "upsert_custom_prompt": own_setting(lambda _: {"custom_prompt": "p"}),
    "list_compaction_thresholds": checked(READ, Kind.USER, lambda w: {"user_id": w.member.id}, owner="member"),
    "upsert_compaction_threshold": own_setting(lambda w: {"model_config_id": w.model_id, "threshold_percent": 50}),
    "delete_compaction_threshold": own_setting(lambda _: {"model_config_id": new_id()}),
    # users
    "get_user_by_id": checked(READ, Kind.USER, lambda w: {"id": w.member.id}, owner="member"),
    "get_user_by_login": checked(READ, Kind.LOGIN, lambda _: {"login": "mia"}),
    "get_user_by_username": checked(READ, Kind.USER, lambda _: {"username": "mia"}, owner="member"),
    "list_users": Case(lambda _: {"after_id": None, "search": None, "max_rows": 10}, filtered=Kind.USER),
    "count_users": Case(lambda _: {"search": None}, filtered=Kind.USER),
    "has_any_user": checked(READ, Kind.USER),
    "insert_user": checked(CREATE, Kind.USER, lambda w: {**_new_user(w), "role": UserRole.MEMBER}),
    "insert_first_user": checked(CREATE, Kind.USER, lambda w: {**_new_user(w), "code_hash": None}),
    "update_user_profile": checked(
        Action.UPDATE_PERSONAL,
        Kind.USER,
        lambda w: {"id": w.member.id, "email": "m@example.com", "username": "m", "display_name": ""},
        owner="member",
    ),
    "update_user_role": checked(
        UPDATE, Kind.USER, lambda w: {"id": w.member.id, "role": UserRole.AUDITOR}, owner="member"
    ),
    "update_user_status": checked(
        UPDATE, Kind.USER, lambda w: {"id": w.member.id, "status": UserStatus.SUSPENDED}, owner="member"
    ),
    "update_user_password": checked(
        Action.UPDATE_PERSONAL,
        Kind.USER,
        lambda w: {"id": w.member.id, "password_hash": "y"},
        owner="member",
    ),
    "rehash_password": checked(UPDATE, Kind.LOGIN, lambda w: {"id": w.member.id, "verified": "x", "stronger": "y"}),
    "delete_user": checked(DELETE, Kind.USER, lambda w: {"id": w.member.id}, owner="member"),
    "lock_active_owners": checked(UPDATE, Kind.USER),
    "touch_users_last_seen": checked(
        UPDATE, Kind.LOGIN, lambda w: {"items": [TouchUsersLastSeenItem(w.member.id, NOW)]}
    ),
    # hand-written
    "list_encrypted_columns": checked(READ, Kind.ENCRYPTION_KEY),
    "lock_values_under_other_keys": checked(
        UPDATE, Kind.ENCRYPTION_KEY, lambda _: {"column": SECRETS, "key_id": "0" * 16, "max_rows": 1}
    ),
    "replace_sealed_values": checked(
        UPDATE,
        Kind.ENCRYPTION_KEY,
        lambda _: {"column": SECRETS, "values": [SealedValue("(0,1)", Secret("x"))]},
    ),
    "list_announced_keys": checked(READ, Kind.ENCRYPTION_KEY),
    "hold_announcements": checked(UPDATE, Kind.ENCRYPTION_KEY),
}
