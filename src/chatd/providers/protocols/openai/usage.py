"""The token counts of both OpenAI protocols and of everything compatible, read into the normal form.

Cached tokens are a part of the input there, and reasoning is a part of the output. xAI counts reasoning beside the
output, which shows in its total.
"""

from typing import Final

import msgspec

from chatd.core.usage import ImpossibleUsage, Usage


class _InputDetails(msgspec.Struct, frozen=True):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None  # OpenRouter, and OpenAI's newer models


class _OutputDetails(msgspec.Struct, frozen=True):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None
    prompt_cache_hit_tokens: int | None = None  # DeepSeek


_DECODER: Final = msgspec.json.Decoder(_Usage)


def read_usage(raw: bytes | msgspec.Raw) -> Usage | None:
    """None for counts that nobody can trust: a whole answer is not lost for a wrong bill."""
    try:
        counts = _DECODER.decode(raw)
        return _normal(counts)
    except (ImpossibleUsage, msgspec.DecodeError, ValueError, RecursionError):
        return None


def _normal(counts: _Usage) -> Usage | None:
    read = counts.input_tokens if counts.input_tokens is not None else counts.prompt_tokens
    written = counts.output_tokens if counts.output_tokens is not None else counts.completion_tokens
    inputs = counts.input_tokens_details or counts.prompt_tokens_details or _InputDetails()
    outputs = counts.output_tokens_details or counts.completion_tokens_details or _OutputDetails()
    cached = inputs.cached_tokens if inputs.cached_tokens is not None else counts.prompt_cache_hit_tokens
    reasoning = outputs.reasoning_tokens
    if read is None and written is None:
        return None
    if reasoning and written is not None and counts.total_tokens == (read or 0) + written + reasoning:
        written += reasoning
    return Usage.from_inclusive(
        input=read,
        cached=cached,
        cache_creation=inputs.cache_write_tokens,
        output=written,
        reasoning=reasoning,
        total=counts.total_tokens,
    )
