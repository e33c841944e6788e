"""Anthropic's Messages API, on its own host, on Vertex and on Bedrock."""

from collections.abc import Mapping
from typing import Any, Final

from chatd.core.model import ProtocolName
from chatd.testing.vendors.anthropic_check import check_anthropic
from chatd.testing.vendors.anthropic_encode import anthropic_events
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.frames import Frame, amazon_chunk, amazon_exception, named_sse
from chatd.testing.vendors.issued import Issued
from chatd.testing.vendors.refusal import Refusal
from chatd.testing.vendors.script import Turn

_TYPES: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Anthropic:
    """A Dialect."""

    name = ProtocolName.ANTHROPIC_MESSAGES

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        return headers.get("x-api-key", "") or headers.get("authorization", "").removeprefix("Bearer ")

    def check(self, asked: Asked, issued: Issued) -> None:
        if "anthropic-version" not in asked.headers:
            raise Refusal("anthropic-version: header is required")
        check_anthropic(
            asked.body, issued, host="own", model=asked.model, betas=asked.headers.get("anthropic-beta", "")
        )

    def encode(self, turn: Turn, asked: Asked, issued: Issued) -> list[Frame]:
        return anthropic_events(turn, asked.model, issued, asked.body)

    def frame(self, frame: Frame) -> bytes:
        return named_sse(frame)

    def failed(self, message: str, type: str) -> bytes:
        error = {"type": type or "overloaded_error", "message": message}
        return named_sse(Frame("error", {"type": "error", "error": error}))

    def error(self, status: int, message: str, type: str, at: str) -> Mapping[str, Any]:
        kind = type or _TYPES.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011"}

    def models(self, names: list[str]) -> Mapping[str, Any]:
        listed = [
            {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in names
        ]
        return {
            "data": listed,
            "has_more": False,
            "first_id": names[0] if names else None,
            "last_id": names[-1] if names else None,
        }


class VertexAnthropic(Anthropic):
    """The same events; a token instead of a key."""

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        return headers.get("authorization", "").removeprefix("Bearer ")

    def check(self, asked: Asked, issued: Issued) -> None:
        check_anthropic(
            asked.body, issued, host="vertex", model=asked.model, betas=asked.headers.get("anthropic-beta", "")
        )


class Bedrock(Anthropic):
    """The same events in Amazon's framing. Requests are signed, or carry a bearer key."""

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        return headers.get("authorization", "").removeprefix("Bearer ")

    def check(self, asked: Asked, issued: Issued) -> None:
        check_anthropic(asked.body, issued, host="bedrock", model=asked.model, betas="")

    def frame(self, frame: Frame) -> bytes:
        return amazon_chunk(frame)

    def failed(self, message: str, type: str) -> bytes:
        return amazon_exception(type or "serviceUnavailableException", message)

    def error(self, status: int, message: str, type: str, at: str) -> Mapping[str, Any]:
        return {"message": message}
