"""/api/experimental/git-providers: hosts of repositories that are asked about pull requests, for owners (auditors
read)."""

from uuid import UUID

from litestar import Router, delete, get, patch, post
from litestar.params import FromPath, JSONBody

from chatd.observe.logs import get_logger
from chatd.server.routes.asking import Ask, TheAsk, problems
from chatd.wire import git_providers as wire

_TAG = ["git providers"]
_log = get_logger("chatd.server.git")


@get("/", tags=_TAG, responses=problems(401, 404))
async def list_git_providers(ask: TheAsk) -> list[wire.GitProvider]:
    """All git providers, by host. For owners and auditors."""
    return await ask.git_providers.all()


@post("/", tags=_TAG, responses=problems(400, 401, 404, 409))
async def create_git_provider(data: JSONBody[wire.CreateGitProvider], ask: TheAsk) -> wire.GitProvider:
    """Add a host of repositories. For owners. Its token is stored encrypted and never shown again."""
    made = await ask.git_providers.create(data)
    _note(ask, "a git provider was made", made.id)
    return made


@get("/{git_provider:uuid}", tags=_TAG, responses=problems(401, 404))
async def get_git_provider(git_provider: FromPath[UUID], ask: TheAsk) -> wire.GitProvider:
    """One git provider. For owners and auditors."""
    return await ask.git_providers.get(git_provider)


@patch("/{git_provider:uuid}", tags=_TAG, responses=problems(400, 401, 404, 409))
async def update_git_provider(
    git_provider: FromPath[UUID], data: JSONBody[wire.UpdateGitProvider], ask: TheAsk
) -> wire.GitProvider:
    """Change a git provider; what is left out stays, and `token: null` takes the token away. For owners."""
    changed = await ask.git_providers.change(git_provider, data)
    _note(ask, "a git provider was changed", git_provider)
    return changed


@delete("/{git_provider:uuid}", tags=_TAG, responses=problems(401, 404))
async def delete_git_provider(git_provider: FromPath[UUID], ask: TheAsk) -> None:
    """Remove a git provider; its token is forgotten. For owners."""
    await ask.git_providers.delete(git_provider)
    _note(ask, "a git provider was deleted", git_provider)


@post("/{git_provider:uuid}/test", tags=_TAG, status_code=200, responses=problems(401, 404))
async def test_git_provider(git_provider: FromPath[UUID], ask: TheAsk) -> wire.GitProviderTest:
    """Ask the host whose the stored token is, and say what came of it. For owners."""
    return await ask.git_providers.test(git_provider, ask.person)


def _note(ask: Ask, what: str, id: UUID) -> None:
    _log.info(what, id=str(id), by=ask.person.username, user_id=str(ask.person.user_id))


git_providers_router = Router(
    "/api/experimental/git-providers",
    route_handlers=[
        list_git_providers,
        create_git_provider,
        get_git_provider,
        update_git_provider,
        delete_git_provider,
        test_git_provider,
    ],
)
