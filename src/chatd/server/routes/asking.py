"""What every route needs to know of its request: the person who asks, where from, and whom a path means."""

from typing import Annotated, Any
from uuid import UUID

from litestar import Request
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import PathParameter, QueryParameter, SkipValidation

from chatd.clock import Clock
from chatd.core.access import Person
from chatd.core.errors import NotFound, Unauthenticated
from chatd.server.accounts import Accounts, Client
from chatd.server.versions import Versions
from chatd.store.queries import User
from chatd.store.store import Store
from chatd.wire.problem import Problem
from chatd.wire.users import BuildInfo

AnyRequest = Request[Any, Any, Any]

# What `app.py` hands to handlers by name. Litestar need not validate our own objects.
TheStore = NamedDependency[SkipValidation[Store]]
TheAccounts = NamedDependency[SkipValidation[Accounts]]
TheVersions = NamedDependency[SkipValidation[Versions]]
TheClock = NamedDependency[SkipValidation[Clock]]
ThePerson = NamedDependency[SkipValidation[Person]]
TheClient = NamedDependency[SkipValidation[Client]]
OrganizationId = NamedDependency[SkipValidation[UUID]]
SecureCookies = NamedDependency[SkipValidation[bool]]
TheBuildInfo = NamedDependency[SkipValidation[BuildInfo]]

PageLimit = Annotated[int, QueryParameter(ge=1, le=100, description="How many to return, 1 to 100.")]
UserRef = Annotated[str, PathParameter(description="A user's id or username, or `me`.", examples=[Example(value="me")])]

_MEANINGS = {
    400: "The request is wrong; `validations` says where.",
    401: "Sign in first.",
    403: "You may not do this.",
    404: "It does not exist, or you may not see it.",
    409: "It clashes with what is stored.",
    413: "The body is too large.",
    429: "Too many requests; `Retry-After` says when to try again.",
}


def problems(*statuses: int) -> dict[int, ResponseSpec]:
    """The errors a route documents; all have the one shape."""
    return {
        status: ResponseSpec(Problem, description=_MEANINGS[status], generate_examples=False) for status in statuses
    }


def asking_person(request: AnyRequest) -> Person:
    """The signed-in person, or 401. A dependency: a handler that takes `person` is closed to strangers."""
    person = request.scope["state"].get("person")
    if not isinstance(person, Person):
        raise Unauthenticated("Sign in first.", detail="Send a session or API token as `Authorization: Bearer …`.")
    return person


def asking_client(request: AnyRequest) -> Client:
    return Client(request.client.host if request.client else "", request.headers.get("user-agent", ""))


async def find_user(store: Store, person: Person, ref: str) -> User:
    """The user a path means: `me`, an id, or a username."""
    if ref == "me":
        return await store.get_user_by_id(id=person.user_id)
    try:
        id = UUID(ref)
    except ValueError:
        user = await store.get_user_by_username(username=ref) if ref.isprintable() else None
        if user is None:
            raise NotFound("User") from None
        return user
    return await store.get_user_by_id(id=id)
