"""Gemini's API."""

from collections.abc import Mapping
from typing import Any, Final

from chatd.core.model import ProtocolName
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.frames import Frame, google_sse
from chatd.testing.vendors.gemini_check import check_gemini
from chatd.testing.vendors.gemini_encode import gemini_chunks
from chatd.testing.vendors.issued import Issued
from chatd.testing.vendors.script import Turn

_STATUSES: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_CODES: Final = {status: code for code, status in _STATUSES.items()}


class Gemini:
    """A Dialect."""

    name = ProtocolName.GOOGLE_GEMINI

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        """A bearer token is for Vertex."""
        given = headers.get("x-goog-api-key", "") or query.get("key", "")
        return given or headers.get("authorization", "").removeprefix("Bearer ")

    def check(self, asked: Asked, issued: Issued) -> None:
        check_gemini(asked.body, asked.model, issued, on_vertex="/publishers/" in asked.path)

    def encode(self, turn: Turn, asked: Asked, issued: Issued) -> list[Frame]:
        return gemini_chunks(turn, asked.model, asked.body, issued)

    def frame(self, frame: Frame) -> bytes:
        return google_sse(frame)

    def failed(self, message: str, type: str) -> bytes:
        status = type or "UNAVAILABLE"
        return google_sse(Frame("", self.error(_CODES.get(status, 500), message, status, "")))

    def error(self, status: int, message: str, type: str, at: str) -> Mapping[str, Any]:
        return {"error": {"code": status, "message": message, "status": type or _STATUSES.get(status, "UNKNOWN")}}

    def models(self, names: list[str]) -> Mapping[str, Any]:
        listed = [
            {
                "name": f"models/{name}",
                "displayName": name,
                "inputTokenLimit": 1_000_000,
                "outputTokenLimit": 65_536,
                "supportedGenerationMethods": ["generateContent"],
            }
            for name in names
        ]
        return {"models": listed}
