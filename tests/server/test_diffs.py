"""What a chat does to a repository in its workspace is in lists, in its diff, and live in a stream of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import asyncpg
import msgspec
import pytest
import pytest_asyncio

from chatd.core.secret import Secret
from chatd.minting import uuid7
from chatd.store.actor import acting_as
from chatd.store.queries import GitProviderKind
from chatd.testing.fake_clock import START
from chatd.testing.git_host_server import TOKEN, GitHostServer, Pull, Repository, git_host_server
from server.chat_api import CHATS, PATIENCE, ChatApi
from server.running import Api, Running
from server.scripted import scripted_server, send
from server.streaming import TRANSPORTS, Transport
from server.test_watch import watching
from server.test_workspaces_of_chats import chat_with_workspace, executing

IDENTITY = "-c user.name=a -c user.email=a@example.org"
WORK = f"""
if [ ! -e project ]; then
  git init -q -b main project && cd project && echo one > a && git add . && git {IDENTITY} commit -qm first
  git remote add origin git@github.test:team/project.git && git update-ref refs/remotes/origin/main main
  git switch -qc feature
else cd project; fi
echo more >> a
"""


class Working(msgspec.Struct, frozen=True):
    """A chat whose model changes a file whenever it is asked something."""

    running: Running
    chat: UUID

    @property
    def path(self) -> str:
        return f"{CHATS}/{self.chat}"

    async def status(self, **fields: Any) -> dict[str, Any]:
        """Once it is so."""
        seen: Any = None
        async with asyncio.timeout(PATIENCE):
            while True:
                seen = (await self.running.owner.get(self.path)).body.get("diff_status")
                if seen and all(seen.get(name) == value for name, value in fields.items()):
                    return seen
                await self.running.replica.clock.sleep(0.05, timer="test")


@asynccontextmanager
async def working(dsn: str, folder: Path) -> AsyncIterator[Working]:
    async with scripted_server(dsn, folder, executing(WORK), local_workspaces="unconfined") as running:
        await running.replica.hints.wait_connected()
        chat, _ = await chat_with_workspace(running)
        yield Working(running, chat)


@pytest_asyncio.fixture
async def host() -> AsyncIterator[GitHostServer]:
    async with git_host_server() as server:
        server.repositories = [Repository(id=1, path="team/project", pulls=[Pull(number=7, title="Owls")])]
        yield server


async def add_provider(running: Running, host: GitHostServer) -> None:
    person = await running.replica.identity.authenticate(running.owner.token)
    with acting_as(person):
        await running.replica.opened.store.insert_git_provider(
            id=uuid7(START),
            kind=GitProviderKind.GITHUB,
            host="github.test",
            api_url=host.github_url,
            token=Secret(TOKEN),
        )
    running.replica.diffs.pulls.hurry()


@pytest.mark.behaviour("SIDE-3")
async def test_lists_are_told_of_a_chats_branch_and_pull_request(database: Any, tmp_path: Path, host: GitHostServer):
    async with working(database.dsn, tmp_path) as made:
        running = made.running
        first = await made.status(branch="feature", additions=1)
        assert (first["changed_files"], first["deletions"], first["ahead"]) == (1, 0, 0)
        assert first["remote_origin"] == "git@github.test:team/project.git"
        assert "pull_request_state" not in first
        async with watching(running.owner, "websocket") as feed:
            await add_provider(running, host)
            told = await feed.until("diff_status_change", {"id": str(made.chat)})
        assert told["diff_status"]["pull_request_state"] == "open"
        assert (told["diff_status"]["pr_number"], told["diff_status"]["pull_request_title"]) == (7, "Owls")
        listed = (await running.owner.get(CHATS)).body
        assert [chat["diff_status"] for chat in listed] == [told["diff_status"]]

        async with watching(running.owner, "sse") as feed:
            await send(running, made.chat, "again")
            while (await feed.until("diff_status_change", {"id": str(made.chat)}))["diff_status"]["additions"] != 2:
                pass


@pytest.mark.behaviour("SIDE-3")
async def test_the_diff_is_the_open_pull_requests_else_the_workspaces_and_the_owners_alone(
    database: Any, tmp_path: Path, host: GitHostServer
):
    async with working(database.dsn, tmp_path) as made:
        running = made.running
        await made.status(branch="feature", additions=1)
        local = (await running.owner.get(f"{made.path}/diff")).body
        assert (local["branch"], local["remote_origin"]) == ("feature", "git@github.test:team/project.git")
        assert "+more" in local["diff"]
        assert "provider" not in local

        await add_provider(running, host)
        pulled = (await running.owner.get(f"{made.path}/diff")).body
        assert (pulled["provider"], pulled["diff"]) == ("github", host.repositories[0].pulls[0].diff)
        assert pulled["pull_request_url"].endswith("/pull/7")

        auditor, stranger = await running.add_user("audrey", "auditor"), await running.add_user("sam")
        seen = (await auditor.get(f"{made.path}/diff")).body
        assert seen["branch"] == "feature"
        assert "diff" not in seen
        assert (await stranger.get(f"{made.path}/diff")).status == 404

        host.repositories[0].pulls[0].state = "merged"
        running.replica.diffs.pulls.hurry()
        host.repositories[0].pulls[0].diff = "x" * (5 * 1024 * 1024)
        host.repositories[0].pulls[0].state = "open"
        long = (await running.owner.get(f"{made.path}/diff")).body
        assert "+more" in long["diff"]  # the pull request's is longer than 4 MiB

        there = await running.replica.workspaces.resolver.resolve(made.chat)
        person = await running.replica.identity.authenticate(running.owner.token)
        host.repositories = []
        with acting_as(person):
            build = await running.replica.workspaces.lifecycle.stop(there.workspace_id)
            await running.replica.workspaces.lifecycle.wait(build.id)
        stopped = await running.owner.get(f"{made.path}/diff")
        assert (stopped.status, stopped.body["branch"]) == (200, "feature")
        assert "diff" not in stopped.body


async def test_a_chat_that_comes_back_from_the_archive_is_asked_about_again(chats: ChatApi, database: Any):
    chat = await chats.create()
    await chats.resting(chat)
    connection = await asyncpg.connect(database.dsn)
    try:
        workspace = await connection.fetchval(
            "INSERT INTO workspaces (id, organization_id, owner_id, template_id, name, agent_token, build_number)"
            " SELECT gen_random_uuid(), c.organization_id, c.owner_id, t.id, 'ws', $2, 1 FROM chats c, templates t"
            " WHERE c.id = $1 RETURNING id",
            UUID(chat["id"]),
            f"enc1:{'0' * 16}:AAAA",
        )
        await connection.execute("UPDATE chats SET workspace_id = $1", workspace)
        await connection.execute(
            "INSERT INTO chat_diff_statuses (chat_id, stale_at) VALUES ($1, 'infinity')", UUID(chat["id"])
        )
        for archived, is_due in ((True, False), (False, True)):
            await chats.mia.call("PATCH", f"{CHATS}/{chat['id']}", {"archived": archived})
            due = await connection.fetchval("SELECT stale_at <= now() FROM chat_diff_statuses")
            assert due is is_due
    finally:
        await connection.close()


@asynccontextmanager
async def git_stream(api: Api, path: str, transport: Transport) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    headers = {"Authorization": f"Bearer {api.token}"}
    async with aiohttp.ClientSession(headers=headers) as http:
        if transport == "websocket":
            async with http.ws_connect(f"{api.url}{path}/stream/git", max_msg_size=0) as socket:

                async def messages() -> AsyncIterator[dict[str, Any]]:
                    async for message in socket:
                        if event := msgspec.json.decode(message.data):  # else it is a sign of life
                            yield event

                yield messages()
        else:
            async with http.get(f"{api.url}{path}/stream/git", timeout=None) as response:
                assert response.status == 200

                async def events() -> AsyncIterator[dict[str, Any]]:
                    async for line in response.content:
                        if line.startswith(b"data: "):
                            yield msgspec.json.decode(line.removeprefix(b"data: "))

                yield events()


@pytest.mark.behaviour("SIDE-3")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_repositories_are_shown_live_with_what_is_not_committed(
    database: Any, tmp_path: Path, transport: Transport
):
    async with working(database.dsn, tmp_path) as made:
        running = made.running
        await made.status(branch="feature", additions=1)
        async with asyncio.timeout(PATIENCE), git_stream(running.owner, made.path, transport) as events:
            first = await anext(events)
            (repository,) = first["repositories"]
            assert (first["type"], first["removed"]) == ("changes", [])
            assert repository["branch"] == "feature"
            assert repository["diff"].count("+more") == 1
            assert repository["is_diff_complete"]
            await send(running, made.chat, "again")
            second = await anext(events)
            while second["repositories"][0]["diff"].count("+more") != 2:
                second = await anext(events)
            place = Path(repository["root"])
            (place / ".git").rename(place / "no-git")
            while not (third := await anext(events))["removed"]:
                pass
        assert third["removed"] == [repository["root"]]
        async with asyncio.timeout(PATIENCE):
            while running.replica.diffs.local.followed:
                await running.replica.clock.sleep(0.05, timer="test")


async def test_a_stream_of_repositories_ends_with_its_clients_rights_and_with_the_server(database: Any, tmp_path: Path):
    async with working(database.dsn, tmp_path) as made:
        running = made.running
        await made.status(branch="feature", additions=1)
        async with asyncio.timeout(PATIENCE), git_stream(running.owner, made.path, "sse") as events:
            await anext(events)
            await running.owner.post("/api/v2/users/logout")
            async for event in events:
                assert event["type"] == "changes"
