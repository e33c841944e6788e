"""attach_file: a file of the workspace becomes one of the chat owner's, stored once and with the owner's rights."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from agent.running import AgentProcess, running_agent
from chatd.core.access import WORKER
from chatd.core.chat_limits import MOST_FILES
from chatd.core.errors import ChatdError, Forbidden
from chatd.core.parts import FilePart, ToolResultPart
from chatd.core.states import Status
from chatd.engine.acting_for import owner_of
from chatd.store.actor import acting_as
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Call, Say, Turn
from engine.chatting import Chatting, chatting, guarded
from engine.deployment import open_deployment
from engine.with_agents import FixedResolver, resolved_of

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def attaching(*steps: list[dict[str, Any]]) -> Any:
    left = list(steps)

    def script(asked: Asked) -> Turn:
        if not left:
            return Turn(Say("Done."))
        return Turn(*(Call("attach_file", json.dumps(args)) for args in left.pop(0)))

    return script


async def turn(database: Any, agent: AgentProcess, *args: dict[str, Any], files_before: int = 0) -> tuple[Any, ...]:
    """The chat after a turn that attached these in one step: its parts, and its files in the database."""
    script, resolver = attaching([], list(args)), FixedResolver(resolved_of(agent))
    async with chatting(database.dsn, script, context_limit=100_000, workspaces=resolver) as chats:
        chat = await rested_with(chats, files_before)
        await chats.send(chat, "go")
        assert (await chats.resting(chat))["status"] == Status.WAITING
        messages = await chats.messages(chat)
        rows = await chats.deployment.pool.fetch(
            "SELECT f.* FROM chat_files l JOIN files f ON f.id = l.file_id WHERE l.chat_id = $1"
            " AND f.name <> 'before' ORDER BY f.name",
            chat,
        )
        all_files = await chats.deployment.pool.fetchval("SELECT count(*) FROM files WHERE name <> 'before'")
    parts = [part for message in messages for part in message.parts]
    return parts, rows, all_files


async def rested_with(chats: Chatting, files: int) -> Any:
    """A chat that rests and has so many files."""
    deployment = chats.deployment
    chat = await chats.begin("hello")
    await chats.resting(chat)
    if files:
        await deployment.pool.execute(
            "WITH made AS (INSERT INTO files (id, organization_id, owner_id, name, media_type, size, sha256, data)"
            " SELECT gen_random_uuid(), $1, $2, 'before', 'text/plain', 1, sha256('x'), 'x' FROM generate_series(1, $3)"
            " RETURNING id) INSERT INTO chat_files (chat_id, file_id) SELECT $4, id FROM made",
            deployment.organization_id,
            deployment.user_id,
            files,
            chat,
        )
    return chat


async def test_a_file_is_stored_as_the_owners_tied_to_the_chat_and_shown(database: Any, tmp_path: Path):
    async with running_agent(tmp_path / "agent") as agent:
        (agent.home / "a.txt").write_bytes(PNG)
        args = {"path": str(agent.home / "a.txt"), "name": "picture"}
        parts, (row,), _ = await turn(database, agent, args)
    (result,) = [part for part in parts if isinstance(part, ToolResultPart)]
    (shown,) = [part for part in parts if isinstance(part, FilePart)]
    assert json.loads(result.result) == {
        "ok": True,
        "path": str(agent.home / "a.txt"),
        "name": "picture",
        "media_type": "image/png",
        "size": len(PNG),
        "file_id": str(row["id"]),
    }
    assert (shown.file_id, shown.media_type, shown.name) == (row["id"], "image/png", "picture")
    assert (row["data"], row["sha256"]) == (PNG, hashlib.sha256(PNG).digest())


async def test_the_last_place_of_a_chat_is_given_once(database: Any, tmp_path: Path):
    async with running_agent(tmp_path / "agent") as agent:
        for name in ("a", "b", "c"):
            (agent.home / name).write_text(name)
        args = [{"path": str(agent.home / name)} for name in ("a", "b", "c")]
        parts, rows, stored = await turn(database, agent, *args, files_before=MOST_FILES - 1)
    results = [part for part in parts if isinstance(part, ToolResultPart)]
    assert sorted(part.is_error for part in results) == [False, True, True]
    assert all("50 files already" in part.result for part in results if part.is_error)
    assert (len(rows), stored) == (1, 1)  # and nothing is left of the others


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("empty", b"", "is empty"),
        ("large", b"x" * (10 * 1024 * 1024 + 1), "larger than 10 MiB"),
        ("archive.zip", b"PK\x03\x04\xff\xfe", "can't be used"),
        ("drawing.txt", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "can't be used"),
        (None, b"", "does not exist"),
    ],
)
async def test_what_can_not_be_attached_is_told(
    database: Any, tmp_path: Path, name: str | None, content: bytes, told: str
):
    async with running_agent(tmp_path / "agent") as agent:
        if name is not None:
            (agent.home / name).write_bytes(content)
        parts, rows, _ = await turn(database, agent, {"path": str(agent.home / (name or "nothing"))})
    (result,) = [part for part in parts if isinstance(part, ToolResultPart)]
    assert result.is_error
    assert told in result.result
    assert not rows


async def test_nothing_is_done_for_an_owner_who_may_not_use_chatd_any_more(database: Any):
    async with open_deployment(database.dsn) as made:
        store = guarded(made.sql)
        with acting_as(WORKER):
            person = await owner_of(store, made.user_id)
            assert (person.user_id, person.is_unlimited) == (made.user_id, True)
        await made.pool.execute("UPDATE users SET status = 'suspended' WHERE id = $1", made.user_id)
        with pytest.raises(Forbidden):
            await owner_of(store, made.user_id)
        await made.pool.execute("UPDATE users SET status = 'active', deleted = true WHERE id = $1", made.user_id)
        with pytest.raises(Forbidden):
            await owner_of(store, made.user_id)


async def test_the_worker_itself_may_not_attach(database: Any):
    async with open_deployment(database.dsn) as made:
        store = guarded(made.sql)
        with acting_as(WORKER), pytest.raises(ChatdError):
            await store.attach_file(
                chat_id=made.user_id,
                id=made.user_id,
                organization_id=made.organization_id,
                owner_id=made.user_id,
                name="a",
                media_type="text/plain",
                sha256=b"",
                data=b"",
                most_files=1,
            )
