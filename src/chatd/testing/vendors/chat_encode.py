"""A turn as the chunks of Chat Completions, with the reasoning that compatible servers add."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from chatd.core.model import FinishReason
from chatd.core.usage import Usage
from chatd.testing.vendors.chat_dialects import REASONING, signs_calls
from chatd.testing.vendors.frames import Frame
from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.responses_encode import CREATED_AT
from chatd.testing.vendors.script import Call, Say, Search, Think, Turn

_REASONS: Final = {
    FinishReason.STOP: "stop",
    FinishReason.TOOL_CALLS: "tool_calls",
    FinishReason.LENGTH: "length",
    FinishReason.CONTENT_FILTER: "content_filter",
}
DONE: Final = Frame("", "[DONE]")


def chat_chunks(turn: Turn, model: str, body: Mapping[str, Any], issued: Issued) -> list[Frame]:
    """A search shows in its sources only."""
    reason = _REASONS.get(turn.finish)
    if reason is None:
        raise ValueError(f"Chat Completions has no finish reason for {turn.finish}")
    whole: Json = {
        "id": issued.id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": CREATED_AT,
        "model": model,
        "system_fingerprint": "fp_1",
    }
    counts = bool(body.get("stream_options", {}).get("include_usage"))
    deltas: list[tuple[Json, str | None]] = [({"role": "assistant", "content": "", "refusal": None}, None)]
    deltas += [(delta, None) for delta in _deltas(turn, model, issued)]
    deltas.append(({}, reason))
    frames = [
        Frame(
            "",
            whole
            | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}
            | ({"usage": None} if counts else {}),
        )
        for delta, finish in deltas
    ]
    if counts:
        frames.append(Frame("", whole | {"choices": [], "usage": _usage(turn.usage)}))
    return [*frames, DONE]


def reasoning_key(thoughts: str) -> str:
    """How the reasoning of an answer is remembered. Nobody says where one thought ends, so space does not count."""
    return REASONING + "".join(thoughts.split())


def _deltas(turn: Turn, model: str, issued: Issued) -> Iterator[Json]:
    calls = 0
    thoughts = "".join(chunk for step in turn.steps if isinstance(step, Think) for chunk in step.chunks)
    issued.signed[reasoning_key(thoughts)] = True
    for step in turn.steps:
        match step:
            case Say():
                yield from ({"content": chunk} for chunk in step.chunks)
            case Think():
                yield from ({"reasoning_content": chunk} for chunk in step.chunks)
            case Call() if signs_calls(model):
                yield {"tool_calls": [_signed_call(step, issued)]}
            case Call():
                yield from ({"tool_calls": [{"index": calls, **piece}]} for piece in _call(step, issued))
                calls += 1
            case Search():
                pass
            case _:
                raise TypeError(f"Chat Completions can't say {step!r}")
    if turn.sources:
        cited = [
            {"url": source.url, "title": source.title, "start_index": 0, "end_index": 1} for source in turn.sources
        ]
        yield {"annotations": [{"type": "url_citation", "url_citation": citation} for citation in cited]}


def _call(call: Call, issued: Issued) -> Iterator[Json]:
    yield {
        "id": call.id or issued.id("call_"),
        "type": "function",
        "function": {"name": call.name, "arguments": ""},
    }
    yield from ({"function": {"arguments": piece}} for piece in call.pieces)


def _signed_call(call: Call, issued: Issued) -> Json:
    """Google gives a call at once, without an index."""
    return {
        "id": call.id or issued.id("call_"),
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments or "{}"},
        "extra_content": {"google": {"thought_signature": issued.sign(("call", call.name))}},
    }


def _usage(usage: Usage) -> Json:
    """Cached tokens are a part of the prompt here."""
    read = (usage.input_tokens or 0) + (usage.cache_read_tokens or 0) + (usage.cache_creation_tokens or 0)
    written = usage.output_tokens or 0
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0, "audio_tokens": 0},
    }
