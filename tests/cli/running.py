"""The `chatd` command as a process of its own."""

import asyncio
import os
import re
import resource
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from chatd.store.keeper.child import end_with_parent

WAIT_SECONDS = 60.0  # of real time, for what takes a second on an idle machine
PASSWORD = "correct horse battery staple"
VENDORS = ("ANTHROPIC_", "OPENAI_", "GEMINI_")


class Finished(msgspec.Struct, frozen=True):
    code: int
    out: str
    err: str


async def chatd(*arguments: str, cwd: Path, stdin: str = "", **environ: str) -> Finished:
    """Run a command to its end."""
    return await _finished(*arguments, cwd=cwd, stdin=stdin, environ=environ)


async def chatd_within(most_memory: int, *arguments: str, cwd: Path, **environ: str) -> Finished:
    """The same, failing where it wants more than so many bytes."""
    return await _finished(*arguments, cwd=cwd, stdin="", environ=environ, most_memory=most_memory)


async def _finished(
    *arguments: str, cwd: Path, stdin: str, environ: dict[str, str], most_memory: int | None = None
) -> Finished:
    process = await _start(*arguments, cwd=cwd, environ=environ, stderr=asyncio.subprocess.PIPE)
    if most_memory is not None:
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (most_memory, most_memory))
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            out, err = await process.communicate(stdin.encode(errors="surrogateescape"))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Finished(process.returncode or 0, out.decode(), err.decode())


class Server:
    """`chatd serve`, and what it said."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said = ""
        self.url = ""
        self.ready = asyncio.Event()
        self._has_said = asyncio.Event()

    @property
    def setup_code(self) -> str:
        found = re.search(r"/setup#([A-Z0-9-]+)", self.said)
        assert found, self.said
        return found[1]

    async def listen(self) -> None:
        """Read what it says until its end, so that it never waits for us."""
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.said += line.decode()
            self._has_said.set()
            if found := re.search(r"is ready: (http\S+)", line.decode()):
                self.url = found[1]
            if "stop   Ctrl-C" in line.decode():
                self.ready.set()
        self.ready.set()

    async def until_said(self, text: str) -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            while text not in self.said:
                self._has_said.clear()
                await self._has_said.wait()

    async def call(self, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with (
            aiohttp.ClientSession() as http,
            http.request(method, f"{self.url}{path}", json=body, headers=headers) as response,
        ):
            return response.status, await response.json()

    async def until_well(self) -> None:
        """Until the server answers that it can serve again."""
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                with suppress(aiohttp.ClientError):
                    if (await self.call("GET", "/readyz"))[0] == 200:
                        return

    async def create_first_user(self) -> str:
        body = {"code": self.setup_code, "email": "ada@example.com", "username": "ada", "password": PASSWORD}
        assert (await self.call("POST", "/api/v2/users/first", body))[0] == 201
        return await self.sign_in()

    async def sign_in(self) -> str:
        status, body = await self.call("POST", "/api/v2/users/login", {"login": "ada", "password": PASSWORD})
        assert status == 201, body
        return body["session_token"]

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        self.process.send_signal(number)

    async def ended(self) -> int:
        async with asyncio.timeout(WAIT_SECONDS):
            return await self.process.wait()


@asynccontextmanager
async def serving(data_dir: Path, *arguments: str, **environ: str) -> AsyncIterator[Server]:
    """A server of this data directory on any port; told to stop at the end if it still runs."""
    process = await _start(
        *("serve", "--port", "0", "--data-dir", str(data_dir), *arguments),
        cwd=data_dir.parent,
        environ=environ,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdin is not None
    process.stdin.close()
    server = Server(process)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server.listen())
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await server.ready.wait()
            assert server.url, server.said
            yield server
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await server.ended()


async def _start(*arguments: str, cwd: Path, environ: dict[str, str], stderr: int) -> asyncio.subprocess.Process:
    # Neither settings nor keys of whoever runs the tests.
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CHATD_", *VENDORS))}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "chatd",
        *arguments,
        cwd=cwd,
        env={**clean, **environ},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
        preexec_fn=end_with_parent(),  # a test run that is killed leaves no server behind
    )


def processes_of(data_dir: Path) -> dict[int, str]:
    """Every live process whose command line names the data directory."""
    found: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            if str(data_dir) in command and state != "Z":
                found[int(entry.name)] = command
    return found


def parent_of(pid: int) -> int:
    """0 when the process has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


async def until_ended(pid: int) -> None:
    """Until the kernel says that a process, anyone's, has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(handle, ended.set)
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            await ended.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)


async def until_no_process_of(data_dir: Path) -> None:
    while found := processes_of(data_dir):
        for pid in found:
            await until_ended(pid)
