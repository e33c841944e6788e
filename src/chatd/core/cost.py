"""What a model call costs: exact prices, one exact sum, rounded up once to a whole microdollar.

A price is in dollars per million tokens, which is the same number as microdollars per token. Prices travel as decimal
strings ("0.075"), costs as integers. Nothing here touches a float or the decimal context of the caller.

A cost is None (NULL) when it is not known, 0 when the call was free. Unknown is unknown, not zero:

- a kind of token that was used and has no price makes the whole cost unknown. There is no fallback between kinds: a
  cache read is usually cheaper than input and a cache write dearer, so the price of input is wrong for both, and 0
  would hide spending. Whoever wants a kind to be free says so with the price "0";
- a call for which the provider reported none of the charged kinds is unknown, unless every kind is free;
- a kind that was not reported beside one that was counts as not used: providers leave out what is zero.

Some vendors charge more for a call with a long prompt, for all of its tokens: `Prices.long_prompt`.
"""

import re
from decimal import Decimal
from typing import Final

import msgspec

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.usage import Usage

MOST_MICRODOLLARS: Final = 2**63 - 1  # what a BIGINT holds

# Prices are numeric(20, 10) in the database: up to ten billion dollars per million tokens, in steps that are far finer
# than any price list.
_WHOLE_DIGITS: Final = 10
_FRACTION_DIGITS: Final = 10
PRICE_PATTERN: Final = rf"^(0|[1-9][0-9]{{0,{_WHOLE_DIGITS - 1}}})(\.[0-9]{{1,{_FRACTION_DIGITS}}})?$"
_PRICE: Final = re.compile(PRICE_PATTERN)
_RULE: Final = (
    f"a decimal number of dollars per million tokens, 0 or more, like 0.075: at most {_WHOLE_DIGITS} digits before the "
    f"point and {_FRACTION_DIGITS} after it, without sign or exponent"
)
_STEPS: Final = 10**_FRACTION_DIGITS  # of a price within a dollar: each price is a whole number of them


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Dollars per million tokens of each kind; None = no price known, 0 = free. Raises ValueError outside the range.

    On the wire they are `texts()`, read by `parse_rates`: msgspec would write a small Decimal with an exponent.
    """

    input: Decimal | None = None
    output: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None

    def __post_init__(self) -> None:
        for kind, price in self._by_kind():
            if price is not None and not _fits(price):
                raise ValueError(f"The price {kind} must be {_RULE}.")

    def texts(self) -> dict[str, str]:
        """The known prices as decimal strings: `Prices.parse(**prices.texts()) == prices`."""
        return {kind: format_price(price) for kind, price in self._by_kind() if price is not None}

    def _by_kind(self) -> tuple[tuple[str, Decimal | None], ...]:
        return (
            ("input", self.input),
            ("output", self.output),
            ("cache_read", self.cache_read),
            ("cache_write", self.cache_write),
        )


class LongPromptRates(Rates, frozen=True, kw_only=True):
    """What all tokens of a call cost when its prompt has more than `above` tokens, cached ones included."""

    above: int


class Prices(Rates, frozen=True, kw_only=True):
    """What a model costs: `long_prompt` instead, for a prompt that is longer than it says."""

    long_prompt: LongPromptRates | None = None

    @classmethod
    def parse(
        cls,
        *,
        input: str | None = None,
        output: str | None = None,
        cache_read: str | None = None,
        cache_write: str | None = None,
    ) -> "Prices":
        """From decimal strings; raises InvalidRequest naming every one that is wrong."""
        rates = Rates(**parse_rates(input=input, output=output, cache_read=cache_read, cache_write=cache_write))
        return cls(**msgspec.structs.asdict(rates))

    def rates(self, usage: Usage) -> Rates:
        """Those that count for a call."""
        prompt = (usage.input_tokens or 0) + (usage.cache_read_tokens or 0) + (usage.cache_creation_tokens or 0)
        return self.long_prompt if self.long_prompt is not None and prompt > self.long_prompt.above else self


def parse_rates(**texts: str | None) -> dict[str, Decimal]:
    """The known ones of decimal strings; raises InvalidRequest naming every one that is wrong."""
    prices: dict[str, Decimal] = {}
    wrong: list[Validation] = []
    for kind, text in texts.items():
        if text is None:
            continue
        try:
            prices[kind] = parse_price(text)
        except ValueError:
            wrong.append(Validation(kind, _RULE))
    if wrong:
        raise InvalidRequest(f"Check the prices {', '.join(one.field for one in wrong)}.", validations=wrong)
    return prices


def parse_price(text: str) -> Decimal:
    """The exact number; raises ValueError, which says what is allowed."""
    if not _PRICE.fullmatch(text):
        raise ValueError(f"A price must be {_RULE}.")
    return Decimal(text)


def format_price(price: Decimal) -> str:
    """The shortest decimal string of a price, without exponent: equal prices have equal strings."""
    if not _fits(price):
        raise ValueError(f"A price must be {_RULE}.")
    text = f"{price:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def cost_microdollars(usage: Usage, prices: Prices) -> int | None:
    """What the call costs, rounded up; None = unknown (see the module). Raises ValueError above MOST_MICRODOLLARS.

    Calculate it once, from what the provider reported: in a stored row zero and unreported counts look the same.
    """
    rates = prices.rates(usage)
    charged = (
        (usage.input_tokens, rates.input),
        (usage.output_tokens, rates.output),  # reasoning is in here, and is charged here only
        (usage.cache_read_tokens, rates.cache_read),
        (usage.cache_creation_tokens, rates.cache_write),
    )
    if all(tokens is None for tokens, _ in charged):
        return 0 if all(price == 0 for _, price in charged) else None
    total = 0  # in steps of the finest price
    for tokens, price in charged:
        if not tokens:
            continue
        if price is None:
            return None
        numerator, denominator = price.as_integer_ratio()
        total += tokens * numerator * (_STEPS // denominator)
    cost = -(-total // _STEPS)
    if cost > MOST_MICRODOLLARS:
        raise ValueError(f"The cost is more than {MOST_MICRODOLLARS} microdollars. Check the prices of the model.")
    return cost


def _fits(price: object) -> bool:
    if not isinstance(price, Decimal) or price.is_signed():
        return False
    exponent = price.as_tuple().exponent  # a letter for infinity and NaN
    return isinstance(exponent, int) and exponent >= -_FRACTION_DIGITS and price.adjusted() < _WHOLE_DIGITS
