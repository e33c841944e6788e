"""`chatd chats`: searched, forked and exported from a shell, and by a program."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.client import Client
from chatd.client.errors import Missing
from chatd.wire.chat_requests import UpdateChat
from chatd.wire.chats import Chat
from cli.test_chat_logins import shell
from server.running import Running
from server.test_chats_search import due


async def begun(running: Running, client: Client, said: str, title: str) -> Chat:
    """A chat that has come to rest and can be found."""
    chat = await client.create_chat(said)
    while (await client.chat(chat.id)).status != "waiting":
        pass
    while await due(running):
        pass
    await client.update_chat(chat.id, UpdateChat(title=title))
    return await client.chat(chat.id)


async def test_hits_are_shown_with_what_was_said(database: Any, tmp_path: Path):
    async with shell(database, tmp_path) as run, Client(run.url, run.running.owner.token) as client:
        identity = {"CHATD_URL": run.url, "CHATD_TOKEN": run.running.owner.token}
        chat = await begun(run.running, client, 'a rare "lammergeier" \x1b[31mred\x1b[0m', "About \u202ebirds")
        hits = await run("chats", "--search", "lammergeier", **identity)
        phrase = await run("chats", "-s", '"rare lammergeier" -owl', "-q", "archived:false", "--json", **identity)
        none = await run("chats", "--search", "ptarmigan", **identity)
        (found,) = await client.chats(search="lammergeier")

    assert hits.code == 0
    assert found.match is not None
    assert f"--at {found.match.message_id}" in hits.out
    assert str(chat.id) in hits.out
    assert 'a rare "lammergeier" red' in hits.out, "nothing commands the terminal"
    assert "About birds" in hits.out
    assert [one["id"] for one in json.loads(phrase.out)] == [str(chat.id)]
    assert (none.code, "Nothing found" in none.out) == (0, True)


async def test_a_chat_is_forked_and_exported(database: Any, tmp_path: Path):
    async with shell(database, tmp_path) as run, Client(run.url, run.running.owner.token) as client:
        identity = {"CHATD_URL": run.url, "CHATD_TOKEN": run.running.owner.token}
        chat = await begun(run.running, client, "owls", "Owls")
        first = (await client.messages(chat.id)).messages[-1]
        whole = await run("chats", "fork", str(chat.id), **identity)
        cut = await run("chats", "fork", str(chat.id), "--at", str(first.id), "--title", "Other", "--json", **identity)
        bad = await run("chats", "fork", str(chat.id), "--at", "999999", **identity)
        page = await run("chats", "export", str(chat.id), "--format", "html", "-o", "owls.html", **identity)
        text = await run("chats", "export", str(chat.id), **identity)
        missing = await run("chats", "export", str(UUID(int=1)), "-o", "none.md", **identity)
        nowhere = await run("chats", "export", str(chat.id), "-o", "no/such/folder.md", **identity)
        fork = await client.chat(UUID(whole.out.split()[0]))
        as_json = b"".join([piece async for piece in client.export(chat.id, "json")])
        with pytest.raises(Missing):
            await client.fork(UUID(int=1))

    assert (fork.title, fork.forked_from_chat_id) == ("Owls (fork)", chat.id)
    assert json.loads(cut.out)["forked_from_message_id"] == first.id
    assert (bad.code, "Traceback" in bad.err) == (1, False)
    assert (page.code, page.out) == (0, "")
    assert (run.home / "owls.html").read_text().startswith("<!doctype html>")
    assert text.out.startswith("# Owls\n")
    assert (missing.code, nowhere.code, "Traceback" in nowhere.err) == (1, 1, False)
    assert not list(run.home.glob("none*"))
    assert [message["role"] for message in json.loads(as_json)["messages"]] == ["user", "assistant"]
