"""Hosts of repositories are configured by administrators, and their tokens are seen by nobody."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from chatd.testing.git_host_server import TOKEN, GitHostServer, git_host_server
from server.running import Answer, Api

PATH = "/api/experimental/git-providers"


@pytest_asyncio.fixture
async def host() -> AsyncIterator[GitHostServer]:
    async with git_host_server() as server:
        yield server


async def create(api: Api, server: GitHostServer, /, **fields: Any) -> Answer:
    given = {"kind": "github", "host": "GitHub.test", "token": TOKEN, "api_url": server.github_url, **fields}
    return await api.post(PATH, given)


async def test_a_host_is_made_changed_tested_and_deleted_without_its_token_being_shown(
    serving: Any, host: GitHostServer, database: Any
):
    async with serving() as running:
        owner = running.owner
        made = await create(owner, host)
        assert (made.status, made.body["host"], made.body["has_token"]) == (201, "github.test", True)
        one = f"{PATH}/{made.body['id']}"
        listed = await owner.get(PATH)
        assert listed.body == [made.body]
        assert (await owner.get(one)).body == made.body
        tested = await owner.post(f"{one}/test")
        assert (tested.body["ok"], tested.body["account"]) == (True, "chatd-bot")
        again = await create(owner, host)
        assert (again.status, again.body["validations"][0]["field"]) == (409, "host")
        lab = await owner.call("PATCH", one, {"kind": "gitlab", "api_url": host.gitlab_url})
        assert (lab.status, lab.body["kind"]) == (200, "gitlab")  # on the same server
        assert (await owner.post(f"{one}/test")).body["account"] == "chatd-bot"
        without = await owner.call("PATCH", one, {"token": None})
        assert not without.body["has_token"]
        assert (await owner.post(f"{one}/test")).body["ok"] is False
        connection = await asyncpg.connect(database.dsn)
        log = str(await connection.fetch("SELECT * FROM audit_log WHERE target_kind = 'git_provider'"))
        await connection.close()
        assert "git_provider" in log
        assert (await owner.delete(one)).status == 204
        assert (await owner.get(one)).status == 404
        answers = [made, listed, tested, again, lab, without]
    assert TOKEN not in f"{answers} {log}"


async def test_a_token_never_goes_to_another_server_than_it_was_given_for(serving: Any, host: GitHostServer):
    async with serving() as running:
        made = await create(running.owner, host)
        one = f"{PATH}/{made.body['id']}"
        for change in ({"api_url": "https://evil.test"}, {"host": "evil.test"}, {"api_url": None}):
            refused = await running.owner.call("PATCH", one, change)
            assert (refused.status, refused.body["validations"][0]["field"]) == (400, "token")
        moved = await running.owner.call("PATCH", one, {"host": "evil.test", "token": "another"})
        assert (moved.status, moved.body["api_url"]) == (200, "https://evil.test/api/v3")


async def test_a_pause_was_for_the_token_before(serving: Any, host: GitHostServer, database: Any):
    async with serving() as running:
        made = await create(running.owner, host)
        connection = await asyncpg.connect(database.dsn)
        try:
            await connection.execute(
                "INSERT INTO git_host_pauses VALUES ('github.test', now() + interval '1 hour'),"
                " ('other.test', now() + interval '1 hour')"
            )
            await running.owner.call("PATCH", f"{PATH}/{made.body['id']}", {"token": "another"})
            left = [row["host"] for row in await connection.fetch("SELECT host FROM git_host_pauses")]
        finally:
            await connection.close()
    assert left == ["other.test"]


async def test_what_a_host_says_to_a_wrong_token_is_told(serving: Any, host: GitHostServer):
    async with serving() as running:
        made = await create(running.owner, host, token="wrong")
        tested = await running.owner.post(f"{PATH}/{made.body['id']}/test")
        metrics = (await running.owner.get("/metrics")).body
    assert 'chatd_git_host_requests_total{kind="github",outcome="refused"} 1.0' in metrics
    assert (tested.status, tested.body["ok"]) == (200, False)
    assert "refused the token" in tested.body["message"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("host", "https://github.com"),
        ("host", "github.com:22"),
        ("host", ""),
        ("host", "a b"),
        ("api_url", "ftp://x"),
        ("api_url", "https://user:pass@x"),
        ("api_url", "https://x?y"),
        ("api_url", "https://x:99999"),
        ("token", ""),
        ("token", "a b"),
        ("token", "ü"),
    ],
)
async def test_what_can_not_be_is_refused_by_field(serving: Any, host: GitHostServer, field: str, value: str):
    async with serving() as running:
        refused = await create(running.owner, host, **{field: value})
    assert (refused.status, refused.body["validations"][0]["field"]) == (400, field)
