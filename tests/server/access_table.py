"""Who may do what: every route of the server, and what each kind of person is answered.

The owner is who the chat, file, token or account in the address belongs to, and a member of its group; the others are
an admin (a user with the role `owner`), an auditor, a stranger with an account, and someone who is not signed in. What
one may not know of is 404; what one sees and may not do, 403. 409: they may, and it can't be done as things are.
`WS` is a WebSocket.
"""

from typing import Any, Final
from uuid import UUID

import msgspec

from server.chat_api import text
from server.configured_models import KEY
from server.running import PASSWORD

PEOPLE: Final = ("owner", "admin", "auditor", "stranger", "nobody")

_TABLE: Final = """
pages                                                                owner admin audit. str. nobody
GET    /                                                               200   200   200   200   200
GET    /agents                                                         200   200   200   200   200
GET    /chats                                                          200   200   200   200   200
GET    /login                                                          200   200   200   200   200
GET    /settings                                                       200   200   200   200   200
GET    /setup                                                          200   200   200   200   200
GET    /usage                                                          200   200   200   200   200
GET    /workspaces                                                     200   200   200   200   200
GET    /api                                                            200   200   200   200   200
GET    /api/{path}                                                     404   404   404   404   404
GET    /api/openapi.json                                               200   200   200   200   200
GET    /healthz                                                        200   200   200   200   200
GET    /readyz                                                         200   200   200   200   200
GET    /metrics                                                        200   200   200   200   200
GET    /api/v2/buildinfo                                               200   200   200   200   200
GET    /api/v2/organizations                                           200   200   200   200   401
GET    /api/v2/organizations/{organization}                            200   200   200   200   401
GET    /api/v2/audit                                                   404   200   200   404   401

users                                                                owner admin audit. str. nobody
GET    /api/v2/users/first                                             200   200   200   200   200
POST   /api/v2/users/first                                             409   409   409   409   409
POST   /api/v2/users/login                                             201   201   201   201   201
POST   /api/v2/users/logout                                            204   204   204   204   401
GET    /api/v2/users                                                   200   200   200   200   401
POST   /api/v2/users                                                   404   201   404   404   401
GET    /api/v2/users/{user}                                            200   200   200   404   401
PATCH  /api/v2/users/{user}                                            200   200   404   404   401
DELETE /api/v2/users/{user}                                            404   204   404   404   401
PUT    /api/v2/users/{user}/role                                       404   200   404   404   401
PUT    /api/v2/users/{user}/status/suspend                             404   200   404   404   401
PUT    /api/v2/users/{user}/status/activate                            404   200   404   404   401
PUT    /api/v2/users/{user}/password                                   204   204   404   404   401
GET    /api/v2/users/{user}/organizations                              200   200   200   404   401
GET    /api/v2/users/{user}/tokens                                     200   200   200   404   401
POST   /api/v2/users/{user}/tokens                                     201   404   404   404   401
DELETE /api/v2/users/{user}/tokens/{token}                             204   204   404   404   401
GET    /api/v2/users/{user}/sessions                                   200   200   200   404   401
DELETE /api/v2/users/{user}/sessions                                   204   204   404   404   401
DELETE /api/v2/users/{user}/sessions/{token}                           204   204   404   404   401
POST   /api/v2/users/{user}/webpush/subscription                       204   404   404   404   401
DELETE /api/v2/users/{user}/webpush/subscription                       204   204   404   404   401
POST   /api/v2/users/{user}/webpush/test                               204   404   404   404   401

groups                                                               owner admin audit. str. nobody
GET    /api/v2/groups                                                  200   200   200   200   401
POST   /api/v2/groups                                                  404   201   404   404   401
GET    /api/v2/groups/{group}                                          200   200   200   404   401
PUT    /api/v2/groups/{group}                                          404   200   404   404   401
DELETE /api/v2/groups/{group}                                          404   204   404   404   401
GET    /api/v2/groups/{group}/members                                  200   200   200   404   401
POST   /api/v2/groups/{group}/members                                  404   204   404   404   401
DELETE /api/v2/groups/{group}/members/{user}                           404   204   404   404   401

models                                                               owner admin audit. str. nobody
GET    /api/experimental/chats/providers                               404   200   200   404   401
POST   /api/experimental/chats/providers                               404   201   404   404   401
GET    /api/experimental/chats/providers/known-models                  404   200   200   404   401
POST   /api/experimental/chats/providers/test                          404   200   404   404   401
GET    /api/experimental/chats/providers/{provider}                    404   200   200   404   401
PATCH  /api/experimental/chats/providers/{provider}                    404   200   404   404   401
DELETE /api/experimental/chats/providers/{provider}                    404   204   404   404   401
POST   /api/experimental/chats/providers/{provider}/test               404   200   404   404   401
GET    /api/experimental/chats/model-configs                           200   200   200   200   401
POST   /api/experimental/chats/model-configs                           404   201   404   404   401
GET    /api/experimental/chats/model-configs/{model}                   200   200   200   200   401
PATCH  /api/experimental/chats/model-configs/{model}                   404   200   404   404   401
DELETE /api/experimental/chats/model-configs/{model}                   404   204   404   404   401

settings                                                             owner admin audit. str. nobody
GET    /api/experimental/chats/config/system-prompt                    404   200   404   404   401
PUT    /api/experimental/chats/config/system-prompt                    404   204   404   404   401
GET    /api/experimental/chats/config/plan-mode-instructions           404   200   404   404   401
PUT    /api/experimental/chats/config/plan-mode-instructions           404   204   404   404   401
GET    /api/experimental/chats/config/model-override/{context}         404   200   404   404   401
PUT    /api/experimental/chats/config/model-override/{context}         404   204   404   404   401
GET    /api/experimental/chats/config/advisor                          200   200   200   200   401
PUT    /api/experimental/chats/config/advisor                          404   204   404   404   401
GET    /api/experimental/chats/config/workspace-ttl                    200   200   200   200   401
PUT    /api/experimental/chats/config/workspace-ttl                    404   204   404   404   401
GET    /api/experimental/chats/config/desktop-enabled                  200   200   200   200   401
PUT    /api/experimental/chats/config/desktop-enabled                  404   204   404   404   401
GET    /api/experimental/chats/config/user-prompt                      200   200   200   200   401
PUT    /api/experimental/chats/config/user-prompt                      200   200   200   200   401
GET    /api/experimental/chats/config/user-compaction-thresholds       200   200   200   200   401
PUT    /api/experimental/chats/config/user-compaction-thresholds/{model}  200 200  200   200   401
DELETE /api/experimental/chats/config/user-compaction-thresholds/{model}  204 204  204   204   401
GET    /api/experimental/chats/usage-limits                            404   200   200   404   401
PUT    /api/experimental/chats/usage-limits                            404   204   404   404   401
DELETE /api/experimental/chats/usage-limits/{period}                   404   204   404   404   401

files and costs                                                      owner admin audit. str. nobody
POST   /api/experimental/chats/files                                   201   201   201   201   401
GET    /api/experimental/chats/files/{file}                            200   200   200   404   401
POST   /api/experimental/chats/files/{file}/download-url               200   200   200   404   401
GET    /api/experimental/chats/files/{file}/download                   200   200   200   200   200
GET    /api/experimental/chats/cost/{user}/summary                     200   200   200   404   401
GET    /api/experimental/chats/cost/users                              200   200   200   200   401

chats                                                                owner admin audit. str. nobody
GET    /api/experimental/chats                                         200   200   200   200   401
POST   /api/experimental/chats                                         201   201   201   201   401
GET    /api/experimental/chats/by-workspace                            200   200   200   200   401
GET    /api/experimental/chats/watch                                   200   200   200   200   401
WS     /api/experimental/chats/watch                                   101   101   101   101   401
GET    /api/experimental/chats/{chat}                                  200   200   200   404   401
PATCH  /api/experimental/chats/{chat}                                  204   204   403   404   401
GET    /api/experimental/chats/{chat}/stream                           200   200   200   404   401
WS     /api/experimental/chats/{chat}/stream                           101   101   101   404   401
GET    /api/experimental/chats/{chat}/stream/git                       409   403   403   404   401
WS     /api/experimental/chats/{chat}/stream/git                       409   403   403   404   401
GET    /api/experimental/chats/{chat}/prompts                          200   200   200   404   401
GET    /api/experimental/chats/{chat}/cost                             200   200   200   404   401
GET    /api/experimental/chats/{chat}/diff                             200   200   200   404   401
GET    /api/experimental/chats/{chat}/export                           200   200   200   404   401
POST   /api/experimental/chats/{chat}/fork                             201   201   201   404   401
PUT    /api/experimental/chats/{chat}/read                             204   403   403   404   401
PUT    /api/experimental/chats/{chat}/context                          409   403   403   404   401
POST   /api/experimental/chats/{chat}/interrupt                        200   200   403   404   401
POST   /api/experimental/chats/{chat}/compact                          409   403   403   404   401
POST   /api/experimental/chats/{chat}/reconcile-invalid                409   409   403   404   401
POST   /api/experimental/chats/{chat}/tool-results                     409   403   403   404   401
POST   /api/experimental/chats/{chat}/title/propose                    200   403   403   404   401
POST   /api/experimental/chats/{chat}/title/regenerate                 200   403   403   404   401

messages                                                             owner admin audit. str. nobody
GET    /api/experimental/chats/{chat}/messages                         200   200   200   404   401
GET    /api/experimental/chats/{chat}/messages/search                  200   200   200   404   401
POST   /api/experimental/chats/{chat}/messages                         200   403   403   404   401
PATCH  /api/experimental/chats/{chat}/messages/{message}               200   403   403   404   401
PUT    /api/experimental/chats/{chat}/queue                            204   204   403   404   401
DELETE /api/experimental/chats/{chat}/queue/{queued}                   204   204   403   404   401
POST   /api/experimental/chats/{chat}/queue/{queued}/promote           202   403   403   404   401
POST   /api/experimental/chats/{chat}/queue/{queued}/hold              200   403   403   404   401
POST   /api/experimental/chats/{chat}/queue/{queued}/release           409   403   403   404   401

git providers                                                        owner admin audit. str. nobody
GET    /api/experimental/git-providers                                 404   200   200   404   401
POST   /api/experimental/git-providers                                 404   201   404   404   401
GET    /api/experimental/git-providers/{git_provider}                  404   200   200   404   401
PATCH  /api/experimental/git-providers/{git_provider}                  404   200   404   404   401
DELETE /api/experimental/git-providers/{git_provider}                  404   204   404   404   401
POST   /api/experimental/git-providers/{git_provider}/test             404   200   404   404   401

templates                                                            owner admin audit. str. nobody
GET    /api/experimental/templates                                     200   200   200   200   401
POST   /api/experimental/templates                                     404   201   404   404   401
GET    /api/experimental/templates/{template}                          200   200   200   200   401
PATCH  /api/experimental/templates/{template}                          404   200   404   404   401
DELETE /api/experimental/templates/{template}                          404   204   404   404   401

workspaces                                                           owner admin audit. str. nobody
GET    /api/experimental/workspaces                                    200   200   200   200   401
POST   /api/experimental/workspaces                                    201   201   201   201   401
GET    /api/experimental/workspaces/{workspace}                        200   200   200   404   401
PATCH  /api/experimental/workspaces/{workspace}                        200   200   403   404   401
DELETE /api/experimental/workspaces/{workspace}                        202   202   403   404   401
GET    /api/experimental/workspaces/{workspace}/builds                 200   200   200   404   401
POST   /api/experimental/workspaces/{workspace}/builds                 201   201   403   404   401
GET    /api/experimental/workspaces/{workspace}/builds/{build}         200   200   200   404   401
GET    /api/experimental/workspaces/{workspace}/builds/{build}/logs    200   200   200   404   401
POST   /api/experimental/workspaces/{workspace}/builds/{build}/cancel  409   409   403   404   401
GET    /api/experimental/workspaces/{workspace}/files                  200   403   403   404   401
GET    /api/experimental/workspaces/{workspace}/files/content          200   403   403   404   401
PUT    /api/experimental/workspaces/{workspace}/files/content          200   403   403   404   401
GET    /api/experimental/workspaces/{workspace}/ports                  200   403   403   404   401
GET    /api/experimental/workspaces/{workspace}/terminal               400   400   400   400   401
WS     /api/experimental/workspaces/{workspace}/terminal               101   403   403   404   401
"""

