"""A chat with a real agent, whose repository is followed, and what is stored of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from agent.running import AgentProcess
from chatd.background import beside
from chatd.clock import Clock, SystemClock
from chatd.core.diff_status import LocalRefs
from chatd.core.secret import Secret
from chatd.diffs.keeping import DiffKeeper
from chatd.diffs.local import LocalDiffs
from chatd.store.owner_hints import OwnerEventKind, read_owner_event
from chatd.store.queries import ChatDiffStatus, GitProviderKind
from chatd.testing.git_host_server import TOKEN, GitHostServer
from chatd.workspaces.resolving import Resolved
from engine.deployment import new_id
from store.world import CIPHER
from workspaces.deployed import Deployed

PATIENCE = 30
REMOTES = {
    "https": "https://user:secret@github.test/team/project.git",
    "scp": "git@github.test:team/project.git",
    "ssh": "ssh://git@github.test:22/team/project",
}


def at(agent: AgentProcess) -> Resolved:
    return Resolved(
        workspace_id=new_id(), name="ws", address=agent.address, token=Secret(agent.token), template_name="test"
    )


async def status_of(here: Deployed, chat_id: UUID) -> ChatDiffStatus | None:
    return await here.sql.get_diff_status(chat_id=chat_id)


async def until(here: Deployed, chat_id: UUID, holds: Callable[[ChatDiffStatus], bool]) -> ChatDiffStatus:
    """The stored status, once that is so."""
    row: ChatDiffStatus | None = None
    try:
        async with asyncio.timeout(PATIENCE):
            while (row := await status_of(here, chat_id)) is None or not holds(row):
                await SystemClock().sleep(0.02, timer="test")
    except TimeoutError:
        raise AssertionError(f"it never was so: {row}") from None
    return row


def told_of(here: Deployed, chat_id: UUID) -> int:
    """How often lists were told of it."""
    events = [read_owner_event(hint.payload) for hint in here.hints.published if hint.topic.startswith("owner:")]
    return sum(event is not None and (event.kind, event.chat_id) == (OwnerEventKind.DIFF, chat_id) for event in events)


@asynccontextmanager
async def following(here: Deployed, keeper: DiffKeeper, clock: Clock | None = None) -> AsyncIterator[LocalDiffs]:
    local = LocalDiffs(keeper, clock or SystemClock())
    async with beside({"local": local.run()}):
        await asyncio.sleep(0)  # noqa: TID251 - it begins
        yield local


async def gone(local: LocalDiffs) -> None:
    """Until nothing is followed any more."""
    async with asyncio.timeout(PATIENCE):
        while local.followed:
            await SystemClock().sleep(0.01, timer="test")


async def add_provider(
    here: Deployed, server: GitHostServer, *, host: str = "github.test", kind: GitProviderKind = GitProviderKind.GITHUB
) -> UUID:
    id = new_id()
    url = server.github_url if kind is GitProviderKind.GITHUB else server.gitlab_url
    await here.sql.insert_git_provider(id=id, kind=kind, host=host, api_url=url, token=CIPHER.encrypt(Secret(TOKEN)))
    return id


async def add_status(here: Deployed, clock: Clock, **fields: Any) -> UUID:
    """A chat on a branch of a repository, as its workspace told it."""
    made = await here.chat()
    refs = LocalRefs(
        root="/r", branch="feature", head="1", origin="o", host="github.test", path="team/project", additions=1
    )
    await store_refs(here, clock, made.change.chat_id, msgspec.structs.replace(refs, **fields))
    return made.change.chat_id


async def store_refs(here: Deployed, clock: Clock, chat_id: UUID, refs: LocalRefs) -> None:
    await here.sql.upsert_diff_refs(
        chat_id=chat_id,
        git_root=refs.root,
        git_branch=refs.branch,
        git_head=refs.head,
        git_upstream=refs.upstream,
        git_remote_origin=refs.origin,
        git_host=refs.host,
        git_path=refs.path,
        ahead=refs.ahead,
        behind=refs.behind,
        additions=refs.additions,
        deletions=refs.deletions,
        changed_files=refs.changed_files,
        at=clock.now(),
    )


def folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path
