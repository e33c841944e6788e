"""/api/experimental/chats: chats as a whole."""

from typing import Annotated
from uuid import UUID

from litestar import Router, get, patch, post, put
from litestar.params import FromPath, JSONBody, QueryParameter

from chatd.core.chat_search import LONGEST
from chatd.core.errors import InvalidRequest, Validation
from chatd.server.chats.listing import Page
from chatd.server.routes.asking import AnyRequest, Ask, IdempotencyKey, TheAsk, find_user, problems
from chatd.wire import chats as wire
from chatd.wire.chat_requests import CreateChat, MarkRead, SubmitToolResults, UpdateChat, outputs_as_written

_TAG = ["chats"]
_DEFAULT_LIMIT = 50
_MOST_WORKSPACES = 25  # as many as a page of them shows
Search = Annotated[
    str,
    QueryParameter(
        max_length=LONGEST,
        description=(
            "Terms such as `title:plan archived:true has_unread:true status:running,error pr_status:open`; a value "
            "with spaces in quotes. `search:` looks for words in titles and messages, as web searches do: words, "
            "phrases, `or`, `-not`."
        ),
    ),
]
Labels = Annotated[list[str] | None, QueryParameter(description="`key:value`; a chat must have all of them.")]
Whose = Annotated[
    str,
    QueryParameter(max_length=64, description="Whose chats: `me`, a user's id or username, or `all` one may see."),
]
ChatLimit = Annotated[int, QueryParameter(ge=0, le=200, description="How many to return, up to 200; 0 is 50.")]
ChatOffset = Annotated[int, QueryParameter(ge=0, le=10_000, description="How many to leave out first.")]
AfterChat = Annotated[UUID | None, QueryParameter(description="The last chat of the page before.")]
WorkspaceIds = Annotated[
    str, QueryParameter(max_length=2000, description=f"Up to {_MOST_WORKSPACES} ids, with commas between them.")
]
PromptLimit = Annotated[int, QueryParameter(ge=0, le=2000, description="How many to return, up to 2000; 0 is 500.")]


@get("/", tags=_TAG, responses=problems(400, 401, 404))
async def list_chats(
    ask: TheAsk,
    q: Search = "",
    label: Labels = None,
    owner: Whose = "me",
    limit: ChatLimit = 0,
    offset: ChatOffset = 0,
    after_id: AfterChat = None,
) -> list[wire.Chat]:
    """Chats without those that agents began, which are in the `children` of theirs: pinned ones first, then the last
    active first."""
    page = Page(limit or _DEFAULT_LIMIT, offset, after_id)
    return await ask.chats.listing.roots(q=q, labels=label or [], owner_id=await _owner(ask, owner), page=page)


@post("/", tags=_TAG, responses=problems(400, 401, 404, 409, 413))
async def create_chat(data: JSONBody[CreateChat], ask: TheAsk, idempotency_key: IdempotencyKey = None) -> wire.Chat:
    """Begin a chat with a message. It runs at once. With an `Idempotency-Key` that has made a chat, that chat."""
    return await ask.chats.creating.create(ask.person, data, key=idempotency_key)


@get("/by-workspace", tags=_TAG, responses=problems(400, 401))
async def list_chats_by_workspace(ask: TheAsk, workspace_ids: WorkspaceIds = "") -> dict[UUID, UUID]:
    """For each of these workspaces the chat that was last active in it, if there is one that one may see."""
    return await ask.chats.listing.by_workspace(_ids(workspace_ids))


@get("/{chat:uuid}", tags=_TAG, responses=problems(401, 404))
async def get_chat(chat: FromPath[UUID], ask: TheAsk) -> wire.Chat:
    """The chat, without its messages."""
    return await ask.chats.reading.chat(chat)


@patch("/{chat:uuid}", tags=_TAG, status_code=204, responses=problems(400, 401, 403, 404, 409))
async def update_chat(chat: FromPath[UUID], data: JSONBody[UpdateChat], ask: TheAsk) -> None:
    """Rename, label, pin, archive, give it a workspace. A chat is archived with its children, and not while one of
    them is at work."""
    await ask.chats.changing.change(ask.person, chat, data)


