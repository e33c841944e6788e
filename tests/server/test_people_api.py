"""People over the API: the first owner, signing in and out, accounts, tokens, groups."""

import asyncio
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from chatd.testing.fake_clock import FakeClock
from server.running import PASSWORD, running_server

ME = "/api/v2/users/me"


async def execute(dsn: str, sql: str) -> None:
    """Change the database behind the server's back."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def test_the_first_owner_needs_the_code_and_is_made_once(serving: Any):
    asked = {"email": "ada@example.com", "username": "ada", "password": PASSWORD}
    async with serving(first_user=False) as running:
        api = running.api
        assert (await api.get("/api/v2/users/first")).body == {"exists": False}
        wrong = await api.post("/api/v2/users/first", {**asked, "code": "AAAA-BBBB-CCCC-DDDD"})
        code = (await running.replica.accounts.issue_setup_code()).reveal()
        made = await asyncio.gather(
            *(api.post("/api/v2/users/first", {**asked, "code": code.lower(), "username": f"ada{n}"}) for n in range(3))
        )
        assert (await api.get("/api/v2/users/first")).body == {"exists": True}
        again = await api.post("/api/v2/users/first", {**asked, "code": code})

    assert wrong.status == 403
    assert sorted(answer.status for answer in made) == [201, 409, 409]
    assert [answer.body["role"] for answer in made if answer.status == 201] == ["owner"]
    assert again.status == 409


async def test_the_configured_owner_is_made_at_the_first_start_only(serving: Any):
    configured = {"bootstrap_admin_email": "root@example.com", "bootstrap_admin_password": PASSWORD}
    async with serving(first_user=False, **configured) as running:
        owner = await running.api.sign_in("root@example.com")
        assert (await owner.get(ME)).body["role"] == "owner"
        await owner.call("PUT", f"{ME}/password", {"password": "another good one", "old_password": PASSWORD})
    async with serving(first_user=False, **configured) as running:
        await running.api.sign_in("admin", "another good one")


async def test_signing_in_gives_a_token_and_a_cookie_and_signing_out_ends_both(serving: Any):
    async with serving() as running:
        answer = await running.api.post("/api/v2/users/login", {"email": "OLGA@example.com", "password": PASSWORD})
        cookie = answer.headers["Set-Cookie"]
        session = running.api.with_token(answer.body["session_token"])
        assert (await session.get(ME)).body["username"] == "olga"
        by_cookie = await running.api.call("GET", ME, Cookie=cookie.partition(";")[0])

        assert (await session.post("/api/v2/users/logout")).status == 204
        after = await session.get(ME)

    assert answer.status == 201
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "Secure" not in cookie
    assert by_cookie.status == 200
    assert after.status == 401


async def test_behind_https_the_cookie_is_secure_and_bound_to_the_host(serving: Any):
    async with serving(public_url="https://chat.example.com") as running:
        answer = await running.api.post("/api/v2/users/login", {"login": "olga", "password": PASSWORD})
        cookie = answer.headers["Set-Cookie"]
        by_cookie = await running.api.call("GET", ME, Cookie=cookie.partition(";")[0])

    assert cookie.startswith("__Host-chatd_session=")
    assert {"Secure", "HttpOnly", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert by_cookie.status == 200


@pytest.mark.parametrize(
    "body",
    [
        {"login": "olga", "password": "wrong password"},
        {"login": "nobody", "password": PASSWORD},
        {"login": "nobody\u0000", "password": PASSWORD},
        {"login": "olga", "password": ""},
    ],
)
async def test_a_failed_login_does_not_say_what_was_wrong(serving: Any, body: Any):
    async with serving() as running:
        answer = await running.api.post("/api/v2/users/login", body)

    assert answer.status == 401
    assert answer.body == {"message": "The email, username or password is wrong."}


async def test_guessing_is_slowed_down_and_an_attacker_does_not_lock_the_owner_out(serving: Any, database: Any):
    async with serving(trusted_proxies="127.0.0.1/32") as running:

        async def attempt(password: str, address: str) -> int:
            body = {"login": "olga", "password": password}
            headers = {"X-Forwarded-For": address}
            answer = await running.api.call("POST", "/api/v2/users/login", body, **headers)
            assert answer.status != 429 or int(answer.headers["Retry-After"]) >= 1
            return answer.status

        # All at once: each is counted before its password is looked at.
        guesses = await asyncio.gather(*(attempt(f"guess {n}", "192.0.2.9") for n in range(12)))
        # The first pauses are short; this attacker has gone on for a while.
        await execute(
            database.dsn, "UPDATE login_failures SET failures = 40, last_failed_at = now() WHERE subject LIKE 'pair:%'"
        )
        blocked = await attempt(PASSWORD, "192.0.2.9")
        elsewhere = await attempt(PASSWORD, "198.51.100.7")

    assert guesses.count(401) == 5
    assert guesses.count(429) == 7
    assert blocked == 429
    assert elsewhere == 201


async def test_a_good_login_clears_what_was_counted(serving: Any):
    async with serving() as running:
        for _ in range(3):
            for _ in range(4):
                await running.api.post("/api/v2/users/login", {"login": "olga", "password": "wrong password"})
            await running.api.sign_in("olga")


async def test_users_are_paged_by_cursor_and_found_by_part_of_a_name(serving: Any):
    async with serving() as running:
        for name in ("ann", "ben", "cleo"):
            await running.add_user(name)
        first = await running.owner.get("/api/v2/users?limit=3")
        second = await running.owner.get(f"/api/v2/users?limit=3&after={first.body['next_after']}")
        found = await running.owner.get("/api/v2/users?search=EN@example")

    assert [user["username"] for user in first.body["users"]] == ["olga", "ann", "ben"]
    assert first.body["count"] == 4
    assert [user["username"] for user in second.body["users"]] == ["cleo"]
    assert second.body["next_after"] is None
    assert [user["username"] for user in found.body["users"]] == ["ben"]
    assert "password_hash" not in first.body["users"][0]


async def test_a_member_sees_and_changes_only_their_own_account(serving: Any):
    async with serving() as running:
        ann = await running.add_user("ann")
        olga = (await running.owner.get(ME)).body["id"]
        listed = await ann.get("/api/v2/users")
        renamed = await ann.call("PATCH", ME, {"display_name": "Ann"})
        refused = [
            await ann.get(f"/api/v2/users/{olga}"),
            await ann.get("/api/v2/users/olga"),
            await ann.call("PATCH", "/api/v2/users/olga", {"display_name": "x"}),
            await ann.put(f"{ME}/role", {"role": "owner"}),
            await ann.put("/api/v2/users/ann/status/suspend"),
            await ann.delete(ME),
            await ann.put(f"/api/v2/users/{olga}/password", {"password": "a new password"}),
            await ann.get(f"/api/v2/users/{olga}/tokens"),
            await ann.post(f"/api/v2/users/{olga}/tokens", {"name": "x"}),
            await ann.post("/api/v2/users", {"email": "x@y", "username": "x", "password": PASSWORD}),
            await ann.post("/api/v2/groups", {"name": "x"}),
        ]

    assert [user["username"] for user in listed.body["users"]] == ["ann"]
    assert renamed.body["display_name"] == "Ann"
    assert {answer.status for answer in refused} == {404}


async def test_an_auditor_reads_everything_and_changes_nothing(serving: Any):
    async with serving() as running:
        eve = await running.add_user("eve", "auditor")
        assert (await eve.get("/api/v2/users")).body["count"] == 2
        assert (await eve.get("/api/v2/users/olga/sessions")).status == 200
        assert (await eve.put("/api/v2/users/olga/role", {"role": "member"})).status == 404


async def test_names_and_emails_are_taken_once_and_free_after_deletion(serving: Any):
    asked = {"email": "ann@example.com", "username": "ann", "password": PASSWORD}
    async with serving() as running:
        await running.add_user("ann")
        clash = await running.owner.post("/api/v2/users", {**asked, "email": "ANN@example.com", "username": "x"})
        clash_name = await running.owner.post("/api/v2/users", {**asked, "email": "x@y", "username": "Ann"})
        assert (await running.owner.delete("/api/v2/users/ann")).status == 204
        again = await running.owner.post("/api/v2/users", asked)

    assert clash.status == clash_name.status == 409
    assert clash.body["validations"][0]["field"] == "email"
    assert clash_name.body["validations"][0]["field"] == "username"
    assert again.status == 201


async def test_the_last_owner_stays(serving: Any):
    async with serving() as running:
        refused = [
            await running.owner.put(f"{ME}/role", {"role": "member"}),
            await running.owner.put(f"{ME}/status/suspend"),
            await running.owner.delete(ME),
        ]
        second = await running.add_user("zoe", "owner")
        # Two owners who demote each other at the same moment: one stays.
        demoted = await asyncio.gather(
            running.owner.put("/api/v2/users/zoe/role", {"role": "member"}),
            second.put("/api/v2/users/olga/role", {"role": "member"}),
        )

    assert [answer.status for answer in refused] == [409, 409, 409]
    assert sorted(answer.status for answer in demoted)[0] == 200
    assert sorted(answer.status for answer in demoted)[1] in (404, 409)


async def test_suspending_stops_tokens_at_once_and_activating_brings_them_back(serving: Any):
    async with serving() as running:
        ann = await running.add_user("ann")
        await running.owner.put("/api/v2/users/ann/status/suspend")
        suspended = await ann.get(ME)
        login = await running.api.post("/api/v2/users/login", {"login": "ann", "password": PASSWORD})
        await running.owner.put("/api/v2/users/ann/status/activate")
        back = await ann.get(ME)

    assert (suspended.status, login.status, back.status) == (401, 401, 200)
    assert "suspended" in login.body["message"]


async def test_changing_the_password_needs_the_old_one_and_ends_other_sessions(serving: Any):
    async with serving() as running:
        here = await running.add_user("ann")
        there = await running.api.sign_in("ann")
        wrong = await here.put(f"{ME}/password", {"password": "a new password", "old_password": "x"})
        right = await here.put(f"{ME}/password", {"password": "a new password", "old_password": PASSWORD})
        after = [(await here.get(ME)).status, (await there.get(ME)).status]
        await running.api.sign_in("ann", "a new password")
        reset = await running.owner.put("/api/v2/users/ann/password", {"password": "yet another one"})
        ended = await here.get(ME)

    assert (wrong.status, right.status, reset.status) == (400, 204, 204)
    assert after == [200, 401]
    assert ended.status == 401


async def test_a_login_with_the_old_password_never_outlives_its_change(serving: Any):
    """The password is verified off the loop for a while; a change that commits meanwhile must win."""
    async with serving() as running:
        await running.add_user("ann")
        login = {"login": "ann", "password": PASSWORD}
        for round in range(6):
            answers = await asyncio.gather(
                *(running.api.post("/api/v2/users/login", login) for _ in range(4)),
                running.owner.put("/api/v2/users/ann/password", {"password": f"another password {round}"}),
            )
            keys = [answer.body["session_token"] for answer in answers[:4] if answer.status == 201]
            alive = [(await running.api.with_token(key).get(ME)).status for key in keys]
            assert 200 not in alive
            await execute(running.replica.opened.dsn, "DELETE FROM login_failures")
            await running.owner.put("/api/v2/users/ann/password", {"password": PASSWORD})


async def test_deleting_and_resetting_a_user_at_once_does_not_deadlock(serving: Any):
    async with serving() as running:
        for number in range(12):
            await running.add_user(f"user{number}")
            answers = await asyncio.gather(
                running.owner.put(f"/api/v2/users/user{number}/password", {"password": "another password"}),
                running.owner.delete(f"/api/v2/users/user{number}"),
            )
            assert {answer.status for answer in answers} <= {204, 404}


async def test_a_reset_by_an_owner_ends_api_tokens_and_a_change_by_oneself_does_not(serving: Any):
    async with serving() as running:
        ann = await running.add_user("ann")
        key = (await ann.post(f"{ME}/tokens", {"name": "ci"})).body["key"]
        token = running.api.with_token(key)
        await ann.put(f"{ME}/password", {"password": "my next password", "old_password": PASSWORD})
        kept = await token.get(ME)
        await running.owner.put("/api/v2/users/ann/password", {"password": "given by an owner"})
        gone = await token.get(ME)

    assert (kept.status, gone.status) == (200, 401)


async def test_strangers_can_not_lock_the_first_owner_out(serving: Any):
    asked = {"code": "x", "email": "ada@example.com", "username": "ada", "password": PASSWORD}
    async with serving(first_user=False, trusted_proxies="127.0.0.1/32") as running:
        code = (await running.replica.accounts.issue_setup_code()).reveal()

        async def attempt(address: str, **more: str) -> int:
            headers = {"X-Forwarded-For": address}
            return (await running.api.call("POST", "/api/v2/users/first", {**asked, **more}, **headers)).status

        guesses = [await attempt("192.0.2.9") for _ in range(31)]
        owner = await attempt("198.51.100.7", code=code)

    assert guesses == [403] * 30 + [429]
    assert owner == 201


async def test_api_tokens_are_shown_once_scoped_listed_and_revoked(serving: Any):
    async with serving() as running:
        made = await running.owner.post(f"{ME}/tokens", {"name": "ci", "scopes": ["user:read"], "lifetime_hours": 2})
        token = running.api.with_token(made.body["key"])
        may = await token.get(ME)
        may_not = await token.call("PATCH", ME, {"display_name": "x"})
        wider = await token.post(f"{ME}/tokens", {"name": "wide"})
        narrow = (await running.owner.post(f"{ME}/tokens", {"name": "narrow", "scopes": ["token:read"]})).body["key"]
        own_list = await running.api.with_token(narrow).get(f"{ME}/tokens")
        logged_out = await running.api.with_token(narrow).post("/api/v2/users/logout")
        logged_out_again = await running.api.with_token(narrow).post("/api/v2/users/logout")
        listed = await running.owner.get(f"{ME}/tokens")
        twice = await running.owner.post(f"{ME}/tokens", {"name": "CI"})
        unknown = await running.owner.post(f"{ME}/tokens", {"name": "x", "scopes": ["chat:fly"]})
        revoked = await running.owner.delete(f"{ME}/tokens/{made.body['token']['id']}")
        after = await token.get(ME)

    assert made.body["key"].startswith("chatd_")
    assert (may.status, may_not.status, wider.status) == (200, 404, 404)
    assert (own_list.status, logged_out.status, logged_out_again.status) == (200, 204, 401)
    assert [row["name"] for row in listed.body["tokens"]] == ["ci"]
    assert made.body["key"] not in str(listed.body)
    assert (twice.status, unknown.status, revoked.status, after.status) == (409, 400, 204, 401)


async def test_sessions_are_listed_with_the_one_that_asks_and_ended_elsewhere(serving: Any):
    async with serving() as running:
        other = await running.api.sign_in("olga")
        listed = (await running.owner.get(f"{ME}/sessions?limit=1")).body
        rest = (await running.owner.get(f"{ME}/sessions?before={listed['next_before']}")).body
        marks = [row["current"] for row in listed["tokens"] + rest["tokens"]]
        mixed_up = await running.owner.delete(f"{ME}/tokens/{listed['tokens'][0]['id']}")
        await running.owner.delete(f"{ME}/sessions")
        after = [(await running.owner.get(ME)).status, (await other.get(ME)).status]

    assert marks == [False, True]
    assert mixed_up.status == 404
    assert after == [200, 401]


async def test_groups_are_seen_by_their_members_and_run_by_owners(serving: Any):
    async with serving() as running:
        ann, ben = await running.add_user("ann"), await running.add_user("ben")
        made = (await running.owner.post("/api/v2/groups", {"name": "crew", "display_name": "Crew"})).body
        path = f"/api/v2/groups/{made['id']}"
        ann_id = (await ann.get(ME)).body["id"]
        added = await running.owner.post(f"{path}/members", {"user_ids": [ann_id, ann_id]})
        unknown = await running.owner.post(f"{path}/members", {"user_ids": [made["id"]]})
        seen = await ann.get(f"{path}/members?limit=1")
        hidden = [await ben.get(path), await ben.get(f"{path}/members")]
        lists = [(await api.get("/api/v2/groups")).body["groups"] for api in (ann, ben, running.owner)]
        clash = await running.owner.post("/api/v2/groups", {"name": "CREW"})
        renamed = await running.owner.put(path, {"name": "team"})
        await running.owner.delete(f"{path}/members/{ann_id}")
        gone = await ann.get(path)
        deleted = await running.owner.delete(path)
        missing = [
            await running.owner.delete(path),
            await running.owner.delete(f"{path}/members/{ann_id}"),
            await running.owner.post(f"{path}/members", {"user_ids": [ann_id]}),
        ]

    assert (added.status, unknown.status, clash.status, renamed.status, deleted.status) == (204, 400, 409, 200, 204)
    assert [member["username"] for member in seen.body["members"]] == ["ann"]
    assert seen.body["next_after"] is None
    assert set(seen.body["members"][0]) == {"id", "username", "display_name"}
    assert [answer.status for answer in (*hidden, gone, *missing)] == [404] * 6
    assert [len(groups) for groups in lists] == [1, 0, 1]


async def test_the_one_organization_is_there_for_clients_that_ask(serving: Any):
    async with serving() as running:
        (organization,) = (await running.owner.get("/api/v2/organizations")).body
        same = [
            (await running.owner.get(path)).body
            for path in (
                "/api/v2/organizations/default",
                f"/api/v2/organizations/{organization['id']}",
                f"{ME}/organizations",
            )
        ]
        missing = await running.owner.get("/api/v2/organizations/other")
        user = (await running.owner.get(ME)).body
        build = (await running.api.get("/api/v2/buildinfo")).body

    assert same == [organization, organization, [organization]]
    assert missing.status == 404
    assert user["organization_ids"] == [organization["id"]]
    assert build["version"]
    assert build["experiments"] == ["agents"]


async def test_every_route_but_the_public_ones_wants_a_token(serving: Any):
    public = {
        ("get", "/api/v2/buildinfo"),
        ("get", "/api/v2/users/first"),
        ("post", "/api/v2/users/first"),
        ("post", "/api/v2/users/login"),
        ("get", "/api/experimental/chats/files/{file}/download"),  # the link is what one has to have
    }
    async with serving() as running:
        document = (await running.api.get("/api/openapi.json")).body
        answers: dict[tuple[str, str], int] = {}
        for path, operations in document["paths"].items():
            for method in set(operations) - {method for method, open_path in public if open_path == path}:
                numbered = re.sub(r"\{(message|queued)\}", "1", path)
                concrete = re.sub(r"\{.*?\}", "00000000-0000-7000-8000-000000000000", numbered)
                body = {} if method in ("post", "put", "patch") else None
                answers[method, path] = (await running.api.call(method.upper(), concrete, body)).status

    assert len(answers) > 20
    assert {key: status for key, status in answers.items() if status != 401} == {}


async def test_a_revoked_token_is_noticed_by_another_replica_without_any_hint(database: Any, tmp_path: Path):
    clock = FakeClock()
    async with (
        running_server(database.dsn, tmp_path) as first,
        running_server(database.dsn, tmp_path, first_user=False, clock=clock) as second,
    ):
        remote = second.api.with_token(first.owner.token)
        await second.replica.hints.wait_connected()  # connecting empties the cache: something may have been missed
        await clock.wait_for("versions")
        await second.replica.versions.poll()  # the first one empties it too
        assert (await remote.get(ME)).status == 200
        # The row goes without anyone being told: only the version in the database has moved.
        await execute(database.dsn, "DELETE FROM tokens")
        cached = await remote.get(ME)
        await second.replica.versions.poll()
        after = await remote.get(ME)

    assert cached.status == 200
    assert after.status == 401


async def test_a_revoked_token_is_noticed_by_another_replica_by_hint(database: Any, tmp_path: Path):
    noticed = asyncio.Event()
    async with (
        running_server(database.dsn, tmp_path) as first,
        running_server(database.dsn, tmp_path, first_user=False, clock=FakeClock()) as second,
    ):
        remote = second.api.with_token(first.owner.token)
        await second.replica.hints.wait_connected()
        assert (await remote.get(ME)).status == 200
        second.replica.versions.on_change("auth", noticed.set)
        await first.owner.post("/api/v2/users/logout")
        await asyncio.wait_for(noticed.wait(), 5)
        after = await remote.get(ME)

    assert after.status == 401


async def test_a_replica_ends_well_when_its_database_is_gone(serving: Any, database: Any):
    """What it still had to store is lost; that is no reason for a traceback."""
    async with serving() as running:
        await running.owner.get(ME)  # a last use to store
        elsewhere = urlsplit(database.dsn)._replace(path="/postgres").geturl()
        await execute(elsewhere, f'DROP DATABASE "{database.name}" WITH (FORCE)')
