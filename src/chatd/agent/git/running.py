"""Runs git so that nothing of a repository runs with it, within bounds of time and output.

A repository can name programs in its configuration and its attributes: hooks, a monitor of files, drivers of diffs,
text converters, filters, pagers, helpers for passwords, remotes that are asked for what is missing. All of that is
switched off here; filters one by one, by the names that the configuration has (`Repository` reads them). Submodules
are looked at from outside only, because git would start another git in them, without any of this.
"""

import asyncio
import errno
import os
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from chatd.agent.children import Child, Children
from chatd.agent.refusals import Refused
from chatd.clock import Clock

MOST_AT_ONCE: Final = 3  # processes; the workspace is there for other things
MOST_OUTPUT_BYTES: Final = 8 * 1024 * 1024  # of one run: 100,000 files have about as much
SECONDS: Final = 15.0  # for one run; a repository that needs longer is not looked at
_MOST_ERROR_BYTES: Final = 4096
_READ_BYTES: Final = 64 * 1024

Config = tuple[tuple[str, str], ...]

_SETTINGS: Final[Config] = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("core.askPass", "true"),
    ("core.quotePath", "false"),
    ("core.bigFileThreshold", "8m"),  # larger files are not read into memory to compare them
    ("credential.helper", ""),
    ("diff.external", ""),
    ("protocol.allow", "never"),
    ("safe.directory", "*"),  # nothing of a repository runs, whoever owns it
    ("submodule.recurse", "false"),
)
_ENVIRONMENT: Final[Mapping[str, str]] = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",  # looking must not write, for whoever watches would see it
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # and for a git that does not know the line above
    "GIT_TRACE2": "0",
    "GIT_TRACE2_EVENT": "0",
    "GIT_TRACE2_PERF": "0",
}


class Ran(msgspec.Struct, frozen=True):
    """Not `is_complete`: there was more output than is taken, and git was ended."""

    code: int
    output: bytes
    errors: str
    is_complete: bool

    @property
    def line(self) -> str:
        return self.output.decode("utf-8", "surrogateescape").removesuffix("\n")


class GitFailed(Exception):
    """It took too long, or did not do what was asked. The text is for people."""


class Git:
    """The git of the workspace."""

    def __init__(self, children: Children, clock: Clock, *, home: Path, inherited: Mapping[str, str]) -> None:
        self._children = children
        self._clock = clock
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)
        self._environment = {
            **_ENVIRONMENT,
            "PATH": inherited.get("PATH", os.defpath),
            "HOME": str(home),
        }

    async def run(
        self,
        root: bytes,
        *arguments: str | bytes,
        settings: Iterable[tuple[str, str]] = (),
        expect: Iterable[int] = (0,),
        most_bytes: int = MOST_OUTPUT_BYTES,
    ) -> Ran:
        """Raises GitFailed for another exit code than those expected; Refused when there is no git."""
        env = {**self._environment, **_as_environment((*_SETTINGS, *settings))}
        async with self._turns:
            try:
                child = self._children.start_apart(["git", "--no-pager", *arguments], env=env, workdir=root)
            except OSError as error:
                if error.errno == errno.ENOENT and error.filename != root:
                    raise Refused(
                        "There is no git in this workspace.",
                        status=501,
                        detail="Install it, and this works at once.",
                        kind="git_missing",
                    ) from error
                raise GitFailed(f"git can't be started there: {error.strerror}") from error
            ran = await self._collected(child, most_bytes)
        if ran.is_complete and ran.code not in expect:
            raise GitFailed(ran.errors.strip() or f"git ended with {ran.code}")
        return ran

    async def _collected(self, child: Child, most_bytes: int) -> Ran:
        assert child.errors is not None
        output = _Reading(child.output, most_bytes)
        errors = _Reading(child.errors, _MOST_ERROR_BYTES)
        try:
            async with self._clock.timeout(SECONDS, timer="git"):
                await output.ended.wait()
                if output.is_over:
                    _kill(child)
                await asyncio.wait([child.exited])
        except TimeoutError:
            raise GitFailed(f"git took longer than {SECONDS:g} seconds") from None
        finally:
            _kill(child)
            errors.read_what_is_there()
            output.close()
            errors.close()
        said = bytes(errors.content).decode("utf-8", "replace")
        return Ran(child.exited.result(), bytes(output.content), said, is_complete=not output.is_over)


class _Reading:
    """What comes out of a pipe, up to a bound. `ended`: no more comes, or no more is wanted."""

    def __init__(self, descriptor: int, most: int) -> None:
        self.content = bytearray()
        self.ended = asyncio.Event()
        self.is_over = False
        self._descriptor = descriptor
        self._most = most
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(descriptor, self._read)

    def read_what_is_there(self) -> None:
        while not self.ended.is_set():
            before = len(self.content)
            self._read()
            if len(self.content) == before:
                return

    def close(self) -> None:
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        room = self._most - len(self.content)
        self.content += chunk[:room]
        if not chunk or len(chunk) > room:
            self.is_over = bool(chunk)
            self._loop.remove_reader(self._descriptor)
            self.ended.set()


def _kill(child: Child) -> None:
    """The whole group, while it is surely ours: as long as nobody has reaped its leader."""
    if not child.exited.done():
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _as_environment(settings: Config) -> dict[str, str]:
    """By the environment, because on a command line a name with = in it would be taken for another."""
    numbered = {"GIT_CONFIG_COUNT": str(len(settings))}
    for place, (key, value) in enumerate(settings):
        numbered[f"GIT_CONFIG_KEY_{place}"] = key
        numbered[f"GIT_CONFIG_VALUE_{place}"] = value
    return numbered
