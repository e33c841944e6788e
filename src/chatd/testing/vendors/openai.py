"""OpenAI's two protocols: Responses and Chat Completions."""

from collections.abc import Mapping
from typing import Any, Final

from chatd.core.model import ProtocolName
from chatd.testing.vendors.asked import Asked
from chatd.testing.vendors.chat_check import check_chat
from chatd.testing.vendors.chat_encode import chat_chunks
from chatd.testing.vendors.frames import Frame, named_sse, plain_sse
from chatd.testing.vendors.issued import Issued
from chatd.testing.vendors.responses_check import check_responses
from chatd.testing.vendors.responses_encode import CREATED_AT, responses_events
from chatd.testing.vendors.script import Turn

_TYPES: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    404: "invalid_request_error",
    429: "rate_limit_exceeded",
    500: "server_error",
    503: "server_error",
}
_CODES: Final[Mapping[int, str]] = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
_OVERLOADED: Final = "server_error"


class _OpenAI:
    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        """Azure has a header of its own."""
        return headers.get("api-key", "") or headers.get("authorization", "").removeprefix("Bearer ")

    def error(self, status: int, message: str, type: str, at: str) -> Mapping[str, Any]:
        kind = type or _TYPES.get(status, "invalid_request_error")
        return {"error": {"message": message, "type": kind, "param": at or None, "code": _CODES.get(status)}}

    def models(self, names: list[str]) -> Mapping[str, Any]:
        listed = [{"id": name, "object": "model", "created": CREATED_AT, "owned_by": "system"} for name in names]
        return {"object": "list", "data": listed}


class Responses(_OpenAI):
    """A Dialect."""

    name = ProtocolName.OPENAI_RESPONSES

    def check(self, asked: Asked, issued: Issued) -> None:
        check_responses(asked.body, issued)

    def encode(self, turn: Turn, asked: Asked, issued: Issued) -> list[Frame]:
        return responses_events(turn, asked.model, asked.body, issued)

    def frame(self, frame: Frame) -> bytes:
        return named_sse(frame)

    def failed(self, message: str, type: str) -> bytes:
        error = {"type": type or _OVERLOADED, "code": type or _OVERLOADED, "message": message, "param": None}
        return named_sse(Frame("error", {"type": "error", "sequence_number": 0, "error": error}))


class Chat(_OpenAI):
    """A Dialect."""

    name = ProtocolName.OPENAI_CHAT

    def check(self, asked: Asked, issued: Issued) -> None:
        check_chat(asked.body, issued)

    def encode(self, turn: Turn, asked: Asked, issued: Issued) -> list[Frame]:
        return chat_chunks(turn, asked.model, asked.body, issued)

    def frame(self, frame: Frame) -> bytes:
        return plain_sse(frame)

    def failed(self, message: str, type: str) -> bytes:
        return plain_sse(Frame("", {"error": {"message": message, "type": type or _OVERLOADED, "code": None}}))
