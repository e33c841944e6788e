"""The audit log over HTTP: every change that an admin makes through the API is in it, and who may read it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from litestar.routes import HTTPRoute

from chatd.clock import SystemClock
from chatd.server.app import application
from chatd.server.janitor import clean
from chatd.testing.fake_clock import FakeClock
from server.chat_api import CHATS
from server.configured_models import KEY, MODELS, PROVIDERS, model, provider
from server.running import PASSWORD, Api, Running, running_server
from server.workspace_api import TEMPLATES, WORKSPACES

AUDIT = "/api/v2/audit"
USERS, GROUPS, CONFIG = "/api/v2/users", "/api/v2/groups", f"{CHATS}/config"
LIMITS = f"{CHATS}/usage-limits"
GIT_PROVIDERS = "/api/experimental/git-providers"
NEW_USER = {"email": "n@example.com", "username": "nia", "password": PASSWORD, "role": "member"}

# Routes that change what admins look after: what is sent, and what the entry is about. `{…}` are ids of what is there.
CHANGES: dict[str, tuple[Any, str, str]] = {
    f"POST {USERS}": (NEW_USER, "create", "user"),
    f"PATCH {USERS}/{{user}}": ({"display_name": "Mia M."}, "update", "user"),
    f"DELETE {USERS}/{{user}}": (None, "delete", "user"),
    f"PUT {USERS}/{{user}}/role": ({"role": "auditor"}, "update", "user"),
    f"PUT {USERS}/{{user}}/status/suspend": (None, "update", "user"),
    f"PUT {USERS}/{{user}}/status/activate": (None, "update", "user"),
    f"PUT {USERS}/{{user}}/password": ({"password": f"{PASSWORD}!"}, "update", "user"),
    f"POST {USERS}/{{user}}/tokens": ({"name": "t", "scopes": ["*:*"], "lifetime_hours": 1}, "create", "token"),
    f"DELETE {USERS}/{{user}}/tokens/{{token}}": (None, "delete", "token"),
    f"DELETE {USERS}/{{user}}/sessions/{{token}}": (None, "delete", "token"),
    f"DELETE {USERS}/{{user}}/sessions": (None, "delete", "token"),
    f"POST {GROUPS}": ({"name": "new"}, "create", "group"),
    f"PUT {GROUPS}/{{group}}": ({"name": "renamed"}, "update", "group"),
    f"DELETE {GROUPS}/{{group}}": (None, "delete", "group"),
    f"POST {GROUPS}/{{group}}/members": ({"user_ids": ["{other}"]}, "create", "group_member"),
    f"DELETE {GROUPS}/{{group}}/members/{{user}}": (None, "delete", "group_member"),
    f"POST {PROVIDERS}": ({"type": "anthropic", "name": "second", "api_key": KEY}, "create", "provider"),
    f"PATCH {PROVIDERS}/{{provider}}": ({"display_name": "The first"}, "update", "provider"),
    f"DELETE {PROVIDERS}/{{provider}}": (None, "delete", "provider"),
    f"POST {MODELS}": ({"ai_provider_id": "{provider}", "model": "claude-opus-5-5"}, "create", "model"),
    f"PATCH {MODELS}/{{model}}": ({"display_name": "Ours"}, "update", "model"),
    f"DELETE {MODELS}/{{model}}": (None, "delete", "model"),
    f"PUT {CONFIG}/system-prompt": ({"system_prompt": "Be kind."}, "create", "setting"),
    f"PUT {CONFIG}/plan-mode-instructions": ({"plan_mode_instructions": "Plan."}, "create", "setting"),
    f"PUT {CONFIG}/model-override/{{context}}": ({"model_config_id": "{model}"}, "create", "setting"),
    f"PUT {CONFIG}/advisor": ({"enabled": True}, "create", "setting"),
    f"PUT {CONFIG}/workspace-ttl": ({"workspace_ttl_ms": 3_600_000}, "create", "setting"),
    f"PUT {CONFIG}/desktop-enabled": ({"enable_desktop": True}, "create", "setting"),
    f"PUT {LIMITS}": ({"period": "day", "limit_micros": 5, "user_id": "{user}"}, "create", "usage_limit"),
    f"DELETE {LIMITS}/{{period}}": (None, "delete", "usage_limit"),
    f"POST {GIT_PROVIDERS}": ({"kind": "github", "host": "git.test", "token": KEY}, "create", "git_provider"),
    f"PATCH {GIT_PROVIDERS}/{{git_provider}}": ({"token": KEY}, "update", "git_provider"),
    f"DELETE {GIT_PROVIDERS}/{{git_provider}}": (None, "delete", "git_provider"),
    f"POST {TEMPLATES}": ({"name": "new", "provisioner": "local"}, "create", "template"),
    f"PATCH {TEMPLATES}/{{template}}": ({"description": "Another."}, "update", "template"),
    f"DELETE {TEMPLATES}/{{template}}": (None, "delete", "template"),
    f"POST {WORKSPACES}": ({"template_id": "{template}"}, "create", "workspace"),
    f"PATCH {WORKSPACES}/{{workspace}}": ({"name": "renamed"}, "update", "workspace"),
}
# Routes that change something else, and what that is.
OTHER = {
    f"POST {USERS}/first": "shown by itself",
    f"POST {USERS}/login": "a session of one's own",
    f"POST {USERS}/logout": "a session of one's own",
    f"POST {USERS}/{{user}}/webpush/subscription": "a browser of one's own",
    f"DELETE {USERS}/{{user}}/webpush/subscription": "a browser of one's own",
    f"POST {USERS}/{{user}}/webpush/test": "nothing",
    f"POST {PROVIDERS}/test": "nothing",
    f"POST {PROVIDERS}/{{provider}}/test": "nothing",
    f"POST {GIT_PROVIDERS}/{{git_provider}}/test": "nothing",
    f"PUT {CONFIG}/user-prompt": "one's own",
    f"PUT {CONFIG}/user-compaction-thresholds/{{model}}": "one's own",
    f"DELETE {CONFIG}/user-compaction-thresholds/{{model}}": "one's own",
    f"POST {CHATS}/files": "one's own",
    f"POST {CHATS}/files/{{file}}/download-url": "a link to what one may read",
    f"DELETE {WORKSPACES}/{{workspace}}": "a build; its end is in the log",
    f"POST {WORKSPACES}/{{workspace}}/builds": "a build",
    f"PUT {WORKSPACES}/{{workspace}}/files/content": "a file of one's own",
    f"POST {WORKSPACES}/{{workspace}}/builds/{{build}}/cancel": "a build",
}


def changing_routes() -> set[str]:
    """All but those of chats, from the application itself."""
    return {
        f"{method} {route.path_format}"
        for route in application().routes
        if isinstance(route, HTTPRoute)
        for method in route.methods - {"GET", "HEAD", "OPTIONS"}
        if route.path_format != CHATS and not route.path_format.startswith(f"{CHATS}/{{chat}}")
    }


def test_every_route_that_changes_something_is_in_one_of_the_tables():
    assert changing_routes() == {*CHANGES, *OTHER}


async def things(running: Running) -> dict[str, str]:
    """What there is to change: of mia's, of groups, of models."""
    owner = running.owner
    mia = await running.add_user("mia")
    zoe = await running.add_user("zoe")
    user = (await mia.get(f"{USERS}/me")).body["id"]
    group = (await owner.post(GROUPS, {"name": "crew"})).body["id"]
    await owner.post(f"{GROUPS}/{group}/members", {"user_ids": [user]})
    provider_id = await provider(owner)
    made = await model(owner, provider_id)
    await owner.put(LIMITS, {"period": "week", "limit_micros": 7})
    token = {"name": "own", "scopes": ["*:*"], "lifetime_hours": 1}
    return {
        "user": user,
        "other": (await zoe.get(f"{USERS}/me")).body["id"],
        "token": (await mia.post(f"{USERS}/me/tokens", token)).body["token"]["id"],
        "session": (await mia.get(f"{USERS}/me/sessions")).body["tokens"][0]["id"],
        "group": group,
        "provider": provider_id,
        "model": made["id"],
        "context": "title_generation",
        "period": "week",
    }


