"""A turn as the chunks of Gemini's API."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from chatd.core.model import FinishReason
from chatd.core.usage import Usage
from chatd.testing.vendors.frames import Frame
from chatd.testing.vendors.issued import Issued, Json
from chatd.testing.vendors.script import Call, RunCode, Say, Search, Step, Think, Turn

_REASONS: Final = {
    FinishReason.STOP: "STOP",
    FinishReason.TOOL_CALLS: "STOP",  # the vendor has no word of its own for it
    FinishReason.LENGTH: "MAX_TOKENS",
    FinishReason.CONTENT_FILTER: "SAFETY",
    FinishReason.OTHER: "OTHER",
}


def gemini_chunks(turn: Turn, model: str, body: Mapping[str, Any], issued: Issued) -> list[Frame]:
    """Thoughts are signed on what comes after them. The first call is signed always, also if nothing shows of them."""
    reason = _REASONS.get(turn.finish)
    if reason is None:
        raise ValueError(f"Gemini has no finish reason for {turn.finish}")
    shared: Json = {"modelVersion": model, "responseId": issued.id("r")}
    told = bool(body.get("toolConfig", {}).get("includeServerSideToolInvocations"))
    parts = list(_parts(turn.steps, issued, told=told))
    searched = [step.query for step in turn.steps if isinstance(step, Search)]
    frames: list[Frame] = []
    for part in parts:
        candidate: Json = {"content": {"parts": [part], "role": "model"}, "index": 0}
        frames.append(Frame("", {"candidates": [candidate], "usageMetadata": _usage(turn.usage), **shared}))
    last: Json = {"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": reason, "index": 0}
    if searched or turn.sources:
        last["groundingMetadata"] = _grounding(turn, searched)
    frames.append(Frame("", {"candidates": [last], "usageMetadata": _usage(turn.usage), **shared}))
    return frames


def _parts(steps: tuple[Step, ...], issued: Issued, *, told: bool) -> Iterator[Json]:
    thought = False  # whether there is something to sign
    called = False
    run = ""  # the text since something else came: where one text ends and the next begins is not told
    for step in steps:
        if _shows(step, told=told):
            run = ""
        match step:
            case Think():
                thought = True
                yield from ({"text": chunk, "thought": True} for chunk in step.chunks if not step.redacted)
            case Say():
                pieces: list[Json] = [{"text": chunk} for chunk in step.chunks]
                run += "".join(step.chunks)
                if thought and pieces:
                    pieces[-1]["thoughtSignature"] = issued.sign(("text", run))
                    thought, run = False, ""
                yield from pieces
            case Call():
                call: Json = {"name": step.name, "args": json.loads(step.arguments or "{}")}
                call |= {"id": step.id} if step.id else {}
                part: Json = {"functionCall": call}
                if not called:
                    part["thoughtSignature"] = issued.sign(("functionCall", call))
                    called, thought = True, False
                yield part
            case Search():
                if told:
                    yield from _search(step, issued)
            case RunCode():
                id = issued.id("code")
                code = {"language": "PYTHON", "code": step.code, "id": id}
                result = {"outcome": "OUTCOME_OK", "output": step.output, "id": id}
                yield {"executableCode": code, "thoughtSignature": issued.sign(("executableCode", code))}
                yield {"codeExecutionResult": result}


def _shows(step: Step, *, told: bool) -> bool:
    """Whether there is anything of it among the parts, besides plain text."""
    match step:
        case Say():
            return False
        case Think():
            return not step.redacted and "".join(step.chunks) != ""
        case Search():
            return told
        case _:
            return True


def _search(search: Search, issued: Issued) -> Iterator[Json]:
    id = issued.id("tool")
    call = {"toolType": "GOOGLE_SEARCH_WEB", "id": id, "args": {"queries": [search.query]}}
    answer = {"toolType": "GOOGLE_SEARCH_WEB", "id": id, "response": {"search_suggestions": search.query}}
    yield {"toolCall": call, "thoughtSignature": issued.sign(("toolCall", call))}
    yield {"toolResponse": answer, "thoughtSignature": issued.sign(("toolResponse", answer))}


def _grounding(turn: Turn, queries: list[str]) -> Json:
    text = "".join(chunk for step in turn.steps if isinstance(step, Say) for chunk in step.chunks)
    chunks = [{"web": {"uri": source.url, "title": source.title}} for source in turn.sources]
    support = {"segment": {"endIndex": len(text.encode()), "text": text}, "groundingChunkIndices": [0]}
    said: Json = {"groundingChunks": chunks, "groundingSupports": [support] if chunks and text else []}
    return said | ({"webSearchQueries": queries} if queries else {})


def _usage(usage: Usage) -> Json:
    """Cached tokens are a part of the prompt, and thoughts are counted beside the candidates."""
    read = (usage.input_tokens or 0) + (usage.cache_read_tokens or 0)
    thought = usage.reasoning_tokens or 0
    written = (usage.output_tokens or 0) - thought
    counts: Json = {
        "promptTokenCount": read,
        "candidatesTokenCount": written,
        "totalTokenCount": read + written + thought,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": read}],
    }
    counts |= {"thoughtsTokenCount": thought} if thought else {}
    return counts | ({"cachedContentTokenCount": usage.cache_read_tokens} if usage.cache_read_tokens else {})
