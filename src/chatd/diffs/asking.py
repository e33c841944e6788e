"""The diff of a chat, asked for now: its open pull request's, else what its workspace has."""

from typing import Final
from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.core.access import GIT_SYNC
from chatd.core.errors import ChatdError
from chatd.core.pull_requests import PullRequestState
from chatd.diffs.refs import refs_of
from chatd.diffs.running import Diffs
from chatd.git_hosts.host import Branch, HostFailed, RateLimited
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as
from chatd.store.queries import ChatDiffStatus
from chatd.store.store import Store
from chatd.wire.agent.git import DiffAgainst, DiffQuery, Repositories, RepositoriesQuery, RepositoryDiff
from chatd.workspaces.agents.client import AgentClient, agent_client
from chatd.workspaces.resolving import Resolver

MOST_BYTES: Final = 4 * 1024 * 1024
_log = get_logger("chatd.diffs")


class FoundDiff(msgspec.Struct, frozen=True, kw_only=True):
    """`url` is that of the pull request that it is of."""

    text: str
    is_complete: bool
    url: str = ""


class DiffFinder:
    def __init__(self, store: Store, diffs: Diffs, resolver: Resolver, clock: Clock) -> None:
        self._store = store
        self._diffs = diffs
        self._resolver = resolver
        self._clock = clock

    async def kind_of(self, host: str) -> str | None:
        """`github`, `gitlab`; None for a host that nobody has configured."""
        return (await self._diffs.hosts.current()).kind_of(host) if host else None

    async def find(self, chat_id: UUID, status: ChatDiffStatus | None) -> FoundDiff | None:
        """None where there is none, or nobody who could tell answers."""
        found = None
        try:
            if status is not None and not await self._is_paused(status.git_host):
                found = await self._of_pull_request(status)
        except RateLimited as limited:
            assert status is not None
            await self._pause(status.git_host, limited)
        except HostFailed as failed:
            _log.info("a pull request's diff can't be had", chat_id=str(chat_id), error=failed.message)
        if found is not None:
            return found
        try:
            return await self._of_workspace(chat_id, status)
        except ChatdError as error:
            _log.info("a workspace's diff can't be had", chat_id=str(chat_id), error=str(error))
            return None

    async def _is_paused(self, host: str) -> bool:
        with acting_as(GIT_SYNC):
            return await self._store.get_git_host_pause(host=host, at=self._clock.now()) is not None

    async def _pause(self, host: str, limited: RateLimited) -> None:
        _log.info("a git host wants a pause", host=host, until=limited.until.isoformat())
        with acting_as(GIT_SYNC):
            await self._store.pause_git_host(host=host, until=limited.until)

    async def _of_pull_request(self, status: ChatDiffStatus) -> FoundDiff | None:
        host = (await self._diffs.hosts.current()).of(status.git_host)
        if host is None or not status.git_branch:
            return None
        branch = Branch(status.git_path, status.git_branch)
        number, url = status.pull_request_number, status.url
        if number is None or status.pull_request_state != PullRequestState.OPEN:
            found = await host.pull_request(branch)  # a new one, perhaps
            if found is None or found.state is not PullRequestState.OPEN:
                return None
            number, url = found.number, found.url
            with acting_as(GIT_SYNC):
                await self._store.mark_diff_stale(chat_id=status.chat_id, at=self._clock.now())
            self._diffs.pulls.hurry()
        text = await host.diff(branch, number, most_bytes=MOST_BYTES)
        return None if text is None else FoundDiff(text=text, is_complete=True, url=url)

    async def _of_workspace(self, chat_id: UUID, status: ChatDiffStatus | None) -> FoundDiff | None:
        at = await self._resolver.resolve(chat_id)
        client = agent_client(at.address, at.token, self._clock)
        try:
            root = status.git_root if status is not None else await _root(client, chat_id)
            if not root:
                return None
            diff = await _diff(client, root, DiffAgainst.DEFAULT)
            if not diff.base:  # nothing to compare with but the last commit
                diff = await _diff(client, root, DiffAgainst.HEAD)
        finally:
            await client.close()
        return FoundDiff(text=diff.diff, is_complete=diff.is_complete)


async def _root(client: AgentClient, chat_id: UUID) -> str:
    seen = await client.get("/git/repositories", RepositoriesQuery(chat=chat_id), Repositories)
    refs = refs_of(seen)
    return "" if refs is None else refs.root


async def _diff(client: AgentClient, root: str, base: DiffAgainst) -> RepositoryDiff:
    return await client.get("/git/diff", DiffQuery(root=root, base=base, most_bytes=MOST_BYTES), RepositoryDiff)
