"""How many tokens one model call used, in one normal form for all providers.

The kinds that are charged do not overlap:

  input_tokens           read by the model, WITHOUT what came from or went into a cache
  cache_read_tokens      input that came from a cache
  cache_creation_tokens  input that was written into a cache
  output_tokens          written by the model, reasoning INCLUDED

`reasoning_tokens` says how much of the output was reasoning, and `total_tokens` is what the provider called its total.
Both are for people to see; neither is charged.

Providers count differently. Anthropic reports this form already. OpenAI and Google count cached tokens as a part of the
input: use `Usage.from_inclusive`. Google counts thoughts beside the output: add them to `output` before calling it.
"""

from typing import Final

import msgspec

MOST_TOKENS: Final = 10**12  # a million full contexts of a million tokens; more is a broken provider, not a big call


class ImpossibleUsage(ValueError):
    """A count that no model call can have; `field` names it. The usage as a whole can't be trusted then."""

    def __init__(self, field: str, rule: str) -> None:
        super().__init__(f"{field} must be {rule}.")
        self.field = field


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one model call; None = the provider did not report it. Raises ImpossibleUsage for impossible counts."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_creation_tokens: int | None = None
    cache_read_tokens: int | None = None
    total_tokens: int | None = None

    def __post_init__(self) -> None:
        _check("input_tokens", self.input_tokens)
        _check("output_tokens", self.output_tokens)
        _check("reasoning_tokens", self.reasoning_tokens)
        _check("cache_creation_tokens", self.cache_creation_tokens)
        _check("cache_read_tokens", self.cache_read_tokens)
        _check("total_tokens", self.total_tokens)
        # Output without its reasoning would leave the reasoning unpaid, so it is refused, not repaired by a guess.
        if (self.reasoning_tokens or 0) > (self.output_tokens or 0):
            raise ImpossibleUsage("reasoning_tokens", "at most output_tokens, which include them")

    @classmethod
    def from_inclusive(
        cls,
        *,
        input: int | None,
        cached: int | None,
        cache_creation: int | None = None,
        output: int | None = None,
        reasoning: int | None = None,
        total: int | None = None,
    ) -> "Usage":
        """From a provider whose `input` includes what was read from (`cached`) and written into a cache."""
        _check("input_tokens", input)
        _check("cache_read_tokens", cached)
        _check("cache_creation_tokens", cache_creation)
        apart = (cached or 0) + (cache_creation or 0)
        if apart > (input or 0):
            field = "cache_read_tokens" if cached else "cache_creation_tokens"
            raise ImpossibleUsage(field, "at most the input tokens, which include cached ones")
        return cls(
            input_tokens=None if input is None else input - apart,
            output_tokens=output,
            reasoning_tokens=reasoning,
            cache_creation_tokens=cache_creation,
            cache_read_tokens=cached,
            total_tokens=total,
        )


def _check(field: str, tokens: object) -> None:
    """Counts come out of other people's JSON: 1.5, true and -1 have all been seen there."""
    if tokens is None:
        return
    if type(tokens) is not int or not 0 <= tokens <= MOST_TOKENS:
        raise ImpossibleUsage(field, f"a whole number from 0 to {MOST_TOKENS}")
