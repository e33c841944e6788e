"""How the published API document describes the streams, which stand in front of the routes that it is derived from.

OpenAPI has no words for WebSockets: the answer 101 says what its messages are, and 200 what server-sent events are.
"""

from typing import Any, Final

from chatd.core.sidebar import WatchKind
from chatd.server.git_stream.route import TEMPLATE as GIT_TEMPLATE
from chatd.server.stream.route import TEMPLATE
from chatd.server.watch.route import PATH
from chatd.server.workspaces.terminal_route import TEMPLATE as TERMINAL

_PROBLEM: Final = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_MEANINGS: Final = {
    "400": "The stream can't begin there; `validations` says why.",
    "401": "Sign in first.",
    "403": "You may not do this.",
    "404": "It does not exist, or you may not see it.",
    "409": "It has no workspace, or one that does not run.",
}
_TERMINAL_MEANINGS: Final = {
    "400": "The request is wrong, or no WebSocket; `validations` says where.",
    "403": "You can see the workspace and may not reach into it.",
    "409": "The workspace does not run, or too many terminals are open.",
    "502": "The workspace's agent can't be reached.",
}
_EVENTS: Final = (
    *("history_reset", "message", "queue_update", "status", "error", "action_required", "retry", "preview_reset"),
    "message_part",
)
_SCHEMAS: Final[dict[str, Any]] = {
    "StreamEvent": {
        "type": "object",
        "description": "One event of a chat's stream, with a field named as its type. Ignore types you don't know.",
        "properties": {
            "id": {"type": "string", "description": "Where to go on after it; opaque. Live output of tools has none."},
            "type": {"type": "string", "examples": list(_EVENTS)},
            "chat_id": {"type": "string", "format": "uuid"},
        },
        "required": ["type", "chat_id"],
    },
    "WatchEvent": {
        "type": "object",
        "description": "One change in a list of chats, and the chat as it is by then.",
        "properties": {
            "kind": {"type": "string", "examples": [kind.value for kind in WatchKind]},
            "chat": {"$ref": "#/components/schemas/Chat"},
        },
        "required": ["kind", "chat"],
    },
    "GitEvent": {
        "type": "object",
        "description": "What has changed in the repositories of a chat's workspace; the first event has all of them.",
        "properties": {
            "type": {"type": "string", "const": "changes"},
            "scanned_at": {"type": "string", "format": "date-time"},
            "repositories": {"type": "array", "items": {"type": "object"}},
            "removed": {"type": "array", "items": {"type": "string"}, "description": "Roots that are gone."},
        },
        "required": ["type", "scanned_at", "repositories", "removed"],
    },
}


def add_streams(document: dict[str, Any]) -> None:
    """Their paths and schemas."""
    document["components"]["schemas"] |= _SCHEMAS
    document["paths"][TEMPLATE] = {
        "get": _operation(
            "StreamChat",
            "The chat, live: everything there is, then what happens, as it happens.",
            "Each message is a JSON array of `StreamEvent`; an empty one is a sign of life.",
            "StreamEvent",
            ("400", "401", "404"),
            [
                _parameter("path", "chat", {"type": "string", "format": "uuid"}, "The chat's id.", required=True),
                _parameter("query", "after", {"type": "string"}, "The id of the last event that you have."),
                _parameter(
                    "query",
                    "after_id",
                    {"type": "integer", "minimum": 0},
                    "The id of the newest message that you have, where there is no event.",
                ),
                _parameter("header", "Last-Event-ID", {"type": "string"}, "As `after`, which it goes before."),
            ],
        )
    }
    document["paths"][GIT_TEMPLATE] = {
        "get": _operation(
            "StreamGit",
            "The repositories of the chat's workspace, live: branches, changes, and the diff of what is not committed."
            " For the chat's owner.",
            "Each message is a `GitEvent`, or an empty object: a sign of life.",
            "GitEvent",
            ("401", "403", "404", "409"),
            [_parameter("path", "chat", {"type": "string", "format": "uuid"}, "The chat's id.", required=True)],
        )
    }
    document["paths"][PATH] = {
        "get": _operation(
            "WatchChats",
            "What changes in one's own chats, live.",
            "Each message is a `WatchEvent`, or an empty object: a sign of life.",
            "WatchEvent",
            ("401",),
            [],
        )
    }

    document["paths"][TERMINAL] = {"get": _terminal()}


def _terminal() -> dict[str, Any]:
    uuid = {"type": "string", "format": "uuid"}
    cells = {"type": "integer", "minimum": 1, "maximum": 1000}
    return {
        "tags": ["workspaces"],
        "operationId": "OpenTerminal",
        "summary": "OpenTerminal",
        "description": "A terminal in a workspace, as a WebSocket: a login shell, or a command.",
        "parameters": [
            _parameter("path", "workspace", uuid, "The workspace's id.", required=True),
            _parameter("query", "reconnect", uuid, "An id of your own: the same one is the same terminal again."),
            _parameter("query", "width", cells, "Columns; 80 unless told."),
            _parameter("query", "height", cells, "Rows; 24 unless told."),
            _parameter("query", "command", {"type": "string", "maxLength": 8192}, "What to run instead of a shell."),
        ],
        "responses": {
            "101": {
                "description": (
                    "Binary messages are bytes of the terminal, both ways; an empty one is a sign of life and comes at "
                    "least every 25 seconds. Text messages are JSON: to the server "
                    '`{"type": "resize", "columns": 80, "rows": 24}`; from it `{"type": "exit", "exit_code": 0}`, the '
                    'last one, and `{"type": "skipped", "bytes": 1}` or `{"type": "dropped", "bytes": 1}` for what was '
                    "lost of the output or of the input."
                )
            },
            **{
                status: {"description": meaning, "content": _PROBLEM}
                for status, meaning in {**_MEANINGS, **_TERMINAL_MEANINGS}.items()
            },
        },
        "deprecated": False,
    }


def _operation(
    id: str, what: str, messages: str, event: str, refusals: tuple[str, ...], parameters: list[dict[str, Any]]
) -> dict[str, Any]:
    sent = {
        "description": f"Server-sent events, without end: the data of each is a `{event}`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
    return {
        "tags": ["chats"],
        "operationId": id,
        "summary": id,
        "description": f"{what} Over WebSocket, or as server-sent events.",
        "parameters": parameters,
        "responses": {
            "101": {"description": f"Over WebSocket, without end. {messages}"},
            "200": sent,
            **{status: {"description": _MEANINGS[status], "content": _PROBLEM} for status in refusals},
        },
        "deprecated": False,
    }


def _parameter(where: str, name: str, schema: dict[str, Any], what: str, *, required: bool = False) -> dict[str, Any]:
    return {"in": where, "name": name, "schema": schema, "description": what, "required": required}
