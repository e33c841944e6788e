"""argon2id off the event loop, a bounded number at a time: each takes 64 MB and some tens of milliseconds."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, TypeVar, TypeVarTuple

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from chatd.core.secret import Secret

Args = TypeVarTuple("Args")
Result = TypeVar("Result")

_AT_ONCE: Final = 2  # 128 MB of memory at most; logins beyond that wait their turn


class Passwords:
    def __init__(self, hasher: PasswordHasher, threads: ThreadPoolExecutor) -> None:
        self._hasher = hasher
        self._threads = threads
        self._nobody: str | None = None

    async def hash(self, password: Secret) -> str:
        return await self._run(self._hasher.hash, password.reveal())

    async def verify(self, stored: str | None, password: Secret) -> bool:
        """Whether it is the password. For an unknown user (None) the same work is done: the time tells nothing."""
        if stored is None:
            if self._nobody is None:
                self._nobody = await self._run(self._hasher.hash, "nobody's password")
            await self._run(self._matches, self._nobody, password.reveal())
            return False
        return await self._run(self._matches, stored, password.reveal())

    def is_outdated(self, stored: str) -> bool:
        """Whether the hash was made with weaker parameters than today's."""
        return self._hasher.check_needs_rehash(stored)

    def _matches(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False

    async def _run(self, call: Callable[[*Args], Result], *args: *Args) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *args)


@contextmanager
def open_passwords(hasher: PasswordHasher) -> Iterator[Passwords]:
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="passwords") as threads:
        yield Passwords(hasher, threads)
