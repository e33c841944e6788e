"""A turn as the events of Anthropic's Messages API."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from chatd.core.model import FinishReason
from chatd.core.usage import Usage
from chatd.testing.vendors.anthropic_models import before_answer
from chatd.testing.vendors.frames import Frame
from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.script import Call, RunCode, Say, Search, Source, Think, Turn

_STOPS: Final = {
    FinishReason.STOP: "end_turn",
    FinishReason.TOOL_CALLS: "tool_use",
    FinishReason.LENGTH: "max_tokens",
    FinishReason.PAUSE: "pause_turn",
    FinishReason.CONTENT_FILTER: "refusal",
    FinishReason.OTHER: "compaction",
}


def anthropic_events(turn: Turn, model: str, issued: Issued, asked: Mapping[str, Any] | None = None) -> list[Frame]:
    """`asked` is the body of the request, to which thoughts are bound."""
    return list(_Message(turn, model, issued, asked or {}).events())


class _Message:
    def __init__(self, turn: Turn, model: str, issued: Issued, asked: Mapping[str, Any]) -> None:
        self._turn = turn
        self._model = model
        self._issued = issued
        self._asked = asked
        self._index = -1
        self._thoughts: list[Json] = []

    def events(self) -> Iterator[Frame]:
        message: Json = {
            "model": self._model,
            "id": self._issued.id("msg_01"),
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _usage(self._turn.usage) | {"output_tokens": 1, "service_tier": "standard"},
        }
        yield _event("message_start", message=message)
        pinged = False
        for step in self._turn.steps:
            for event in self._step(step):
                yield event
                if not pinged:  # the vendor does so after the first block has begun
                    pinged = True
                    yield _event("ping")
        searches = sum(isinstance(step, Search) for step in self._turn.steps)
        counted = _usage(self._turn.usage) | {"server_tool_use": {"web_search_requests": searches}}
        stop = {"stop_reason": _STOPS[self._turn.finish], "stop_sequence": None}
        yield _event("message_delta", delta=stop, usage=counted)
        yield _event("message_stop")

    def _step(self, step: object) -> Iterator[Frame]:
        match step:
            case Say():
                yield from self._text(step)
            case Think():
                yield from self._thinking(step)
            case Call():
                call_id = step.id or self._issued.id("toolu_01")
                self._issued.thoughts_before[call_id] = list(self._thoughts)
                yield from self._call({"type": "tool_use", "id": call_id, "name": step.name}, step.pieces)
            case Search():
                yield from self._search(step)
            case RunCode():
                yield from self._code(step)
            case _:
                raise TypeError(f"Anthropic can't say {step!r}")

    def _text(self, say: Say) -> Iterator[Frame]:
        start: Json = {"type": "text", "text": ""}
        cited = [_citation(source, self._issued) for source in say.sources]
        pieces = [{"type": "citations_delta", "citation": citation} for citation in cited]
        texts = [{"type": "text_delta", "text": chunk} for chunk in say.chunks]
        yield from self._block(start | ({"citations": []} if cited else {}), *pieces, *texts)

    def _thinking(self, think: Think) -> Iterator[Frame]:
        text = "".join(think.chunks)
        if think.redacted:
            block = {"type": "redacted_thinking", "data": self._sign("redacted_thinking", text)}
            self._thoughts.append(block)
            yield from self._block(block)
            return
        signature = self._sign("thinking", text)
        self._thoughts.append({"type": "thinking", "thinking": text, "signature": signature})
        pieces = [{"type": "thinking_delta", "thinking": chunk} for chunk in think.chunks]
        signed = {"type": "signature_delta", "signature": signature}
        yield from self._block({"type": "thinking", "thinking": "", "signature": ""}, *pieces, signed)

    def _sign(self, kind: str, text: str) -> str:
        return self._issued.sign((kind, text, before_answer(self._asked)))

    def _call(self, start: Json, pieces: tuple[str, ...]) -> Iterator[Frame]:
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces)]
        yield from self._block(start | {"input": {}}, *deltas)

    def _search(self, search: Search) -> Iterator[Frame]:
        call_id = self._issued.id("srvtoolu_01")
        start = {"type": "server_tool_use", "id": call_id, "name": "web_search"}
        yield from self._call(start, ('{"query": ', json.dumps(search.query), "}"))
        found = [
            {
                "type": "web_search_result",
                "title": hit.title,
                "url": hit.url,
                "encrypted_content": self._issued.sign(("hit", hit.url)),
                "page_age": None,
            }
            for hit in search.hits
        ]
        yield from self._result({"type": "web_search_tool_result", "tool_use_id": call_id, "content": found})

    def _code(self, ran: RunCode) -> Iterator[Frame]:
        call_id = self._issued.id("srvtoolu_01")
        start = {"type": "server_tool_use", "id": call_id, "name": "bash_code_execution"}
        yield from self._call(start, (json.dumps({"command": ran.code}),))
        outcome: Json = {"stdout": ran.output, "stderr": "", "return_code": 0, "content": []}
        content = {"type": "bash_code_execution_result", **outcome}
        yield from self._result({"type": "bash_code_execution_tool_result", "tool_use_id": call_id, "content": content})

    def _result(self, block: Json) -> Iterator[Frame]:
        self._issued.results[block["tool_use_id"]] = block
        yield from self._block(block)

    def _block(self, start: Json, *pieces: Json) -> Iterator[Frame]:
        self._index += 1
        yield _event("content_block_start", index=self._index, content_block=start)
        for piece in pieces:
            yield _event("content_block_delta", index=self._index, delta=piece)
        yield _event("content_block_stop", index=self._index)


def _event(type: str, **fields: Any) -> Frame:
    return Frame(type, {"type": type, **fields})


def _citation(source: Source, issued: Issued) -> Json:
    return {
        "type": "web_search_result_location",
        "cited_text": source.title or source.url,
        "url": source.url,
        "title": source.title,
        "encrypted_index": issued.sign(("citation", source.url)),
    }


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input_tokens or 0,
        "cache_creation_input_tokens": usage.cache_creation_tokens or 0,
        "cache_read_input_tokens": usage.cache_read_tokens or 0,
        "output_tokens": usage.output_tokens or 0,
        "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens or 0},
    }
