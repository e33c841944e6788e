"""The hosts of repositories that administrators configure, and what a host says to its token."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

import asyncpg
from msgspec import UNSET

from chatd.clock import Clock
from chatd.core.access import GIT_SYNC, Action, Actor, Kind, Resource, may
from chatd.core.errors import Conflict, InvalidRequest, NotAuthorized, NotFound, Validation
from chatd.core.git_host_kind import HostKind
from chatd.core.git_provider_checks import check_api_url, check_token, checked_host
from chatd.core.model_checks import same_address
from chatd.core.secret import Secret
from chatd.diffs.hosts import config_of
from chatd.git_hosts.asking import Session
from chatd.git_hosts.host import HostFailed
from chatd.git_hosts.hosts import host_of, usual_api_url
from chatd.minting import uuid7
from chatd.store.actor import acting_as
from chatd.store.constraints import UniqueConstraint
from chatd.store.queries import GitProviderKind, ListGitProvidersRow
from chatd.store.store import Store
from chatd.wire import git_providers as wire


class GitProviders:
    """What is changed is noticed by every replica when it next asks a host; `changed` lets this one do so soon."""

    def __init__(self, store: Store, session: Session, clock: Clock, changed: Callable[[], None]) -> None:
        self._store = store
        self._session = session
        self._clock = clock
        self._on_change = changed

    async def all(self) -> list[wire.GitProvider]:
        return [_shown(row) for row in await self._store.list_git_providers()]

    async def get(self, id: UUID) -> wire.GitProvider:
        return _shown(await _get(self._store, id))

    async def create(self, asked: wire.CreateGitProvider) -> wire.GitProvider:
        host = checked_host(asked.host)
        url = asked.api_url or usual_api_url(asked.kind, host)
        check_api_url(url)
        id = uuid7(self._clock.now())
        with _taken_host_refused():
            await self._store.insert_git_provider(
                id=id, kind=GitProviderKind(asked.kind), host=host, api_url=url, token=_secret(asked.token)
            )
        return await self._changed(id)

    async def change(self, id: UUID, asked: wire.UpdateGitProvider) -> wire.GitProvider:
        async with self._store.transaction() as tx:
            row = await _get(tx, id)
            kind = HostKind(row.kind) if asked.kind is UNSET else asked.kind
            host = row.host if asked.host is UNSET else checked_host(asked.host)
            url = row.api_url
            if asked.api_url is not UNSET or (kind, host) != (HostKind(row.kind), row.host):
                url = (None if asked.api_url is UNSET else asked.api_url) or usual_api_url(kind, host)
            check_api_url(url)
            if row.has_token and asked.token is UNSET and not same_address(row.api_url, url):
                raise InvalidRequest(
                    "The stored token was given for another server.",
                    detail="Give the token again together with the new address, or take it away with null.",
                    validations=[Validation("token", "needed when the API is on another server")],
                )
            with _taken_host_refused():
                await tx.update_git_provider(id=id, kind=GitProviderKind(kind), host=host, api_url=url)
            if asked.token is not UNSET:
                await tx.update_git_provider_token(id=id, token=_secret(asked.token))
        return await self._changed(id)

    async def delete(self, id: UUID) -> None:
        """What was learned from it stays, and is not asked for again."""
        if not await self._store.delete_git_provider(id=id):
            raise NotFound("Git provider")

    async def test(self, id: UUID, actor: Actor) -> wire.GitProviderTest:
        """Ask the host whose the stored token is."""
        if not may(actor, Action.UPDATE, Resource(Kind.GIT_PROVIDER)):
            raise NotAuthorized(action=Action.UPDATE, resource=Kind.GIT_PROVIDER)
        await _get(self._store, id)
        with acting_as(GIT_SYNC):
            rows = await self._store.list_git_providers_with_tokens()
        config = next((config_of(row) for row in rows if row.id == id), None)
        if config is None:
            return wire.GitProviderTest(ok=False, message="There is no token. Give one first.")
        try:
            account = await host_of(self._session, config).account()
        except HostFailed as failed:
            return wire.GitProviderTest(ok=False, message=failed.message)
        return wire.GitProviderTest(ok=True, message=f"{config.host} knows the token of {account}.", account=account)

    async def _changed(self, id: UUID) -> wire.GitProvider:
        """A pause was for the token before."""
        row = await _get(self._store, id)
        with acting_as(GIT_SYNC):
            await self._store.resume_git_host(host=row.host)
        self._on_change()
        return _shown(row)


@contextmanager
def _taken_host_refused() -> Iterator[None]:
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name != UniqueConstraint.GIT_PROVIDERS_HOST_KEY:
            raise
        taken = Validation("host", "configured already")
        raise Conflict("That host is configured already.", validations=[taken]) from error


async def _get(store: Store, id: UUID) -> ListGitProvidersRow:
    row = next((row for row in await store.list_git_providers() if row.id == id), None)
    if row is None:
        raise NotFound("Git provider")
    return row


def _secret(token: str | None) -> Secret | None:
    if token is None:
        return None
    check_token(token)
    return Secret(token)


def _shown(row: ListGitProvidersRow) -> wire.GitProvider:
    return wire.GitProvider(
        id=row.id,
        kind=HostKind(row.kind),
        host=row.host,
        api_url=row.api_url,
        has_token=row.has_token,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