def filled(body: Any, ids: dict[str, str]) -> Any:
    if isinstance(body, dict):
        return {key: filled(value, ids) for key, value in body.items()}
    if isinstance(body, list):
        return [filled(value, ids) for value in body]
    return body.format(**ids) if isinstance(body, str) else body


async def entries(api: Api, **wanted: str) -> list[dict[str, Any]]:
    query = "&".join(f"{name}={value}" for name, value in wanted.items())
    answer = await api.get(f"{AUDIT}?limit=100&{query}")
    assert answer.status == 200, answer
    return answer.body["entries"]


@pytest.mark.parametrize("route", CHANGES)
async def test_every_change_of_an_admins_is_in_the_log(database: Any, tmp_path: Path, route: str):
    body, action, kind = CHANGES[route]
    method, path = route.split(" ")
    async with running_server(database.dsn, tmp_path, local_workspaces="unconfined") as running:
        ids = await things(running)
        if "/sessions/" in path:
            ids["token"] = ids["session"]
        if path.endswith("/activate"):
            await running.owner.put(path.format(**ids).replace("activate", "suspend"))
        if "{git_provider}" in path:
            made = await running.owner.post(GIT_PROVIDERS, {"kind": "gitlab", "host": "other.test"})
            ids["git_provider"] = made.body["id"]
        if WORKSPACES in path or TEMPLATES in path:
            ids["template"] = (await running.owner.get(TEMPLATES)).body[0]["id"]
        if "{workspace}" in path:
            made = await running.owner.post(WORKSPACES, {"template_id": ids["template"]})
            ids["workspace"] = made.body["id"]
        if path.endswith("/tokens"):
            ids["user"] = "me"  # nobody makes tokens for others
        newest = (await entries(running.owner))[0]["id"]
        answer = await running.owner.call(method, path.format(**ids), filled(body, ids), **{"X-Request-Id": "req-7"})
        found = [entry for entry in await entries(running.owner) if entry["id"] > newest]

    assert answer.status in (200, 201, 204), answer
    assert (action, kind) in {(entry["action"], entry["target"]["kind"]) for entry in found}
    for entry in found:
        assert (entry["request_id"], entry["client_address"], entry["outcome"]) == ("req-7", "127.0.0.1", "done")
        assert entry["actor"]["name"] in ("olga", "model keeper")
    assert KEY not in str(found)


