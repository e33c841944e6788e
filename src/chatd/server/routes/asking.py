"""What a route is given with every request: the parts of the replica, who asks, where from.

A handler takes exactly one of them, `ask` or `visit`: Litestar resolves a single dependency directly, but runs several
in a task group, which costs more than the whole rest of a request.
"""

from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from litestar import Request
from litestar.di import NamedDependency, Provide
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import HeaderParameter, PathParameter, QueryParameter, SkipValidation

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.errors import NotFound, Unauthenticated
from chatd.core.request_keys import HEADER, LONGEST
from chatd.server.accounts import Accounts, Client
from chatd.server.chat_config import ChatConfig
from chatd.server.chats.chats import Chats
from chatd.server.download_links import DownloadLinks
from chatd.server.git_providers import GitProviders
from chatd.server.model_configs import ModelConfigs
from chatd.server.providers import Providers
from chatd.server.push import PushSubscribing
from chatd.server.versions import Versions
from chatd.server.workspaces.all_workspaces import AllWorkspaces
from chatd.store.queries import User
from chatd.store.store import Store
from chatd.wire.problem import Problem
from chatd.wire.users import BuildInfo

AnyRequest = Request[Any, Any, Any]
PageLimit = Annotated[int, QueryParameter(ge=1, le=100, description="How many to return, 1 to 100.")]
After = Annotated[UUID | None, QueryParameter(description="`next_after` of the page before.")]
UserRef = Annotated[str, PathParameter(description="A user's id or username, or `me`.", examples=[Example(value="me")])]
IdempotencyKey = Annotated[
    str | None,
    HeaderParameter(
        name=HEADER,
        min_length=1,
        max_length=LONGEST,
        description="A key of your own: a request that is sent again with it is done once.",
    ),
]

_MEANINGS = {
    400: "The request is wrong; `validations` says where.",
    401: "Sign in first.",
    403: "You may not do this.",
    404: "It does not exist, or you may not see it.",
    409: "It clashes with what is stored.",
    413: "The body is too large.",
    429: "Too many requests; `Retry-After` says when to try again.",
    502: "Another server did not do what was asked for: a model, or a push service.",
}


class RouteParts(msgspec.Struct, frozen=True):
    """What the routes of a replica need; `replica_app.py` makes it."""

    store: Store
    accounts: Accounts
    providers: Providers
    model_configs: ModelConfigs
    chat_config: ChatConfig
    chats: Chats
    links: DownloadLinks
    push: PushSubscribing
    git_providers: GitProviders
    workspaces: AllWorkspaces
    versions: Versions
    clock: Clock
    organization_id: UUID
    secure_cookies: bool
    build_info: BuildInfo


class Visit(RouteParts, frozen=True):
    """A request from anyone."""

    client: Client


class Ask(Visit, frozen=True):
    """A request from someone who is signed in; without a valid token the route answers 401."""

    person: Person


TheVisit = NamedDependency[SkipValidation[Visit]]
TheAsk = NamedDependency[SkipValidation[Ask]]


# In the state of a request: the fields of RouteParts.
PARTS: Final = "parts"


def route_dependencies() -> dict[str, Provide]:
    return {"visit": Provide(_visit, sync_to_thread=False), "ask": Provide(_ask, sync_to_thread=False)}


def _visit(request: AnyRequest) -> Visit:
    return Visit(**request.scope["state"][PARTS], client=_client(request))


def _ask(request: AnyRequest) -> Ask:
    state = request.scope["state"]
    person = state.get("person")
    if not isinstance(person, Person):
        raise Unauthenticated("Sign in first.", detail="Send a session or API token as `Authorization: Bearer …`.")
    return Ask(**state[PARTS], client=_client(request), person=person)


def problems(*statuses: int) -> dict[int, ResponseSpec]:
    """The errors a route documents; all have the one shape."""
    return {
        status: ResponseSpec(Problem, description=_MEANINGS[status], generate_examples=False) for status in statuses
    }


async def find_user(ask: Ask, ref: str) -> User:
    """The user a path means: `me`, an id, or a username."""
    if ref == "me":
        return await ask.store.get_user_by_id(id=ask.person.user_id)
    try:
        id = UUID(ref)
    except ValueError:
        user = await ask.store.get_user_by_username(username=ref) if ref.isprintable() else None
        if user is None:
            raise NotFound("User") from None
        return user
    return await ask.store.get_user_by_id(id=id)


async def find_user_id(ask: Ask, ref: str) -> UUID:
    """As find_user; oneself is known without being asked for, also to a token that may not read users."""
    return ask.person.user_id if ref == "me" else (await find_user(ask, ref)).id


def _client(request: AnyRequest) -> Client:
    return Client(request.client.host if request.client else "", request.headers.get("user-agent", ""))
