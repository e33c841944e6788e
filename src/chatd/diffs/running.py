"""The diffs of a replica, running: repositories are followed while turns work on them, and hosts are asked."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import msgspec

from chatd.background import beside
from chatd.clock import Clock
from chatd.core.secret import Secret
from chatd.diffs.hosts import StoredHosts
from chatd.diffs.keeping import DiffKeeper
from chatd.diffs.local import LocalDiffs
from chatd.diffs.pull_requests import PullRequests
from chatd.git_hosts.asking import Counted, Session, open_session
from chatd.store.hints import Hints
from chatd.store.owner_hints import OwnerEvent, OwnerEventKind, owner_topic
from chatd.store.store import Store


class Diffs(msgspec.Struct, frozen=True):
    """`local` is told of turns; `keeper` stores what was seen elsewhere; `hosts` are for who wants to ask now."""

    local: LocalDiffs
    keeper: DiffKeeper
    pulls: PullRequests
    hosts: StoredHosts
    session: Session


@asynccontextmanager
async def running_diffs(
    store: Store,
    hints: Hints,
    *,
    clock: Clock,
    proxy: Secret | None = None,
    no_proxy: str = "",
    ca: Path | None = None,
    counted: Counted = lambda _kind, _outcome: None,
) -> AsyncGenerator[Diffs]:
    """For as long as the block. `counted` is told of each request to a host."""
    changed = telling(hints)
    async with open_session(clock, proxy=proxy, no_proxy=no_proxy, ca=ca, counted=counted) as session:
        hosts = StoredHosts(store, session)
        pulls = PullRequests(store, hosts, clock, changed)
        keeper = DiffKeeper(store, clock, changed, pulls.hurry)
        local = LocalDiffs(keeper, clock)
        async with beside({"local diffs": local.run(), "pull requests": pulls.run()}):
            yield Diffs(local, keeper, pulls, hosts, session)


def telling(hints: Hints) -> Callable[[UUID, UUID], None]:
    """Tells the lists of a chat's owner."""

    def told(owner_id: UUID, chat_id: UUID) -> None:
        hints.publish(owner_topic(owner_id), OwnerEvent(OwnerEventKind.DIFF, chat_id, None).encode())

    return told
