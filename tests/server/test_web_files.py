"""The web app as the server serves it."""

import gzip
from pathlib import Path

import pytest

from chatd.server.web.files import INDEX, web_files
from chatd.server.web.routes import WebRoutes

_PAGE = b"<!doctype html><title>chatd</title>"
_SCRIPT = b"console.log('hello')" * 100


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / ".vite").mkdir()
    (tmp_path / ".vite" / "manifest.json").write_bytes(b"{}")
    (tmp_path / ".built-from").write_bytes(b"1")
    (tmp_path / "index.html").write_bytes(_PAGE)
    (tmp_path / "worker.js").write_bytes(b"self")
    (tmp_path / "assets" / "index-1a2b.js").write_bytes(_SCRIPT)
    (tmp_path / "assets" / "index-1a2b.js.gz").write_bytes(gzip.compress(_SCRIPT))
    return tmp_path


class _Answer:
    def __init__(self, sent: list[dict[str, object]]) -> None:
        self.status = sent[0]["status"]
        headers: list[tuple[bytes, bytes]] = sent[0]["headers"]  # pyright: ignore[reportAssignmentType]
        self.headers = {name.decode(): value.decode() for name, value in headers}
        self.body = sent[1]["body"]


async def _ask(routes: WebRoutes, path: str, *, method: str = "GET", **headers: str) -> _Answer:
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    async def receive() -> None: ...

    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    await routes({"type": "http", "method": method, "path": path, "headers": pairs}, receive, send)
    return _Answer(sent)


async def _elsewhere(_scope: object, _receive: object, send: object) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})  # pyright: ignore
    await send({"type": "http.response.body", "body": b"elsewhere"})  # pyright: ignore


async def test_every_view_of_the_app_is_its_one_page(built: Path):
    routes = WebRoutes(_elsewhere, web_files(built))
    for path in ("/", "/login", "/chats/018f", "/settings/admin/models", "/settings"):
        answer = await _ask(routes, path)
        assert (answer.status, answer.body) == (200, _PAGE)
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["content-type"] == "text/html; charset=utf-8"


async def test_what_is_no_view_and_no_file_is_left_to_the_rest(built: Path):
    routes = WebRoutes(_elsewhere, web_files(built))
    for path in ("/api/v2/users", "/nothing", "/settingsx", "/assets/gone.js", "/.vite/manifest.json", "/.built-from"):
        assert (await _ask(routes, path)).body == b"elsewhere"
    assert (await _ask(routes, "/login", method="POST")).body == b"elsewhere"


async def test_a_person_who_goes_where_nothing_is_gets_the_app_which_says_so(built: Path):
    routes = WebRoutes(_elsewhere, web_files(built))
    visit = await _ask(routes, "/nothing", accept="text/html,*/*")
    assert (visit.status, visit.body) == (404, _PAGE)
    assert visit.headers["content-type"] == "text/html; charset=utf-8"
    assert (await _ask(routes, "/nothing", accept="text/html", if_none_match=visit.headers["etag"])).status == 404
    assert (await _ask(routes, "/nothing", accept="application/json")).body == b"elsewhere"
    assert (await _ask(routes, "/api/v2/nothing", accept="text/html")).body == b"elsewhere"
    assert (await _ask(routes, "/nothing", method="POST", accept="text/html")).body == b"elsewhere"


async def test_files_with_a_hash_are_kept_for_good_and_come_compressed(built: Path):
    routes = WebRoutes(_elsewhere, web_files(built))
    answer = await _ask(routes, "/assets/index-1a2b.js", accept_encoding="br, gzip;q=0.8")
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(answer.body) == _SCRIPT  # pyright: ignore
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["vary"] == "accept-encoding"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    plain = await _ask(routes, "/assets/index-1a2b.js")
    assert plain.body == _SCRIPT
    assert "content-encoding" not in plain.headers


async def test_a_browser_that_has_the_page_is_not_sent_it_again(built: Path):
    routes = WebRoutes(_elsewhere, web_files(built))
    etag = (await _ask(routes, "/")).headers["etag"]
    assert (await _ask(routes, "/", if_none_match=etag)).status == 304
    (built / "index.html").write_bytes(b"<!doctype html><title>newer</title>")
    web_files.cache_clear()
    newer = WebRoutes(_elsewhere, web_files(built))
    assert (await _ask(newer, "/", if_none_match=etag)).status == 200


async def test_head_tells_the_length_and_sends_nothing(built: Path):
    answer = await _ask(WebRoutes(_elsewhere, web_files(built)), "/worker.js", method="HEAD")
    assert answer.headers["content-length"] == "4"
    assert answer.body == b""


def test_without_a_build_there_is_a_page_that_says_so(tmp_path: Path):
    files = web_files(tmp_path)
    assert list(files) == [INDEX]
    assert b"make run" in files[INDEX].content[""]
