"""The table of all routes in docs/api.md: from the published document, with who may call each of them."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from chatd.server.app import application
from chatd.server.openapi import complete

METHODS: Final = ("get", "post", "put", "patch", "delete")
_CHATS: Final = "/api/experimental/chats"
_TEMPLATES: Final = "/api/experimental/templates"
_WORKSPACES: Final = "/api/experimental/workspaces"
_ALL: Final = "all who are signed in"
_OWN: Final = "all, for themselves"
_THEMSELVES: Final = "all: themselves; admins and auditors: everyone"
_SELF: Final = "oneself, admins"
_SELF_READ: Final = "oneself, admins, auditors"
_ADMINS: Final = "admins"
_ADMINS_READ: Final = "admins, auditors"
_CHAT_OWNER: Final = "the chat's owner"
_CHAT_UPDATE: Final = "the chat's owner, admins"
_CHAT_READ: Final = "the chat's owner, admins, auditors"
_WORKSPACE_OWNER: Final = "the workspace's owner"
_WORKSPACE_UPDATE: Final = "the workspace's owner, admins"
_WORKSPACE_READ: Final = "the workspace's owner, admins, auditors"

# Who may call what the route's own text does not say. The first that matches `METHOD path` counts.
_WHO: Final = (
    (r"POST /api/v2/users/logout", _OWN),
    (r"GET /api/v2/users", _THEMSELVES),
    (r"(PATCH|PUT) /api/v2/users/\{user\}(/password)?", _SELF),
    (r"POST /api/v2/users/\{user\}/(tokens|webpush/\w+)", "oneself"),
    (r"DELETE /api/v2/users/\{user\}/webpush/subscription", _SELF),
    (r"GET /api/v2/users/\{user\}.*", _SELF_READ),
    (r"DELETE /api/v2/users/\{user\}/(tokens|sessions).*", _SELF),
    (r"(PUT|DELETE) /api/v2/users/\{user\}(/role|/status/\w+)?", _ADMINS),
    (r"GET /api/v2/groups.*", "members of the group, admins, auditors"),
    (r"(POST|PUT|DELETE) /api/v2/groups.*", _ADMINS),
    (r"GET /api/v2/organizations.*", _ALL),
    (rf"GET {_CHATS}/providers/\{{provider\}}", _ADMINS_READ),
    (rf"GET {_CHATS}/model-configs.*", _ALL),
    (rf"\w+ {_CHATS}/config/user-.*", _OWN),
    (rf"GET {_CHATS}/config/.*", _ALL),
    (rf"POST {_CHATS}/files", _ALL),
    (rf"(GET|POST) {_CHATS}/files/\{{file\}}(/download-url)?", "the file's owner, admins, auditors"),
    (rf"(GET|POST) {_CHATS}", _ALL),
    (rf"GET {_CHATS}/watch", _OWN),
    (rf"GET {_CHATS}/by-workspace", "the chats' owner, admins, auditors"),
    (rf"GET {_CHATS}/cost/users", _THEMSELVES),
    (rf"GET {_CHATS}/cost/\{{user\}}/summary", _SELF_READ),
    (rf"GET {_CHATS}/\{{chat\}}/stream/git", _CHAT_OWNER),
    (rf"GET {_CHATS}/\{{chat\}}.*", _CHAT_READ),
    (rf"POST {_CHATS}/\{{chat\}}/fork", _CHAT_READ),
    (rf"PATCH {_CHATS}/\{{chat\}}", _CHAT_UPDATE),
    (rf"POST {_CHATS}/\{{chat\}}/(interrupt|reconcile-invalid)", _CHAT_UPDATE),
    (rf"PUT {_CHATS}/\{{chat\}}/queue", _CHAT_UPDATE),
    (rf"DELETE {_CHATS}/\{{chat\}}/queue/\{{queued\}}", _CHAT_UPDATE),
    (rf"PUT {_CHATS}/\{{chat\}}/(read|context)", _CHAT_OWNER),
    (rf"POST {_CHATS}/\{{chat\}}/(compact|tool-results|title/\w+|messages)", _CHAT_OWNER),
    (rf"PATCH {_CHATS}/\{{chat\}}/messages/\{{message\}}", _CHAT_OWNER),
    (rf"POST {_CHATS}/\{{chat\}}/queue/\{{queued\}}/\w+", _CHAT_OWNER),
    (rf"GET {_TEMPLATES}.*", _ALL),
    (r"GET /api/experimental/git-providers.*", _ADMINS_READ),
    (rf"GET {_WORKSPACES}", _THEMSELVES),
    (rf"POST {_WORKSPACES}", _OWN),
    (rf"GET {_WORKSPACES}/\{{workspace\}}(/builds.*)?", _WORKSPACE_READ),
    (rf"(PATCH|DELETE) {_WORKSPACES}/\{{workspace\}}", _WORKSPACE_UPDATE),
    (rf"POST {_WORKSPACES}/\{{workspace\}}/builds.*", _WORKSPACE_UPDATE),
    (rf"\w+ {_WORKSPACES}/\{{workspace\}}/(files.*|ports|terminal)", _WORKSPACE_OWNER),
)


class Route(msgspec.Struct, frozen=True):
    method: str
    path: str
    tag: str
    who: str
    what: str


def published_document() -> dict[str, Any]:
    """The API document, as a server publishes it."""
    app = application()
    document = app.openapi_schema.to_schema()
    complete(document, app.routes)
    return document


def routes() -> Iterator[Route]:
    """Raises LookupError for a route of which nobody has said who may call it."""
    for path, item in published_document()["paths"].items():
        for method in METHODS:
            if method in item:
                yield _route(method.upper(), path, item[method])


def routes_markdown() -> str:
    found = list(routes())
    sections: list[str] = []
    for tag in dict.fromkeys(route.tag for route in found):
        rows = [f"| {r.method} | `{r.path}` | {r.who} | {r.what} |" for r in found if r.tag == tag]
        head = f"### {tag[:1].upper()}{tag[1:]}\n\n| method | route | who | what |\n|---|---|---|---|\n"
        sections.append(head + "\n".join(rows) + "\n")
    return "\n" + "\n".join(sections) + "\n"


def _route(method: str, path: str, operation: dict[str, Any]) -> Route:
    text = " ".join(operation["description"].split())
    who = "anyone" if operation.get("security") == [{}] else _who(f"{method} {path}", text)
    shown = re.sub(r" ?For owners(?: and auditors)?\.", "", text).replace("|", "\\|").strip()
    return Route(method, path, operation["tags"][0], who, shown)


def _who(route: str, text: str) -> str:
    if "For owners and auditors." in text:
        return _ADMINS_READ
    if "For owners." in text:
        return _ADMINS
    for pattern, who in _WHO:
        if re.fullmatch(pattern, route):
            return who
    raise LookupError(f"Nobody has said who may call {route}: say it in scripts/routes_table.py.")
