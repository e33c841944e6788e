"""Links of the published API document: what an answer names can be asked for next, and under which address.

Tools that make clients or tests of the document walk along them: create a chat, send to it, promote what waits.
"""

from typing import Any, Final

_CHATS: Final = "/api/experimental/chats"
_ID: Final = "$response.body#/id"
_THIS_CHAT: Final = "$request.path.chat"
_THIS_USER: Final = "$request.path.user"
# By operation: the parameters of addresses that its answer has. The operations with these parameters follow it.
_NAMED: Final[dict[tuple[str, str], tuple[dict[str, str], ...]]] = {
    ("post", "/api/v2/users"): ({"user": _ID},),
    ("post", "/api/v2/users/{user}/tokens"): ({"user": _THIS_USER, "token": "$response.body#/token/id"},),
    ("post", "/api/v2/groups"): ({"group": _ID},),
    ("post", f"{_CHATS}/providers"): ({"provider": _ID},),
    ("post", f"{_CHATS}/model-configs"): ({"model": _ID},),
    ("post", f"{_CHATS}/files"): ({"file": _ID},),
    ("post", _CHATS): ({"chat": _ID},),
    ("post", f"{_CHATS}/{{chat}}/fork"): ({"chat": _ID},),
    ("post", f"{_CHATS}/{{chat}}/messages"): (
        {"chat": _THIS_CHAT, "message": "$response.body#/message/id"},
        {"chat": _THIS_CHAT, "queued": "$response.body#/queued_message/id"},
        {"chat": _THIS_CHAT},
    ),
    ("get", f"{_CHATS}/{{chat}}/messages"): (
        {"chat": _THIS_CHAT, "message": "$response.body#/messages/0/id"},
        {"chat": _THIS_CHAT, "queued": "$response.body#/queued_messages/0/id"},
    ),
}


def add_links(document: dict[str, Any]) -> None:
    """To the answers of success; the streams, which have no end, are not led to."""
    targets = [
        (operation["operationId"], frozenset(_path_parameters(operation)))
        for item in document["paths"].values()
        for operation in item.values()
        if "101" not in operation["responses"]
    ]
    for (method, path), named in _NAMED.items():
        operation = document["paths"][path][method]
        answer = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
        answer["links"] = {
            target: {"operationId": target, "parameters": {f"path.{name}": given for name, given in parameters.items()}}
            for parameters in named
            for target, needed in targets
            if needed == frozenset(parameters)
        }


def _path_parameters(operation: dict[str, Any]) -> list[str]:
    return [parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "path"]
