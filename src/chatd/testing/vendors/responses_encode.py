"""A turn as the events of the Responses API."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from chatd.core.model import FinishReason
from chatd.core.usage import Usage
from chatd.testing.vendors.frames import Frame
from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.script import Call, RunCode, Say, Search, Source, Think, Turn

CREATED_AT: Final = 1_767_268_800  # noon of 2026-01-01, where the fake clock begins
_ENCRYPTED: Final = "reasoning.encrypted_content"
_INCOMPLETE: Final = {
    FinishReason.LENGTH: "max_output_tokens",
    FinishReason.CONTENT_FILTER: "content_filter",
}


def responses_events(turn: Turn, model: str, body: Mapping[str, Any], issued: Issued) -> list[Frame]:
    """The server remembers every item, what it depends on, and whether it is stored."""
    response = _Response(turn, model, body, issued)
    frames = list(response.events())
    return [
        Frame(frame.name, {"type": frame.name, "sequence_number": number, **_fields(frame)})
        for number, frame in enumerate(frames)
    ]


def _fields(frame: Frame) -> Mapping[str, Any]:
    assert not isinstance(frame.data, str)
    return frame.data


class _Response:
    def __init__(self, turn: Turn, model: str, body: Mapping[str, Any], issued: Issued) -> None:
        if turn.finish is FinishReason.PAUSE:
            raise ValueError("the Responses API has no pause")
        self._turn = turn
        self._body = body
        self._issued = issued
        self._model = model
        self._id = issued.id("resp_")
        self._output: list[Json] = []
        self._encrypts = _ENCRYPTED in body.get("include", ())

    def events(self) -> Iterator[Frame]:
        yield Frame("response.created", {"response": self._response("in_progress")})
        yield Frame("response.in_progress", {"response": self._response("in_progress")})
        for step in self._turn.steps:
            yield from self._step(step)
        self._remember()
        reason = _INCOMPLETE.get(self._turn.finish)
        status = "incomplete" if reason else "completed"
        whole = self._response(status) | {"output": self._output, "usage": _usage(self._turn.usage)}
        if reason:
            whole["incomplete_details"] = {"reason": reason}
        yield Frame(f"response.{status}", {"response": whole})

    def _response(self, status: str) -> Json:
        return {
            "id": self._id,
            "object": "response",
            "created_at": CREATED_AT,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": self._body.get("instructions"),
            "max_output_tokens": self._body.get("max_output_tokens"),
            "model": self._model,
            "output": [],
            "parallel_tool_calls": self._body.get("parallel_tool_calls", True),
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None} | self._body.get("reasoning", {}),
            "store": self._body.get("store", True),
            "temperature": self._body.get("temperature", 1.0),
            "text": {"format": {"type": "text"}},
            "tool_choice": self._body.get("tool_choice", "auto"),
            "tools": self._body.get("tools", []),
            "top_p": self._body.get("top_p", 1.0),
            "truncation": "disabled",
            "usage": None,
            "metadata": {},
        }

    def _step(self, step: object) -> Iterator[Frame]:
        match step:
            case Say():
                yield from self._message(step)
            case Think():
                yield from self._reasoning(step)
            case Call():
                yield from self._call(step)
            case Search():
                yield from self._search(step)
            case RunCode():
                yield from self._code(step)
            case _:
                raise TypeError(f"the Responses API can't say {step!r}")

    def _item(self, begun: Json, done: Json, *between: tuple[str, Json]) -> Iterator[Frame]:
        place = {"output_index": len(self._output)}
        self._output.append(done)
        yield Frame("response.output_item.added", {**place, "item": begun})
        for name, fields in between:
            yield Frame(f"response.{name}", {"item_id": done["id"], **place, **fields})
        yield Frame("response.output_item.done", {**place, "item": done})

    def _message(self, say: Say) -> Iterator[Frame]:
        item: Json = {"id": self._issued.id("msg_"), "type": "message", "role": "assistant"}
        text = "".join(say.chunks)
        where: Json = {"content_index": 0}
        plain = where | {"logprobs": list[Json]()}
        notes = [_annotation(source, text) for source in say.sources]
        empty: Json = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
        part = empty | {"annotations": notes, "text": text}
        yield from self._item(
            item | {"status": "in_progress", "content": list[Json]()},
            item | {"status": "completed", "content": [part]},
            ("content_part.added", where | {"part": empty}),
            *(("output_text.delta", plain | {"delta": chunk}) for chunk in say.chunks),
            *(
                ("output_text.annotation.added", where | {"annotation_index": number, "annotation": note})
                for number, note in enumerate(notes)
            ),
            ("output_text.done", plain | {"text": text}),
            ("content_part.done", where | {"part": part}),
        )

    def _reasoning(self, think: Think) -> Iterator[Frame]:
        item: Json = {"id": self._issued.id("rs_"), "type": "reasoning"}
        text, where = "".join(think.chunks), {"summary_index": 0}
        shown = bool(text) and not think.redacted
        part = {"type": "summary_text", "text": text}
        done = item | {"summary": [part] if shown else []}
        if self._encrypts:
            done["encrypted_content"] = self._issued.sign(("reasoning", item["id"]))
        between: list[tuple[str, Json]] = []
        if shown:
            between = [
                ("reasoning_summary_part.added", where | {"part": part | {"text": ""}}),
                *(("reasoning_summary_text.delta", where | {"delta": chunk}) for chunk in think.chunks),
                ("reasoning_summary_text.done", where | {"text": text}),
                ("reasoning_summary_part.done", where | {"part": part}),
            ]
        yield from self._item(item | {"summary": []}, done, *between)

    def _call(self, call: Call) -> Iterator[Frame]:
        item: Json = {"id": self._issued.id("fc_"), "type": "function_call"}
        item |= {"call_id": call.id or self._issued.id("call_"), "name": call.name}
        yield from self._item(
            item | {"status": "in_progress", "arguments": ""},
            item | {"status": "completed", "arguments": call.arguments},
            *(("function_call_arguments.delta", {"delta": piece}) for piece in call.pieces),
            ("function_call_arguments.done", {"name": call.name, "arguments": call.arguments}),
        )

    def _search(self, search: Search) -> Iterator[Frame]:
        item: Json = {"id": self._issued.id("ws_"), "type": "web_search_call"}
        action: Json = {"type": "search", "query": search.query}
        if "web_search_call.action.sources" in self._body.get("include", ()):
            action["sources"] = [{"type": "url", "url": hit.url} for hit in search.hits]
        yield from self._item(
            item | {"status": "in_progress"},
            item | {"status": "completed", "action": action},
            *((f"web_search_call.{name}", Json()) for name in ("in_progress", "searching", "completed")),
        )

    def _code(self, ran: RunCode) -> Iterator[Frame]:
        item: Json = {"id": self._issued.id("ci_"), "type": "code_interpreter_call", "container_id": "cntr_1"}
        outputs = [{"type": "logs", "logs": ran.output}]
        shown = "code_interpreter_call.outputs" in self._body.get("include", ())
        yield from self._item(
            item | {"status": "in_progress", "code": "", "outputs": None},
            item | {"status": "completed", "code": ran.code, "outputs": outputs if shown else None},
            ("code_interpreter_call.in_progress", {}),
            ("code_interpreter_call_code.delta", {"delta": ran.code}),
            ("code_interpreter_call_code.done", {"code": ran.code}),
            ("code_interpreter_call.interpreting", {}),
            ("code_interpreter_call.completed", {}),
        )

    def _remember(self) -> None:
        """Items depend on the newest reasoning before them; reasoning can't be without what stood right after it."""
        reasoning = ""
        for number, item in enumerate(self._output):
            self._issued.items[item["id"]] = json.loads(json.dumps(item))
            if self._body.get("store", True):
                self._issued.stored[item["id"]] = True
            if reasoning and item["type"] != "reasoning":
                self._issued.reasoning_of[item["id"]] = reasoning
            if item["type"] == "reasoning":
                reasoning = item["id"]
                if number + 1 < len(self._output):
                    self._issued.follower_of[item["id"]] = self._output[number + 1]["id"]


def _annotation(source: Source, text: str) -> Json:
    return {"type": "url_citation", "start_index": 0, "end_index": len(text), "url": source.url, "title": source.title}


def _usage(usage: Usage) -> Json:
    """Cached tokens are a part of the input here."""
    read = (usage.input_tokens or 0) + (usage.cache_read_tokens or 0) + (usage.cache_creation_tokens or 0)
    written = usage.output_tokens or 0
    return {
        "input_tokens": read,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens or 0,
            "cache_write_tokens": usage.cache_creation_tokens or 0,
        },
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": read + written,
    }
