"""What hosts say of chats' pull requests: asked when it is due, by one replica, once for all chats on a branch.

A host that wants a pause gets it from every replica: that is stored. One that nobody can ask is never looked at.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from chatd.clock import Clock
from chatd.core.access import GIT_SYNC
from chatd.core.diff_status import (
    AFTER_FAILURE,
    AFTER_REFUSAL,
    LEASE,
    Place,
    ask_again_after,
    storable,
    unchanged_for,
)
from chatd.core.pull_requests import PullRequest
from chatd.diffs.hosts import StoredHosts
from chatd.diffs.keeping import Changed
from chatd.git_hosts.host import Branch, GitHost, HostAway, HostFailed, RateLimited, TokenRefused
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.queries import LeaseStaleDiffStatusesRow
from chatd.store.store import Store

TICK_SECONDS: Final = 10.0
BATCH: Final = 50  # of each host in one tick: some hundred requests, which is what a host allows in a few minutes
AT_ONCE: Final = 8  # repositories of a host; the session has as many connections to it
# All that a tick asks; what was not asked then waits for its lease to end. Shorter than the lease, so that nobody else
# asks meanwhile.
TICK_LONGEST: Final = LEASE.total_seconds() * 0.8
_log = get_logger("chatd.diffs")

Row = LeaseStaleDiffStatusesRow


class PullRequests:
    """Of a replica."""

    def __init__(self, store: Store, hosts: StoredHosts, clock: Clock, changed: Changed) -> None:
        self._store = store
        self._hosts = hosts
        self._clock = clock
        self._changed = changed
        self._due = asyncio.Event()

    def hurry(self) -> None:
        """Something may be due before the next tick."""
        self._due.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                async with self._clock.timeout(TICK_LONGEST, timer="pull requests"):
                    await self.tick()
            except Exception as error:  # noqa: BLE001 - the database is away, say; the next tick comes anyway
                _log.warning("pull requests can't be looked at", exc_info=error)
            await self._until_due()

    async def _until_due(self) -> None:
        """A second at least: what is due at once comes in bursts."""
        await self._clock.sleep(1.0, timer="diff ticks apart")
        try:
            async with self._clock.timeout(TICK_SECONDS - 1.0, timer="diff tick"):
                await self._due.wait()
        except TimeoutError:
            pass
        self._due.clear()

    async def tick(self) -> int:
        """Ask for what is due; how many statuses that was."""
        now = self._clock.now()
        with acting_as(GIT_SYNC):
            leased = await self._store.lease_stale_diff_statuses(leased_until=now + LEASE, at=now, max_rows=BATCH)
            due: dict[tuple[str, str], list[Row]] = defaultdict(list)
            for row in leased:
                if not row.is_archived:
                    due[row.git_host, row.git_path].append(row)
            if not due:
                return 0
            hosts = await self._hosts.current()
            slots: dict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(AT_ONCE))
            lost: dict[str, HostFailed] = {}

            async def ask(name: str, rows: Sequence[Row]) -> None:
                async with slots[name]:
                    await self._repository(name, hosts.of(name), rows, lost)

            async with asyncio.TaskGroup() as group:
                for (host, _), rows in due.items():
                    group.create_task(ask(host, rows), name=f"pull requests on {host}")
        return sum(map(len, due.values()))

    async def _repository(
        self, name: str, host: GitHost | None, rows: Sequence[Row], lost: dict[str, HostFailed]
    ) -> None:
        """The branches of one repository. Where one can't be asked for, the others are not asked for either. Hosts that
        are `lost` are not asked in this tick, and why."""
        left = list(rows)
        try:
            for place, same in _by_place(rows).items():
                if (failed := lost.get(name)) is not None:
                    raise failed
                if host is None:  # it was deleted just now
                    raise TokenRefused("Nobody has given a token for this host.")
                found = await host.pull_request(Branch(place.path, place.branch))
                await self._learned(place, same, found and storable(found))
                left = [row for row in left if row not in same]
        except RateLimited as limited:
            if name not in lost:
                lost[name] = limited
                _log.info("a git host wants a pause", host=name, until=limited.until.isoformat())
                await self._store.pause_git_host(host=name, until=limited.until)
            await self._postpone(left, limited.until)
        except HostFailed as failed:
            if isinstance(failed, HostAway):
                lost[name] = failed
            _log.info("a git host can't be asked", host=name, repository=rows[0].git_path, error=failed.message)
            wait = AFTER_REFUSAL if isinstance(failed, TokenRefused) else AFTER_FAILURE
            await self._postpone(left, self._clock.now() + wait)
        except Exception as error:  # noqa: BLE001 - the others are asked for all the same
            _log.warning("a pull request can't be kept", host=name, repository=rows[0].git_path, exc_info=error)
            await self._postpone(left, self._clock.now() + AFTER_FAILURE)

    async def _learned(self, place: Place, rows: Sequence[Row], found: PullRequest | None) -> None:
        now = self._clock.now()
        facts = _columns(found)
        for row in rows:
            is_news = any(getattr(row, name) != value for name, value in facts.items())
            age = timedelta() if is_news and found else unchanged_for(now, row.updated_at)
            stored = await self._store.update_pull_request(
                **facts,
                at=now,
                changed_at=now if is_news else row.updated_at,
                leased_until=row.stale_at,
                stale_at=now + ask_again_after(found.state if found else None, age),
                chat_id=row.chat_id,
                git_host=place.host,
                git_path=place.path,
                git_branch=place.branch,
            )
            if stored is not None and is_news:
                self._changed(row.owner_id, row.chat_id)

    async def _postpone(self, rows: Sequence[Row], until: datetime) -> None:
        if rows:
            ids = [row.chat_id for row in rows]
            await self._store.postpone_diff_statuses(chat_ids=ids, leased_until=rows[0].stale_at, stale_at=until)


def _by_place(rows: Sequence[Row]) -> Mapping[Place, list[Row]]:
    found: dict[Place, list[Row]] = defaultdict(list)
    for row in rows:
        found[Place(row.git_host, row.git_path, row.git_branch)].append(row)
    return found


def _columns(pull: PullRequest | None) -> dict[str, Any]:
    """Without one: as a row that was never asked for."""
    return {
        "url": pull.url if pull else "",
        "pull_request_state": pull.state.value if pull else "",
        "pull_request_title": pull.title if pull else "",
        "pull_request_draft": bool(pull and pull.is_draft),
        "pull_request_number": pull.number if pull else None,
        "changes_requested": bool(pull and pull.changes_requested),
        "approved": pull.approved if pull else None,
        "reviewer_count": pull.reviewer_count if pull else None,
        "commits": pull.commits if pull else None,
        "pull_request_additions": pull.additions if pull else None,
        "pull_request_deletions": pull.deletions if pull else None,
        "pull_request_files": pull.changed_files if pull else None,
        "author_login": pull.author_login if pull else "",
        "author_avatar_url": pull.author_avatar_url if pull else "",
        "base_branch": pull.base_branch if pull else "",
        "head_branch": pull.head_branch if pull else "",
    }