@get("/{chat:uuid}/prompts", tags=_TAG, responses=problems(400, 401, 404))
async def list_prompts(chat: FromPath[UUID], ask: TheAsk, limit: PromptLimit = 0) -> wire.ChatPrompts:
    """What people have written in a chat, newest first."""
    return await ask.chats.reading.prompts(chat, limit=limit or 500)


@put("/{chat:uuid}/read", tags=_TAG, status_code=204, responses=problems(400, 401, 403, 404))
async def mark_read(chat: FromPath[UUID], data: JSONBody[MarkRead], ask: TheAsk) -> None:
    """Say how far one has read one's own chat. It never goes back."""
    await ask.chats.changing.mark_read(ask.person, chat, data)


@post("/{chat:uuid}/interrupt", tags=_TAG, status_code=200, responses=problems(401, 403, 404, 409))
async def interrupt_chat(chat: FromPath[UUID], ask: TheAsk) -> wire.Chat:
    """Stop what the chat does. What was written is kept."""
    return await ask.chats.steering.interrupt(chat)


@post("/{chat:uuid}/compact", tags=_TAG, status_code=200, responses=problems(400, 401, 403, 404, 409))
async def compact_chat(chat: FromPath[UUID], ask: TheAsk) -> wire.Chat:
    """Have the conversation summarised, so that it takes less of the model's context."""
    return await ask.chats.steering.compact(ask.person, chat)


@post("/{chat:uuid}/reconcile-invalid", tags=_TAG, status_code=200, responses=problems(401, 403, 404, 409))
async def reconcile_chat(chat: FromPath[UUID], ask: TheAsk) -> wire.Chat:
    """Repair a chat in a state that nothing leads out of. It is in error afterwards and can go on."""
    return await ask.chats.steering.reconcile(chat)


@post("/{chat:uuid}/tool-results", tags=_TAG, status_code=204, responses=problems(400, 401, 403, 404, 409))
async def submit_tool_results(
    chat: FromPath[UUID], data: JSONBody[SubmitToolResults], ask: TheAsk, request: AnyRequest
) -> None:
    """Post what the client's tools have given: for each call that the chat waits for, once."""
    await ask.chats.steering.submit_results(chat, data, outputs_as_written(await request.body()))


@post("/{chat:uuid}/title/regenerate", tags=_TAG, status_code=200, responses=problems(401, 403, 404, 409, 502))
async def regenerate_title(chat: FromPath[UUID], ask: TheAsk) -> wire.Chat:
    """Have a model make a new title, and take it."""
    return await ask.chats.retitling.regenerate(ask.person, chat)


@post("/{chat:uuid}/title/propose", tags=_TAG, status_code=200, responses=problems(401, 403, 404, 409, 502))
async def propose_title(chat: FromPath[UUID], ask: TheAsk) -> wire.ProposedTitle:
    """Have a model make a new title. Nothing is changed."""
    return await ask.chats.retitling.propose(ask.person, chat)


def _ids(text: str) -> list[UUID]:
    given = [each.strip() for each in text.split(",") if each.strip()]
    try:
        ids = [UUID(each) for each in given]
    except ValueError:
        ids = []
    if not ids or len(ids) > _MOST_WORKSPACES:
        rule = Validation("workspace_ids", f"1 to {_MOST_WORKSPACES} ids with commas between them")
        raise InvalidRequest("Check workspace_ids.", validations=[rule])
    return ids


async def _owner(ask: Ask, owner: str) -> UUID | None:
    """None for everyone. An id is not looked up: of who is not there, or not to be seen, there are no chats."""
    if owner in ("me", "all"):
        return ask.person.user_id if owner == "me" else None
    try:
        return UUID(owner)
    except ValueError:
        return (await find_user(ask, owner)).id


@put("/{chat:uuid}/context", tags=_TAG, responses=problems(401, 403, 404, 409, 502))
async def refresh_context(chat: FromPath[UUID], ask: TheAsk) -> wire.Chat:
    """Give the chat the instruction files and skills that its workspace has now, from its next turn on."""
    return await ask.chats.refreshing.refresh(ask.person, chat)


chats_router = Router(
    "/api/experimental/chats",
    route_handlers=[
        list_chats,
        create_chat,
        list_chats_by_workspace,
        get_chat,
        update_chat,
        list_prompts,
        mark_read,
        interrupt_chat,
        compact_chat,
        reconcile_chat,
        submit_tool_results,
        regenerate_title,
        propose_title,
        refresh_context,
    ],
)