async def test_a_key_that_is_replaced_alone_is_in_the_log(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path) as running:
        id = await provider(running.owner)
        await running.owner.call("PATCH", f"{PROVIDERS}/{id}", {"api_key": f"{KEY}-new"})
        newest = (await entries(running.owner, target_kind="provider"))[0]

    assert (newest["action"], newest["changes"]) == ("update", {"api_key": "changed"})


async def test_the_first_user_is_the_first_entry_of_a_person(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path) as running:
        (first,) = await entries(running.owner, target_kind="user")

    assert (first["actor"], first["action"]) == ({"kind": "machine", "name": "setup", "id": None}, "create")
    assert (first["target"]["name"], first["changes"]["role"]) == ("olga", {"after": "owner"})
    assert first["changes"]["password_hash"] == "changed"


async def test_the_log_is_for_owners_and_auditors(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path) as running:
        people = [running.owner, await running.add_user("aud", "auditor"), await running.add_user("mia"), running.api]
        answers = [await person.get(AUDIT) for person in people]

    assert [answer.status for answer in answers] == [200, 200, 404, 401]


async def test_an_attempt_that_was_refused_is_in_the_log_a_few_times_a_minute(database: Any, tmp_path: Path):
    clock = FakeClock(SystemClock().now())
    async with running_server(database.dsn, tmp_path, clock=clock) as running:
        mia = await running.add_user("mia")
        for _ in range(15):
            assert (await mia.put(f"{USERS}/olga/role", {"role": "member"})).status == 404
        await mia.put(f"{CONFIG}/advisor", {"enabled": True})
        refused = await entries(running.owner, outcome="refused")
        await clock.advance(60)
        await mia.put(f"{CONFIG}/advisor", {"enabled": True})
        later = await entries(running.owner, outcome="refused", actor="mia")

    assert len(refused) == 10
    assert {entry["target"]["name"] for entry in refused} == {f"PUT {USERS}/olga/role"}
    assert len(later) == 11
    assert (later[0]["actor"]["name"], later[0]["action"]) == ("mia", "update")
    assert later[0]["target"] == {"kind": "setting", "id": "", "name": f"PUT {CONFIG}/advisor"}


async def test_an_attempt_at_what_is_no_business_of_admins_is_not_in_the_log(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path) as running:
        await running.add_user("mia")
        answer = await running.owner.post(f"{USERS}/mia/webpush/test")
        refused = await entries(running.owner, outcome="refused")

    assert (answer.status, refused) == (404, [])


async def test_the_log_is_filtered_and_read_page_by_page(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path) as running:
        olga = running.owner
        made = [(await olga.post(GROUPS, {"name": f"g{number}"})).body["id"] for number in range(5)]
        await olga.delete(f"{GROUPS}/{made[0]}")
        first = (await olga.get(f"{AUDIT}?target_kind=group&limit=4")).body
        second = (await olga.get(f"{AUDIT}?target_kind=group&limit=4&before={first['next_before']}")).body
        of_one = await entries(olga, target_id=made[0])
        created = await entries(olga, target_kind="group", action="create", actor="olga")
        middle = first["entries"][1]["at"].replace("+", "%2B")
        since, until = await entries(olga, since=middle, target_kind="group"), await entries(olga, until=middle)
        nobodys = await entries(olga, actor="01b8dac5-b400-7ff4-aa0d-2b6b1b4e3fca")
        wrong = [await olga.get(f"{AUDIT}?{query}") for query in ("action=x", "before=0", "since=x", "actor=nobody")]

    assert [entry["target"]["name"] for entry in first["entries"]] == ["g0", "g4", "g3", "g2"]
    assert ([entry["target"]["name"] for entry in second["entries"]], second.get("next_before")) == (["g1", "g0"], None)
    assert [entry["action"] for entry in of_one] == ["delete", "create"]
    assert len(created) == 5
    assert [entry["target"]["name"] for entry in since] == ["g0", "g4"]
    assert first["entries"][0]["id"] not in [entry["id"] for entry in until]
    assert nobodys == []
    assert [answer.status for answer in wrong] == [400, 400, 400, 404]


async def test_what_is_older_than_the_retention_goes(database: Any, tmp_path: Path):
    async with running_server(database.dsn, tmp_path) as running:
        store = running.replica.opened.store
        await clean(store, keep_audit=timedelta(days=1))
        kept = await entries(running.owner)
        await clean(store, keep_audit=timedelta(0))
        gone = await entries(running.owner)

    assert kept
    assert gone == []
