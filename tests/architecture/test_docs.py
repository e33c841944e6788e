"""The docs for users name everything that there is, and nothing that is not."""

import re
from pathlib import Path

import msgspec
import pytest
from scripts import routes_table

from chatd.core.sidebar import WatchKind
from chatd.server.stream.route import TEMPLATE as STREAM
from chatd.server.watch.route import PATH as WATCH

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FIXTURES = ROOT / "tests" / "core" / "stream_fixtures"
EVENT_IN_CODE = re.compile(r'b"([a-z]+(?:_[a-z]+)*)"')
COMPAT_ROW = re.compile(r"^\| ([A-Z]+) \| `(/[^`]*)` \| (\w+) \| ?(.*?) ?\|$", re.MULTILINE)


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


@pytest.fixture(scope="module")
def routes() -> set[tuple[str, str]]:
    return {(route.method, route.path) for route in routes_table.routes()}


def compared() -> list[tuple[str, str, str, str]]:
    return COMPAT_ROW.findall(page("reference-compat.md"))


def event_types() -> set[str]:
    """Those that the fixtures of streams hold, which both halves of the protocol are tested with."""
    found: set[str] = set()
    for path in FIXTURES.glob("*.json"):
        fixture = msgspec.json.decode(path.read_bytes())
        found |= {event["type"] for event in fixture["events"]}
    return found


def test_every_route_is_in_the_api_guide(routes: set[tuple[str, str]]):
    rows = set(re.findall(r"^\| ([A-Z]+) \| `(/[^`]*)` \|", page("api.md"), re.MULTILINE))

    assert len(routes) > 80
    assert rows == routes


def test_the_raw_routes_are_described_with_the_streams():
    for path in (STREAM, WATCH):
        assert f"GET {path}" in page("streams.md")


def test_every_event_of_a_stream_is_described():
    rows = set(re.findall(r"^\| `(\w+)` \|", page("streams.md"), re.MULTILINE))
    in_code = set(EVENT_IN_CODE.findall((ROOT / "src/chatd/core/stream.py").read_text("utf-8")))

    assert {"message", "message_part", "history_reset"} <= event_types()
    assert event_types() | (in_code - {"queued_messages"}) <= rows


def test_every_kind_of_change_in_a_list_is_described():
    rows = set(re.findall(r"^\| `(\w+)` \|", page("streams.md"), re.MULTILINE))

    assert {kind.value for kind in WatchKind} <= rows


def test_what_is_said_of_the_reference_is_so(routes: set[tuple[str, str]]):
    for method, path, what, reason in compared():
        assert what in ("same", "changed", "absent"), path
        address = path if path.startswith("/api/") else f"/api/experimental{path}"
        is_here = (method, address) in routes
        assert is_here == (what != "absent"), f"docs/reference-compat.md says that {method} {path} is {what}"
        assert reason.strip() or what == "same", path


def test_each_route_of_the_reference_is_compared_once():
    named = [(method, path) for method, path, _, _ in compared()]

    assert len(named) > 75
    assert len(named) == len(set(named))


@pytest.mark.parametrize("name", ["getting-started.md", "api.md", "streams.md", "push.md", "reference-compat.md"])
def test_links_lead_somewhere(name: str):
    for target in re.findall(r"\]\(([^)#:]*)(?:#[^)]*)?\)", page(name)):
        assert not target or (DOCS / target).exists(), target


@pytest.mark.parametrize("name", ["getting-started.md", "api.md", "streams.md", "push.md", "reference-compat.md"])
def test_links_to_headings_find_them(name: str):
    for target, heading in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", page(name)):
        text = (DOCS / target if target else DOCS / name).read_text("utf-8")
        headings = [re.sub(r"[^\w -]", "", line.lower()) for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
        assert heading in [line.replace(" ", "-") for line in headings], f"{target}#{heading}"
