"""/api/v2/users/login, /logout and /first: the ways in and out."""

from litestar import Response, Router, get, post
from litestar.datastructures import Cookie
from litestar.params import JSONBody

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.secret import Secret
from chatd.server import convert
from chatd.server.middleware.authentication import session_cookie_name
from chatd.server.routes.asking import TheAsk, TheVisit, problems
from chatd.wire import users as wire

_TAG = ["login"]


def session_cookie(key: str, *, seconds: int, secure: bool) -> Cookie:
    """HttpOnly, and Lax: a link from elsewhere opens the app signed in, a form posted from elsewhere is not."""
    return Cookie(
        session_cookie_name(secure), value=key, path="/", httponly=True, samesite="lax", secure=secure, max_age=seconds
    )


@get("/first", tags=_TAG)
async def first_user_state(visit: TheVisit) -> wire.FirstUserState:
    """Whether there is a user at all. While not, `POST /api/v2/users/first` makes the first one, an owner."""
    return wire.FirstUserState(exists=await visit.accounts.has_any_user())


@post("/first", tags=_TAG, responses=problems(400, 403, 409, 429))
async def create_first_user(data: JSONBody[wire.CreateFirstUser], visit: TheVisit) -> wire.User:
    """Make the owner of an empty deployment, with the one-time code that the server's terminal shows."""
    row = await visit.accounts.create_first_user(
        code=Secret(data.code),
        email=data.email,
        username=data.username,
        display_name=data.display_name,
        password=Secret(data.password),
        client=visit.client,
    )
    return convert.user(row, visit.organization_id)


@post("/login", tags=_TAG, responses=problems(400, 401, 429))
async def log_in(data: JSONBody[wire.Login], visit: TheVisit) -> Response[wire.LoggedIn]:
    """Open a session: the token is in the answer, and in a cookie for browsers."""
    login = data.login or data.email
    if not login:
        raise InvalidRequest("Check login.", validations=[Validation("login", "an email address or a username")])
    signed_in = await visit.accounts.sign_in(login=login, password=Secret(data.password), client=visit.client)
    key = signed_in.key.reveal()
    lifetime = int((signed_in.token.expires_at - signed_in.token.created_at).total_seconds())
    return Response(
        wire.LoggedIn(key, signed_in.token.expires_at, convert.user(signed_in.user, visit.organization_id)),
        cookies=[session_cookie(key, seconds=lifetime, secure=visit.secure_cookies)],
    )


@post("/logout", tags=_TAG, status_code=204, responses=problems(401))
async def log_out(ask: TheAsk) -> Response[None]:
    """End this session (or revoke the API token that asks)."""
    assert ask.person.token_id is not None
    await ask.store.delete_token(id=ask.person.token_id)
    ask.versions.changed("auth")
    return Response(None, status_code=204, cookies=[session_cookie("", seconds=0, secure=ask.secure_cookies)])


login_router = Router("/api/v2/users", route_handlers=[first_user_state, create_first_user, log_in, log_out])
