"""Real exchanges with vendors that lie beside the repository; tests that need them skip where they are absent."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

_FOLDER = Path(__file__).parents[3] / "shared" / "recordings"
_ABSENT = "the recorded vendor streams are not here: put them into ../shared/recordings beside the repository"


class Response(msgspec.Struct, frozen=True):
    status: int
    content_type: str
    body: str
    headers: dict[str, str] = {}


class Request(msgspec.Struct, frozen=True):
    path: str
    body: Any = None


class Recording(msgspec.Struct, frozen=True):
    protocol: str
    request: Request
    response: Response

    @property
    def is_stream(self) -> bool:
        return self.response.status == 200 and self.response.content_type.startswith("text/event-stream")


def recordings(protocol: str) -> list[Any]:
    """Parameters for a test: one recording each, or a single one that skips."""
    found = sorted((_FOLDER / protocol).glob("*.json"))
    if not found:
        return [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=_ABSENT))]
    return [pytest.param(_read(path), id=path.stem) for path in found]


def streams(protocol: str) -> list[Any]:
    return [found for found in recordings(protocol) if found.values[0] is None or found.values[0].is_stream]


def errors(protocol: str) -> list[Any]:
    return [
        found for found in recordings(protocol) if found.values[0] is None or found.values[0].response.status >= 400
    ]


def _read(path: Path) -> Recording:
    return msgspec.json.decode(path.read_bytes(), type=Recording)
