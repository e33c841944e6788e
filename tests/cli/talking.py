"""A server with a scripted model, and `chatd chat` as a process of one who talks to it."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.script import Answer, Call, Hold, Refuse, Say, Think, Turn
from cli.running import Finished, chatd
from cli.terminal import Terminal, terminal
from server.running import Running
from server.scripted import scripted_server

PATIENCE = 120
STYLES = re.compile(r"\x1b\[\d*m")
# The title of the window, the clipboard, a cleared screen, and text that is turned around.
ATTACK = "a\x1b]0;evil title\x07b\x1b]52;c;ZXZpbA==\x1b\\c\x1b[2Jd\x9b31me\u202ef\rg\x08h"


class Play:
    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.has_stumbled = False
        self.asked: list[Asked] = []

    def __call__(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        if asked.answers_a_call or any(name in str(asked.messages[-2:]) for name in ("find_owls", "evil")):
            return Turn(Say("There is no such tool."))
        match asked.last_text:
            case "think":
                return Turn(Think("Owls", " fly."), Say("They **do**", " fly.\n\n- at `night`"))
            case "wait":
                return Turn(Say("Once", " upon", " a time"), faults=[Hold(self.go_on, before_event=5)])
            case "use a tool":
                return Turn(Say("Let me see."), Call("find_owls", '{"where":', ' "here"}'))
            case "fail":
                return Refuse(401, "The key is wrong.")
            case "attack":
                return Turn(Think("\x1b[31mred"), Say(ATTACK), Call("evil\x1b[2J", '{"a": "\\u001b[31m"}'))
            case "stumble" if not self.has_stumbled:
                self.has_stumbled = True
                return Refuse(529, "Overloaded.")
            case "ponder":
                return Turn(Think(*["Hm. "] * 200), Say("Done."))
            case _:
                return Turn(Say("Hi."))


class Place(msgspec.Struct, frozen=True):
    url: str
    token: str
    home: Path
    play: Play
    running: Running

    @property
    def environ(self) -> dict[str, str]:
        return {"CHATD_URL": self.url, "CHATD_TOKEN": self.token, "XDG_CONFIG_HOME": str(self.home / "config")}

    async def run(self, *arguments: str, stdin: str = "") -> Finished:
        return await chatd("chat", *arguments, cwd=self.home, stdin=stdin, **self.environ)

    @asynccontextmanager
    async def at_terminal(self, *arguments: str, **environ: str) -> AsyncIterator[Terminal]:
        async with terminal("chat", *arguments, cwd=self.home, **(self.environ | environ)) as screen:
            yield screen

    async def begun(self, said: str = "hello") -> UUID:
        finished = await self.run(said)
        assert finished.code == 0, finished.err
        return id_in(finished.err)


def id_in(text: str) -> UUID:
    found = re.search(r"chatd chat ([0-9a-f-]{36})", text)
    assert found, text
    return UUID(found[1])


@asynccontextmanager
async def place(database: Any, tmp_path: Path) -> AsyncIterator[Place]:
    play = Play()
    async with asyncio.timeout(PATIENCE), scripted_server(database.dsn, tmp_path, play) as running:
        yield Place(running.api.url, running.owner.token, tmp_path, play, running)
