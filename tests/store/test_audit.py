"""Every change of what admins look after leaves an entry that says who, what and through which request."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest
import pytest_asyncio

from chatd.core.access import JANITOR, OPERATOR, PROVISIONER, Action, Kind
from chatd.core.secret import Secret
from chatd.core.workspaces.kinds import BuildTransition
from chatd.store.actor import Origin, acting_as, asking_from
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.queries import AuditLog, InsertGroupMembersItem, TouchUsersLastSeenItem, UserRole
from store.authorization_cases import ANY_ENTRY, CASES, CIPHER, MODEL_CONFIG, PROVIDER
from store.world import NOW, World, new_id, open_sql, person, populate

# Tables whose changes nobody has to account for, and why.
NOT_AUDITED = {
    "audit_log": "the log itself",
    "chats": "people's own; who may see a chat sees what became of it",
    "chat_state": "people's own",
    "chat_checkpoints": "people's own",
    "chat_drafts": "people's own",
    "chat_files": "people's own",
    "chat_sends": "people's own",
    "files": "people's own",
    "messages": "people's own, and never changed",
    "queued_messages": "people's own",
    "user_settings": "people's own",
    "user_compaction_thresholds": "people's own",
    "push_subscriptions": "people's own browsers",
    "indexed_chats": "made of messages",
    "message_words": "made of messages",
    "side_costs": "what models did",
    "login_failures": "counters",
    "setup_codes": "made by each start, void with the first user",
    "replicas": "heartbeats",
    "schema_info": "how far migrations are",
    "applied_migrations": "how far migrations are",
    "function_sets": "how far migrations are",
    "secrets": "made once by the server for itself; nobody can set one",
    "versions": "counters",
    "hosts": "heartbeats",
    "workspace_builds": "they say themselves who asked for them",
    "workspace_build_logs": "what provisioners said",
    "chat_contexts": "people's own",
    "chat_diff_statuses": "people's own",
    "git_host_pauses": "what hosts said",
}
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() OR schemaname = 'public'"
_AUDITED = """
    SELECT DISTINCT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE p.proname = 'write_audit' AND t.tgenabled = 'O'"""
AT = Origin(request_id="req-1", client_address="192.0.2.7")


@pytest_asyncio.fixture
async def world(database: Any) -> AsyncIterator[World]:
    async with open_sql(database.dsn) as sql:
        yield await populate(sql)


def admin(world: World) -> AuthorizedStore:
    return AuthorizedStore(world.sql, RoleAuthorizer())


async def entries(world: World, after: int = 0, **wanted: Any) -> list[AuditLog]:
    asked: dict[str, Any] = {**ANY_ENTRY, **wanted, "max_rows": 1000}
    rows = await world.sql.list_audit_entries(**asked)
    return [row for row in reversed(rows) if row.id > after]


async def newest(world: World) -> int:
    return max((entry.id for entry in await entries(world)), default=0)


async def test_every_table_is_audited_or_says_why_not(world: World):
    tables = {row[0] for row in await world.sql._db.fetch(_TABLES)}
    audited = {row[0] for row in await world.sql._db.fetch(_AUDITED)}

    assert audited.isdisjoint(NOT_AUDITED)
    assert tables - audited - set(NOT_AUDITED) == set()


ADMIN = {
    *(Kind.USER, Kind.GROUP, Kind.TOKEN, Kind.ORGANIZATION, Kind.SETTING, Kind.PROVIDER, Kind.MODEL),
    *(Kind.USAGE_LIMIT, Kind.ENCRYPTION_KEY, Kind.TEMPLATE, Kind.WORKSPACE, Kind.GIT_PROVIDER),
}
# Queries that may change what is audited and leave no entry, and why.
SILENT = {
    "lock_active_owners": "a lock",
    "lock_models": "a lock",
    "lock_workspaces_of": "a lock",
    "hold_announcements": "a lock",
    "lock_values_under_other_keys": "a lock",
    "replace_sealed_values": "the same secrets in another form",
    "delete_expired_tokens": "they had ended by themselves",
    "delete_user_sessions": "sessions, which users end themselves; see below for those of others",
    "upsert_custom_prompt": "a user's own",
    "upsert_compaction_threshold": "a user's own",
    "delete_compaction_threshold": "a user's own",
    "bind_workspace": "people's own chats",
    "get_workspace_spec": "it only reads",
    "bump_workspaces": "that it is used",
    "stop_overdue_workspaces": "a build",
    "set_agent_address": "where a machine found it",
    "claim_workspace_builds": "a build",
    "finish_workspace_build": "a build; see below for one that deletes",
    "fail_unclaimed_builds": "a build",
    "settle_orphan": "what is left of one that was deleted",
    "insert_build_logs": "a build",
    "delete_old_build_logs": "a build",
}
# Arguments that change something, where those of the authorization's cases do not.
EFFECTIVE: dict[str, Callable[[World], dict[str, Any]]] = {
    "insert_group_members": lambda w: {"group_id": w.group.id, "items": [InsertGroupMembersItem(w.stranger.id)]},
    "update_provider": lambda w: {**PROVIDER, "id": w.provider_id, "name": "renamed"},
    "update_provider_key": lambda w: {"id": w.provider_id, "api_key": CIPHER.encrypt(Secret("new"))},
    "delete_provider": lambda w: {"id": w.provider_id},
    "update_model_config": lambda w: {**MODEL_CONFIG, "id": w.model_id, "provider_id": w.provider_id, "model": "other"},
    "set_default_model_config": lambda w: {"id": w.model_id},
    "delete_model_config": lambda w: {"id": w.model_id},
}
# What has to be there first.
BEFORE: dict[str, str] = {
    "delete_site_setting": "INSERT INTO site_settings (key, value) VALUES ('a', '1')",
    "delete_usage_limit": "INSERT INTO usage_limits (period, microdollars) VALUES ('day', 1)",
    "elect_default_model_config": "UPDATE model_configs SET is_default = false",
    "set_default_model_config": "UPDATE model_configs SET is_default = false",
    "revoke_encryption_keys_except": "INSERT INTO encryption_keys (id, canary) VALUES ('00000000000000aa', 'c')",
    "insert_first_user": "TRUNCATE users CASCADE",
    "delete_template": "UPDATE workspaces SET deleted = true",
    "seed_template": "TRUNCATE templates CASCADE",
    **dict.fromkeys(
        ("update_git_provider", "update_git_provider_token", "delete_git_provider"),
        "INSERT INTO git_providers (id, kind, host, api_url)"
        " VALUES ('00000000-0000-0000-0000-000000000007', 'gitlab', 'a.example', 'u')",
    ),
}


class _NoWorld:
    """Stands for a world where only kinds and actions are asked for."""

    id = UUID(int=0)

    def __getattr__(self, name: str) -> "_NoWorld":
        return self


def changing() -> list[str]:
    """Every query that may change something of what admins look after."""
    nowhere: Any = _NoWorld()
    return [
        method
        for method, case in CASES.items()
        if any(resource.kind in ADMIN and action is not Action.READ for action, resource in case.checks(nowhere))
    ]


@pytest.mark.parametrize("method", [method for method in changing() if method not in SILENT])
async def test_every_change_leaves_an_entry_of_who_made_it(method: str, world: World):
    if sql := BEFORE.get(method):
        await world.sql._db.execute(sql)
    before = await newest(world)

    with acting_as(OPERATOR), asking_from(AT):
        await getattr(admin(world), method)(**EFFECTIVE.get(method, CASES[method].args)(world))

    found = await entries(world, before)
    assert found
    for entry in found:
        assert (entry.actor_kind, entry.actor_name, entry.outcome) == ("machine", "operator", "done")
        assert (entry.request_id, entry.client_address) == ("req-1", "192.0.2.7")


async def test_a_change_that_is_not_stored_leaves_no_entry(world: World):
    before = await newest(world)

    async def change_and_fail() -> None:
        async with admin(world).transaction() as tx:
            await tx.update_user_role(id=world.member.id, role=UserRole.OWNER)
            raise ZeroDivisionError

    with acting_as(person(world.owner)), pytest.raises(ZeroDivisionError):
        await change_and_fail()

    assert await entries(world, before) == []


async def test_an_entry_says_what_was_before_and_after_and_who_did_it(world: World):
    before = await newest(world)

    with acting_as(person(world.owner)):
        await admin(world).update_user_role(id=world.member.id, role=UserRole.OWNER)

    (entry,) = await entries(world, before)
    assert (entry.actor_kind, entry.actor_id, entry.actor_name) == ("user", world.owner.id, "olga")
    assert (entry.action, entry.target_kind, entry.target_id) == ("update", "user", str(world.member.id))
    assert entry.target_name == "mia"
    assert msgspec.json.decode(entry.changes) == {"role": {"before": "member", "after": "owner"}}


async def test_a_row_that_is_only_hidden_is_deleted_to_people(world: World):
    before = await newest(world)

    with acting_as(person(world.owner)):
        await admin(world).delete_user(id=world.member.id)

    (entry,) = await entries(world, before)
    assert (entry.action, entry.target_name, entry.changes) == ("delete", "mia", "{}")


async def test_a_workspace_that_is_used_leaves_no_entry_and_one_that_is_deleted_does(world: World):
    before = await newest(world)
    replica, id = new_id(), world.build.workspace_id

    def asked(method: str, **fields: Any) -> dict[str, Any]:
        return {**CASES[method].args(world), **fields}

    with acting_as(PROVISIONER):
        store = admin(world)
        for transition in (None, BuildTransition.DELETE):
            if transition is not None:
                again = asked("insert_workspace_build", after_number=1, transition=transition)
                await world.sql.insert_workspace_build(**again)
            (build,) = await store.claim_workspace_builds(**asked("claim_workspace_builds", replica_id=replica))
            await store.finish_workspace_build(**asked("finish_workspace_build", id=build.id, replica_id=replica))
            await store.bump_workspaces(replica_id=replica, used_ids=[id])

    (entry,) = await entries(world, before)
    assert (entry.actor_name, entry.action, entry.target_kind) == ("provisioner", "delete", "workspace")
    assert (entry.target_id, entry.target_name) == (str(id), "mine")
    assert "token" not in entry.changes


async def test_the_calls_of_one_transaction_are_each_their_own_actors(world: World):
    before = await newest(world)

    async with admin(world).transaction() as tx:
        with acting_as(person(world.owner)):
            await tx.delete_model_config(id=world.model_id)
        with acting_as(OPERATOR):
            await tx.upsert_site_setting(key="a", value="1")

    assert [entry.actor_name for entry in await entries(world, before)] == ["olga", "operator"]


async def test_secrets_are_shown_only_as_changed(world: World):
    before = await newest(world)

    with acting_as(person(world.owner)):
        await admin(world).update_user_password(id=world.member.id, password_hash="hash-of-the-new-one")
        await admin(world).update_provider_key(id=world.provider_id, api_key=CIPHER.encrypt(Secret("sk-1")))
        await admin(world).upsert_site_setting(key="system_prompt", value='"You know our secrets."')

    found = await entries(world, before)
    assert [msgspec.json.decode(entry.changes) for entry in found] == [
        {"password_hash": "changed"},
        {"api_key": "changed"},
        {"value": "changed"},
    ]


async def test_the_same_secret_in_another_form_is_no_change(world: World):
    store = admin(world)
    with acting_as(OPERATOR):
        await store.update_provider_key(id=world.provider_id, api_key=CIPHER.encrypt(Secret("sk-1")))
        before = await newest(world)

        await store.rehash_password(id=world.member.id, verified=world.member.password_hash, stronger="stronger")
        await world.sql._db.execute("UPDATE providers SET api_key = $1", CIPHER.encrypt(Secret("sk-1")).reveal())
        await store.touch_users_last_seen(items=[TouchUsersLastSeenItem(world.member.id, NOW)])

    assert await entries(world, before) == []


async def test_a_session_is_worth_an_entry_only_when_another_person_ends_it(world: World):
    async def open_session() -> None:
        with acting_as(OPERATOR):
            args: dict[str, Any] = {**CASES["insert_session"].args(world), "expires_at": NOW + timedelta(days=9999)}
            args["verified"] = (await world.sql.get_user_by_id(id=world.member.id)).password_hash
            await admin(world).insert_session(**args)

    before = await newest(world)
    for who in (world.member_person, person(world.owner)):
        await open_session()
        with acting_as(who):
            await admin(world).delete_user_sessions(user_id=world.member.id, except_id=None)

    (entry,) = await entries(world, before)
    assert (entry.actor_name, entry.action, entry.target_kind) == ("olga", "delete", "token")


async def test_who_changes_the_database_by_hand_is_named_by_their_connection(world: World):
    before = await newest(world)

    await world.sql._db.execute("UPDATE users SET role = 'owner' WHERE username = 'mia'")

    (entry,) = await entries(world, before)
    assert entry.actor_kind == "database"
    assert entry.actor_name == await world.sql._db.fetchval("SELECT session_user")


async def test_what_is_long_is_cut(world: World):
    before = await newest(world)

    with acting_as(person(world.owner)):
        await admin(world).upsert_site_setting(key="a", value=msgspec.json.encode(["x" * 5000]).decode())

    (entry,) = await entries(world, before)
    assert len(entry.changes) < 1200


async def test_entries_can_not_be_changed(world: World):
    with acting_as(person(world.owner)):
        await admin(world).upsert_site_setting(key="a", value="1")

    with pytest.raises(asyncpg.RaiseError, match="never changed"):
        await world.sql._db.execute("UPDATE audit_log SET actor_name = 'someone else'")


async def test_old_entries_go_a_few_at_a_time(world: World):
    with acting_as(person(world.owner)):
        for key in ("a", "b", "c"):
            await admin(world).upsert_site_setting(key=key, value="1")
    with acting_as(JANITOR):
        kept = await admin(world).delete_old_audit_entries(older_than=timedelta(hours=1), max_rows=2)
        gone = await admin(world).delete_old_audit_entries(older_than=timedelta(0), max_rows=2)

    assert (kept, gone) == (0, 2)