CONTENT: Final = {"content": [text("x")]}
_BROWSER: Final = {"endpoint": "{endpoint}", "auth_key": "{auth_key}", "p256dh_key": "{p256dh_key}"}
_FIRST: Final = {"email": "f@example.com", "username": "fay", "password": PASSWORD, "code": "x"}
_PROVIDER: Final = {"type": "anthropic", "api_key": KEY, "base_url": "{vendor}"}
_TOKEN: Final = {"name": "{new}", "scopes": ["*:*"], "lifetime_hours": 1}
_CHATS: Final = "/api/experimental/chats"
# What is sent with it. `{…}` stand for what is there, as in addresses; {new} for a name that nobody has yet.
BODIES: Final[dict[str, Any]] = {
    "POST /api/v2/users/first": _FIRST,
    "POST /api/v2/users/login": {"login": "{username}", "password": PASSWORD},
    "POST /api/v2/users": {"email": "{new}@example.com", "username": "{new}", "password": PASSWORD, "role": "member"},
    "PATCH /api/v2/users/{user}": {"display_name": "another"},
    "PUT /api/v2/users/{user}/role": {"role": "auditor"},
    "PUT /api/v2/users/{user}/password": {"password": f"{PASSWORD}!", "old_password": PASSWORD},
    "POST /api/v2/users/{user}/tokens": _TOKEN,
    "POST /api/v2/users/{user}/webpush/subscription": _BROWSER,
    "DELETE /api/v2/users/{user}/webpush/subscription": {"endpoint": "{endpoint}"},
    "POST /api/v2/groups": {"name": "{new}"},
    "PUT /api/v2/groups/{group}": {"name": "{new}"},
    "POST /api/v2/groups/{group}/members": {"user_ids": ["{user}"]},
    f"POST {_CHATS}/providers": _PROVIDER | {"name": "{new}"},
    f"POST {_CHATS}/providers/test": _PROVIDER | {"model": "scripted-model"},
    f"PATCH {_CHATS}/providers/{{provider}}": {"display_name": "another"},
    f"POST {_CHATS}/providers/{{provider}}/test": {"model": "scripted-model"},
    f"POST {_CHATS}/model-configs": {"ai_provider_id": "{provider}", "model": "m", "context_limit": 1000},
    f"PATCH {_CHATS}/model-configs/{{model}}": {"display_name": "another"},
    f"PUT {_CHATS}/config/system-prompt": {"system_prompt": "Be kind."},
    f"PUT {_CHATS}/config/plan-mode-instructions": {"plan_mode_instructions": "Plan."},
    f"PUT {_CHATS}/config/model-override/{{context}}": {},
    f"PUT {_CHATS}/config/advisor": {"enabled": True},
    f"PUT {_CHATS}/config/workspace-ttl": {"workspace_ttl_ms": 0},
    f"PUT {_CHATS}/config/desktop-enabled": {"enable_desktop": True},
    f"PUT {_CHATS}/config/user-prompt": {"custom_prompt": "Be brief."},
    f"PUT {_CHATS}/config/user-compaction-thresholds/{{model}}": {"threshold_percent": 50},
    f"PUT {_CHATS}/usage-limits": {"period": "day", "limit_micros": 10**12, "user_id": "{user}"},
    f"POST {_CHATS}": CONTENT,
    f"PATCH {_CHATS}/{{chat}}": {"title": "t"},
    f"POST {_CHATS}/{{chat}}/fork": {},
    f"PUT {_CHATS}/{{chat}}/read": {},
    f"POST {_CHATS}/{{chat}}/tool-results": {"results": [{"tool_call_id": "c", "output": 1}]},
    f"POST {_CHATS}/{{chat}}/messages": CONTENT,
    f"PATCH {_CHATS}/{{chat}}/messages/{{message}}": CONTENT,
    f"PUT {_CHATS}/{{chat}}/queue": {"ids": ["{queued:int}"]},
    f"POST {_CHATS}/{{chat}}/queue/{{queued}}/release": {},
    "POST /api/experimental/git-providers": {"kind": "github", "host": "{new}.test", "api_url": "{vendor}"},
    "PATCH /api/experimental/git-providers/{git_provider}": {"kind": "gitlab"},
    "POST /api/experimental/templates": {"name": "{new}", "provisioner": "local"},
    "PATCH /api/experimental/templates/{template}": {"display_name": "another"},
    "POST /api/experimental/workspaces": {"template_id": "{template}"},
    "PATCH /api/experimental/workspaces/{workspace}": {"name": "{new}"},
    "POST /api/experimental/workspaces/{workspace}/builds": {"transition": "stop"},
}
# What the address has besides.
QUERIES: Final = {
    f"GET {_CHATS}/providers/known-models": "?type=anthropic",
    f"GET {_CHATS}/by-workspace": f"?workspace_ids={UUID(int=1)}",
    f"GET {_CHATS}/{{chat}}/messages/search": "?q=e",
    "GET /api/experimental/workspaces/{workspace}/files/content": "?path=/etc/hostname",
    "PUT /api/experimental/workspaces/{workspace}/files/content": "?path=/tmp/chatd-access-table",
}


class Row(msgspec.Struct, frozen=True):
    method: str
    path: str
    expected: tuple[int, ...]

    @property
    def route(self) -> str:
        return f"{self.method} {self.path}"


def sections() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for part in _TABLE.strip().split("\n\n"):
        head, *lines = part.splitlines()
        rows = [line.split() for line in lines]
        found[head.partition("  ")[0]] = [
            Row(method, path, tuple(int(status) for status in statuses)) for method, path, *statuses in rows
        ]
    return found
