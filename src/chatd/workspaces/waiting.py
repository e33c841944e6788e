"""Waiting for a build to end: woken by hints, and looking now and then because hints get lost."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from uuid import UUID

from chatd.clock import Clock
from chatd.core.errors import NotFound
from chatd.core.workspaces.limits import BUILD_SECONDS, MOST_LOG_LINES
from chatd.store.hints import Gap, Hint, Hints
from chatd.store.queries import WorkspaceBuild
from chatd.store.store import Store
from chatd.workspaces.build_hints import build_topic

LOOK_SECONDS: Final = 5.0  # when no hint comes; those who wait are few
WAIT_SECONDS: Final = 2 * BUILD_SECONDS  # for its turn, and for itself


async def wait_build(
    store: Store,
    hints: Hints,
    clock: Clock,
    build_id: UUID,
    *,
    seconds: float = WAIT_SECONDS,
    said: Callable[[str], None] | None = None,
) -> WorkspaceBuild:
    """The build when it is over; or as it is after `seconds`. `said` gets each line of its log. Raises NotFound for one
    that the actor may not see."""
    moved = asyncio.Event()

    def told(_: Hint | Gap) -> None:
        moved.set()

    until = clock.monotonic() + seconds
    last = 0
    subscription = hints.subscribe(build_topic(build_id), told)
    try:
        while True:
            moved.clear()
            build = await store.get_workspace_build(id=build_id)
            if build is None:
                raise NotFound("Build")
            if said is not None:
                last = await _tell(store, build_id, last, said)
            left = until - clock.monotonic()
            if build.status.is_over or left <= 0:
                return build
            with suppress(TimeoutError):
                async with clock.timeout(min(left, LOOK_SECONDS), timer="build-wait"):
                    await moved.wait()
    finally:
        subscription.close()


async def _tell(store: Store, build_id: UUID, last: int, said: Callable[[str], None]) -> int:
    """What was said since the line with this id; the id of the last one now."""
    for line in await store.list_build_logs(build_id=build_id, after_id=last, max_rows=MOST_LOG_LINES):
        said(line.line)
        last = line.id
    return last
