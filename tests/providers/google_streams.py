"""Chunks as Gemini streams them, and what is read from them."""

import json
from typing import Any

from chatd.core.model import Finished, ModelEvent
from chatd.providers.framing.wire_event import WireEvent
from chatd.providers.protocols.google.gemini import GoogleGemini
from providers.reading import Read, fold


def chunk(*parts: dict[str, Any], finish: str = "", usage: dict[str, int] | None = None, **candidate: Any) -> bytes:
    """One event; `candidate` are more fields of it."""
    one: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0, **candidate}
    if finish:
        one["finishReason"] = finish
    body: dict[str, Any] = {"candidates": [one], "responseId": "resp-1"}
    return json.dumps(body | ({"usageMetadata": usage} if usage else {})).encode()


def events_of(*chunks: bytes) -> list[ModelEvent]:
    reader = GoogleGemini().reader()
    found = [event for data in chunks for event in reader.read(WireEvent("", data))]
    return [*found, *reader.end()]


def answer_of(*chunks: bytes) -> Read:
    """The stream of these chunks, ended well."""
    events = events_of(*chunks)
    return Read(tuple(events), fold(GoogleGemini(), events))


def finish_of(*chunks: bytes) -> Finished:
    (finished,) = (event for event in events_of(*chunks) if isinstance(event, Finished))
    return finished
