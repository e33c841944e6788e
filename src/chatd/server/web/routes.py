"""The web app over HTTP: its files, and its one page at every address that the app has a view for."""

from collections.abc import Mapping
from typing import Final

from chatd.server.middleware.asgi_types import App, Message, Receive, Scope, Send, header
from chatd.server.web.files import INDEX, WebFile

# Views of the app (`web/src/app/Shell.tsx`). Anything else that is no file is not found, as anywhere.
PAGES: Final = ("/agents", "/chats", "/login", "/settings", "/setup", "/usage", "/workspaces")
_YEAR: Final = "public, max-age=31536000, immutable"
# Asked for every time, and answered with 304 while it is the same.
_FRESH: Final = "no-cache"


class WebRoutes:
    """In front of the API: answers GET and HEAD of what it has, and passes on the rest."""

    def __init__(self, app: App, files: Mapping[str, WebFile]) -> None:
        self._app = app
        self._files = files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        file = self._find(scope["path"]) if is_read else None
        if file is not None:
            await _answer(file, scope, send)
        elif is_read and _is_visit(scope):
            await self._visit(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Where there is nothing, a person gets the app, which says so and knows a way on; a program gets the error."""
        is_missing = False

        async def sent(message: Message) -> None:
            nonlocal is_missing
            is_missing = is_missing or (message["type"] == "http.response.start" and message["status"] == 404)
            if not is_missing:
                await send(message)

        await self._app(scope, receive, sent)
        if is_missing:
            await _answer(self._files[INDEX], scope, send, status=404)

    def _find(self, path: str) -> WebFile | None:
        if path == "/" or any(path == page or path.startswith(page + "/") for page in PAGES):
            return self._files[INDEX]
        return None if path == INDEX else self._files.get(path)


async def _answer(file: WebFile, scope: Scope, send: Send, *, status: int = 200) -> None:
    encoding = _accepted(scope, file)
    body = file.content[encoding]
    headers = [
        (b"content-type", file.media_type.encode()),
        (b"etag", file.etag.encode()),
        (b"cache-control", (_YEAR if file.is_hashed else _FRESH).encode()),
        (b"vary", b"accept-encoding"),
    ]
    if status == 200 and file.etag in (header(scope, b"if-none-match") or ""):
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    headers.append((b"content-length", str(len(body)).encode()))
    if encoding:
        headers.append((b"content-encoding", encoding.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _is_visit(scope: Scope) -> bool:
    """Someone goes there with a browser. Errors of the API are its own, whoever asks."""
    return not scope["path"].startswith("/api/") and "text/html" in (header(scope, b"accept") or "")


def _accepted(scope: Scope, file: WebFile) -> str:
    """The first encoding that is there and that the client takes; the quality of each is left to the order."""
    asked = {part.split(";")[0].strip() for part in (header(scope, b"accept-encoding") or "").split(",")}
    return next((name for name in file.content if name and name in asked), "")
