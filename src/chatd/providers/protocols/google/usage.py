"""Gemini's token counts, read into the normal form.

Cached tokens are a part of the prompt, thoughts are counted beside the candidates, and what the vendor's own tools gave
the model is counted beside the prompt: it is input like any other.
"""

from typing import Final

import msgspec

from chatd.core.usage import ImpossibleUsage, Usage


class _Counts(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    total_token_count: int | None = None


_DECODER: Final = msgspec.json.Decoder(_Counts)


def read_usage(raw: bytes) -> Usage | None:
    """None for counts that nobody can trust: a whole answer is not lost for a wrong bill."""
    try:
        counts = _DECODER.decode(raw)
        return Usage.from_inclusive(
            input=_sum(counts.prompt_token_count, counts.tool_use_prompt_token_count),
            cached=counts.cached_content_token_count,
            output=_sum(counts.candidates_token_count, counts.thoughts_token_count),
            reasoning=counts.thoughts_token_count,
            total=counts.total_token_count,
        )
    except (ImpossibleUsage, msgspec.DecodeError, ValueError, RecursionError):
        return None


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
