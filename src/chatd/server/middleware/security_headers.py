"""Tells browsers what pages of ours may do. A route that sets one of these headers itself keeps its own."""

from collections.abc import Sequence

from chatd.server.middleware.asgi_types import App, Message, Receive, Scope, Send

Pairs = Sequence[tuple[bytes, bytes]]

# Own assets only, nothing inline. Images may be data: and blob: (pasted pictures), never remote.
PAGE_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "worker-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
# An answer of the API is never a page: should a browser be made to show one as such, nothing in it works.
API_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
HSTS_SECONDS = 31_536_000  # a year, the least that browsers' preload lists ask for


def headers_for(*, api: bool, https: bool, page_policy: str = PAGE_POLICY) -> list[tuple[bytes, bytes]]:
    """The headers of an answer; with `https` (as in the public URL) plain http is ruled out."""
    headers = [
        ("content-security-policy", API_POLICY if api else page_policy),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), geolocation=(), payment=(), usb=(), microphone=(self)",
        ),  # voice input
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ]
    if https:
        headers.append(("strict-transport-security", f"max-age={HSTS_SECONDS}"))
    if api:
        headers.append(("cache-control", "no-store"))
    return [(name.encode(), value.encode()) for name, value in headers]


def is_api(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


class SecurityHeaders:
    """Adds what the answer does not already have, to errors as well."""

    def __init__(self, app: App, *, https: bool, page_policy: str | None = None) -> None:
        self._app = app
        policy = page_policy or PAGE_POLICY
        self._for_api = headers_for(api=True, https=https, page_policy=policy)
        self._for_pages = headers_for(api=False, https=https, page_policy=policy)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ours = self._for_api if is_api(scope["path"]) else self._for_pages

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                theirs = list(message.get("headers", ()))
                names = {name.lower() for name, _ in theirs}
                message = {**message, "headers": theirs + [pair for pair in ours if pair[0] not in names]}
            await send(message)

        await self._app(scope, receive, send_with_headers)
