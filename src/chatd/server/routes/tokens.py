"""/api/v2/users/{user}/tokens and /sessions: what can act as a user, and how to stop it."""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from litestar import Router, delete, get, post
from litestar.params import FromPath, JSONBody, QueryParameter

from chatd.core.errors import NotFound
from chatd.server import convert
from chatd.server.routes.asking import Ask, PageLimit, TheAsk, UserRef, find_user_id, problems
from chatd.store.queries import TokenKind
from chatd.wire import users as wire

_TAG = ["tokens"]
Before = Annotated[UUID | None, QueryParameter(description="`next_before` of the page before.")]


async def _page(ask: Ask, user: str, kind: TokenKind, before: UUID | None, limit: int) -> wire.TokenPage:
    rows = await ask.store.list_tokens_by_user(
        user_id=await find_user_id(ask, user), kind=kind, before_id=before, max_rows=limit + 1
    )
    page = rows[:limit]
    return wire.TokenPage(
        tokens=[convert.token(row, current=ask.person.token_id) for row in page],
        next_before=page[-1].id if len(rows) > limit else None,
    )


async def _revoke(ask: Ask, user: str, token: UUID, kind: TokenKind) -> None:
    owner_id = await find_user_id(ask, user)
    row = await ask.store.get_token_by_id(id=token)
    if row.user_id != owner_id or row.kind is not kind:
        raise NotFound("Token")
    await ask.store.delete_token(id=token)
    ask.versions.changed("auth")


@get("/tokens", tags=_TAG, responses=problems(400, 401, 404))
async def list_tokens(user: UserRef, ask: TheAsk, before: Before = None, limit: PageLimit = 25) -> wire.TokenPage:
    """API tokens, newest first; expired ones are left out."""
    return await _page(ask, user, TokenKind.API, before, limit)


@post("/tokens", tags=_TAG, responses=problems(400, 401, 403, 404, 409))
async def create_token(user: UserRef, data: JSONBody[wire.CreateToken], ask: TheAsk) -> wire.CreatedToken:
    """Make an API token for oneself. `key` is shown this once. A token can't make one that may do more than itself."""
    owner_id = await find_user_id(ask, user)
    key, row = await ask.accounts.create_token(
        user_id=owner_id,
        name=data.name,
        scopes=data.scopes,
        lifetime=timedelta(hours=data.lifetime_hours),
        client=ask.client,
    )
    return wire.CreatedToken(key.reveal(), convert.token(row, current=ask.person.token_id))


@delete("/tokens/{token:uuid}", tags=_TAG, responses=problems(401, 404))
async def revoke_token(user: UserRef, token: FromPath[UUID], ask: TheAsk) -> None:
    """Revoke an API token; it stops working at once."""
    await _revoke(ask, user, token, TokenKind.API)


@get("/sessions", tags=_TAG, responses=problems(400, 401, 404))
async def list_sessions(user: UserRef, ask: TheAsk, before: Before = None, limit: PageLimit = 25) -> wire.TokenPage:
    """Where one is signed in, newest first; `current` marks the session that asks."""
    return await _page(ask, user, TokenKind.SESSION, before, limit)


@delete("/sessions/{token:uuid}", tags=_TAG, responses=problems(401, 404))
async def end_session(user: UserRef, token: FromPath[UUID], ask: TheAsk) -> None:
    """Sign out one session."""
    await _revoke(ask, user, token, TokenKind.SESSION)


@delete("/sessions", tags=_TAG, responses=problems(401, 404))
async def end_sessions(user: UserRef, ask: TheAsk) -> None:
    """Sign out everywhere else."""
    owner_id = await find_user_id(ask, user)
    await ask.store.delete_user_sessions(user_id=owner_id, except_id=ask.person.token_id)
    ask.versions.changed("auth")


tokens_router = Router(
    "/api/v2/users/{user:str}",
    route_handlers=[list_tokens, create_token, revoke_token, list_sessions, end_session, end_sessions],
)
