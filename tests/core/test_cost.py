"""A call's cost equals exact arithmetic, rounded up once; what is not known stays unknown."""

import decimal
import math
from decimal import Decimal
from fractions import Fraction

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chatd.core.cost import MOST_MICRODOLLARS, LongPromptRates, Prices, cost_microdollars, format_price, parse_price
from chatd.core.errors import InvalidRequest
from chatd.core.usage import MOST_TOKENS, ImpossibleUsage, Usage

COUNTS = (
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cache_creation_tokens",
    "cache_read_tokens",
    "total_tokens",
)
ZERO = Decimal(0)
FREE = Prices(input=ZERO, output=ZERO, cache_read=ZERO, cache_write=ZERO)

# Up to 10^5 dollars a million tokens and 10^12 tokens: four such kinds stay below a BIGINT. The bound has its own test.
prices_of_a_kind = st.integers(0, 10**15).map(lambda steps: Decimal(steps).scaleb(-10))
any_price = st.integers(0, 10**20 - 1).map(lambda steps: Decimal((0, tuple(map(int, str(steps))), -10)))
counts = st.integers(0, MOST_TOKENS)
all_prices = st.builds(
    Prices, input=prices_of_a_kind, output=prices_of_a_kind, cache_read=prices_of_a_kind, cache_write=prices_of_a_kind
)


@st.composite
def usages(draw: st.DrawFn, tokens: st.SearchStrategy[int] = counts) -> Usage:
    output = draw(st.none() | tokens)
    return Usage(
        input_tokens=draw(st.none() | tokens),
        output_tokens=output,
        reasoning_tokens=draw(st.none() | st.integers(0, output or 0)),
        cache_creation_tokens=draw(st.none() | tokens),
        cache_read_tokens=draw(st.none() | tokens),
        total_tokens=draw(st.none() | tokens),
    )


def charged(usage: Usage) -> tuple[int | None, ...]:
    return (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_creation_tokens)


def exact(usage: Usage, prices: Prices) -> Fraction:
    """The oracle: fractions, which never round."""
    rates = (prices.input, prices.output, prices.cache_read, prices.cache_write)
    return sum(
        (Fraction(rate or 0) * (tokens or 0) for tokens, rate in zip(charged(usage), rates, strict=True)), Fraction(0)
    )


def some(usage: Usage) -> Usage:
    assume(any(tokens is not None for tokens in charged(usage)))
    return usage


def known(cost: int | None) -> int:
    assert cost is not None
    return cost


@pytest.mark.behaviour("COST-1")
@given(usages(), all_prices)
def test_a_cost_is_the_exact_sum_rounded_up_once(usage: Usage, prices: Prices):
    assert cost_microdollars(some(usage), prices) == math.ceil(exact(usage, prices))


@pytest.mark.behaviour("COST-1")
@given(usages(), all_prices)
def test_the_callers_decimal_context_changes_nothing(usage: Usage, prices: Prices):
    expected = cost_microdollars(usage, prices)
    texts = prices.texts()

    with decimal.localcontext() as context:
        context.prec, context.rounding, context.Emax, context.capitals = 1, decimal.ROUND_DOWN, 1, 0
        for signal in context.traps:
            context.traps[signal] = True
        context.clear_flags()

        assert cost_microdollars(usage, prices) == expected
        assert prices.texts() == texts
        assert Prices.parse(**texts) == prices
        assert not any(context.flags.values())


@given(st.lists(usages().map(some), max_size=6), all_prices)
def test_messages_together_never_cost_less_than_their_tokens(calls: list[Usage], prices: Prices):
    total = sum(known(cost_microdollars(usage, prices)) for usage in calls)

    assert 0 <= total - sum(exact(usage, prices) for usage in calls) <= len(calls)


@given(
    usages(st.integers(0, MOST_TOKENS - 10**6)),
    all_prices,
    st.sampled_from(["input_tokens", "output_tokens", "cache_creation_tokens", "cache_read_tokens"]),
    st.integers(0, 10**6),
)
def test_more_tokens_never_cost_less(usage: Usage, prices: Prices, field: str, more: int):
    grown = msgspec.structs.replace(usage, **{field: (getattr(usage, field) or 0) + more})

    assert known(cost_microdollars(grown, prices)) >= known(cost_microdollars(some(usage), prices))


@pytest.mark.behaviour("COST-2")
@given(usages(), all_prices)
def test_reasoning_is_charged_once_as_output(usage: Usage, prices: Prices):
    plain = msgspec.structs.replace(usage, reasoning_tokens=None, total_tokens=None)

    assert cost_microdollars(usage, prices) == cost_microdollars(plain, prices)


@pytest.mark.parametrize(
    ("usage", "prices", "cost"),
    [
        (Usage(input_tokens=1), {"input": "0.0000000001"}, 1),
        (Usage(input_tokens=3, output_tokens=7), {"input": "0.1", "output": "0.1"}, 1),
        (Usage(input_tokens=10), {"input": "0.1"}, 1),
        (Usage(input_tokens=3), {"input": "1.1"}, 4),
        (Usage(input_tokens=10), {"input": "1.1"}, 11),
        (Usage(input_tokens=100), {"input": "1.1"}, 110),  # as floats 110.00000000000001, which rounds up to 111
        (Usage(output_tokens=1_000_000, reasoning_tokens=900_000), {"output": "15"}, 15_000_000),
        (
            Usage(input_tokens=1000, cache_read_tokens=2000, cache_creation_tokens=3000, output_tokens=4000),
            {"input": "3", "cache_read": "0.3", "cache_write": "3.75", "output": "15"},
            3000 + 600 + 11_250 + 60_000,
        ),
    ],
)
def test_a_cost_by_hand(usage: Usage, prices: dict[str, str], cost: int):
    assert cost_microdollars(usage, Prices.parse(**prices)) == cost


@pytest.mark.behaviour("COST-1")
def test_a_used_kind_without_a_price_makes_the_cost_unknown():
    prices = Prices.parse(input="3", output="15")

    assert cost_microdollars(Usage(input_tokens=5, cache_read_tokens=1), prices) is None
    assert cost_microdollars(Usage(input_tokens=5, cache_creation_tokens=1), prices) is None
    assert cost_microdollars(Usage(input_tokens=5), Prices()) is None


def test_a_kind_that_was_not_used_needs_no_price():
    prices = Prices.parse(input="3", output="15")

    assert cost_microdollars(Usage(input_tokens=5, cache_read_tokens=0), prices) == 15


@pytest.mark.behaviour("COST-1")
@given(usages(), all_prices)
def test_a_free_call_costs_zero_and_is_not_unknown(usage: Usage, prices: Prices):
    assert cost_microdollars(usage, FREE) == 0
    assert cost_microdollars(Usage(input_tokens=0, output_tokens=0), prices) == 0
    assert cost_microdollars(Usage(input_tokens=0), Prices()) == 0


LONG = Prices(
    input=Decimal(1),
    output=Decimal(10),
    cache_read=Decimal("0.1"),
    cache_write=Decimal("1.5"),
    long_prompt=LongPromptRates(
        above=100, input=Decimal(2), output=Decimal(15), cache_read=Decimal("0.2"), cache_write=Decimal(3)
    ),
)


@pytest.mark.behaviour("COST-1")
@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(input_tokens=100, output_tokens=10), 200),
        (Usage(input_tokens=101, output_tokens=10), 352),
        (Usage(input_tokens=50, cache_read_tokens=50, output_tokens=10), 155),
        (Usage(input_tokens=50, cache_read_tokens=51, output_tokens=10), 261),
        (Usage(input_tokens=10, output_tokens=10_000), 100_010),
        (Usage(input_tokens=90, cache_creation_tokens=10), 105),
        (Usage(input_tokens=90, cache_creation_tokens=11), 213),
    ],
)
def test_a_long_prompt_has_prices_of_its_own_for_all_tokens(usage: Usage, cost: int):
    """Cached tokens are a part of the prompt; the answer is none."""
    assert cost_microdollars(usage, LONG) == cost


def test_what_nobody_said_of_long_prompts_is_not_known():
    prices = Prices(input=Decimal(1), long_prompt=LongPromptRates(above=10))
    assert cost_microdollars(Usage(input_tokens=10), prices) == 10
    assert cost_microdollars(Usage(input_tokens=11), prices) is None


def test_prices_of_long_prompts_are_checked_as_all_are():
    with pytest.raises(ValueError, match="input"):
        LongPromptRates(above=1, input=Decimal(-1))


@pytest.mark.parametrize("usage", [Usage(), Usage(total_tokens=100)])
def test_a_call_whose_charged_tokens_were_not_reported_is_unknown(usage: Usage):
    assert cost_microdollars(usage, Prices.parse(input="3", output="15")) is None
    assert cost_microdollars(usage, Prices()) is None


@pytest.mark.behaviour("COST-1")
def test_the_largest_cost_a_bigint_holds_is_kept_and_one_more_is_refused():
    prices = Prices.parse(input="9223372.036854775", output="1")
    rest = MOST_MICRODOLLARS - 9223372036854775 * 1000

    most = cost_microdollars(Usage(input_tokens=MOST_TOKENS, output_tokens=rest), prices)

    assert most == MOST_MICRODOLLARS
    with pytest.raises(ValueError, match="Check the prices of the model"):
        cost_microdollars(Usage(input_tokens=MOST_TOKENS, output_tokens=rest + 1), prices)


def test_the_most_tokens_at_the_highest_price_are_refused_and_not_rounded():
    highest = Decimal("9999999999.9999999999")
    prices = Prices(input=highest, output=highest, cache_read=highest, cache_write=highest)
    usage = Usage(
        input_tokens=MOST_TOKENS - 1,
        output_tokens=MOST_TOKENS - 1,
        cache_read_tokens=MOST_TOKENS - 1,
        cache_creation_tokens=MOST_TOKENS - 1,
    )

    with pytest.raises(ValueError, match="microdollars"):
        cost_microdollars(usage, prices)


@given(any_price)
def test_a_price_survives_its_text(price: Decimal):
    text = format_price(price)

    assert parse_price(text) == price
    assert format_price(parse_price(text)) == text
    assert "E" not in text.upper()


@given(st.from_regex(r"\A(0|[1-9][0-9]{0,9})(\.[0-9]{1,10})?\Z"))
def test_an_allowed_text_is_read_exactly(text: str):
    assert Fraction(parse_price(text)) == Fraction(text)


@pytest.mark.behaviour("COST-1")
@given(st.builds(Prices, **dict.fromkeys(("input", "output", "cache_read", "cache_write"), st.none() | any_price)))
def test_prices_survive_their_texts(prices: Prices):
    assert Prices.parse(**prices.texts()) == prices


@pytest.mark.parametrize(
    ("price", "text"),
    [("1.500", "1.5"), ("0E-10", "0"), ("1E+2", "100"), ("1E-10", "0.0000000001"), ("100", "100"), ("3.0", "3")],
)
def test_equal_prices_have_equal_texts(price: str, text: str):
    assert format_price(Decimal(price)) == text


HOSTILE = [
    *("", " ", ".", "-", "+1", "-1", "-0", " 1", "1 ", "1\n", "\n1", "1\0", "1.", ".5", "01", "00", "1..2", "1.2.3"),
    *("1e3", "1E-7", "NaN", "sNaN", "inf", "Infinity", "-inf", "0x10", "1_000", "1,5", "$1", "\uff11", "\u0663"),
    *("12345678901", "0.12345678901", "9" * 100_000, "0." + "0" * 100_000, "null", "true", "1\ud800"),
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_price_is_refused_and_says_what_is_allowed(text: str):
    with pytest.raises(ValueError, match=r"like 0\.075: at most 10 digits before the point and 10 after it"):
        parse_price(text)


def test_every_wrong_price_is_named():
    with pytest.raises(InvalidRequest) as caught:
        Prices.parse(input="3", output="1e3", cache_write="-1")

    assert [validation.field for validation in caught.value.validations] == ["output", "cache_write"]
    assert "without sign or exponent" in caught.value.validations[0].detail


@pytest.mark.parametrize("price", ["-1", "-0", "NaN", "sNaN", "Infinity", "1E+10", "1E-11", "1E+999999", "0E-11"])
def test_a_price_that_the_database_could_not_hold_is_refused(price: str):
    with pytest.raises(ValueError, match="The price output must be a decimal number"):
        Prices(output=Decimal(price))
    with pytest.raises(ValueError, match="A price must be a decimal number"):
        format_price(Decimal(price))


def test_a_float_is_not_a_price():
    with pytest.raises(ValueError, match="The price input must be"):
        Prices(input=0.1)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("field", COUNTS)
@pytest.mark.parametrize("count", [-1, MOST_TOKENS + 1, 2**63, 1.5, True, "1"])
def test_an_absurd_count_is_refused_with_its_field(field: str, count: object):
    with pytest.raises(ImpossibleUsage, match=rf"{field} must be a whole number from 0 to 1000000000000\.") as caught:
        Usage(**{field: count})  # pyright: ignore[reportArgumentType]

    assert caught.value.field == field


@pytest.mark.behaviour("COST-2")
@pytest.mark.parametrize("usage", [{"output_tokens": 4, "reasoning_tokens": 5}, {"reasoning_tokens": 1}])
def test_reasoning_beyond_the_output_is_refused(usage: dict[str, int]):
    with pytest.raises(ImpossibleUsage) as caught:
        Usage(**usage)

    assert caught.value.field == "reasoning_tokens"


def test_an_absurd_count_in_json_is_a_validation_error():
    with pytest.raises(msgspec.ValidationError, match="input_tokens must be"):
        msgspec.json.decode(b'{"input_tokens": -1}', type=Usage)


@given(usages())
def test_a_usage_survives_json(usage: Usage):
    assert msgspec.json.decode(msgspec.json.encode(usage), type=Usage) == usage


@given(st.none() | st.integers(0, 10**6), st.none() | st.integers(0, 10**6), st.none() | st.integers(0, 10**6))
def test_input_that_includes_cached_tokens_is_taken_apart(plain: int | None, cached: int | None, created: int | None):
    input = None if plain is None else plain + (cached or 0) + (created or 0)
    assume(input is not None or not (cached or created))

    usage = Usage.from_inclusive(
        input=input, cached=cached, cache_creation=created, output=9, reasoning=4, total=(input or 0) + 9
    )

    assert usage == Usage(
        input_tokens=plain,
        cache_read_tokens=cached,
        cache_creation_tokens=created,
        output_tokens=9,
        reasoning_tokens=4,
        total_tokens=(input or 0) + 9,
    )


@pytest.mark.parametrize(
    ("input", "cached", "created", "field"),
    [
        (5, 6, None, "cache_read_tokens"),
        (None, 1, None, "cache_read_tokens"),
        (5, 3, 3, "cache_read_tokens"),
        (5, 0, 6, "cache_creation_tokens"),
        (None, None, 1, "cache_creation_tokens"),
        (-1, None, None, "input_tokens"),
        (5, -1, None, "cache_read_tokens"),
        (5, None, -1, "cache_creation_tokens"),
    ],
)
def test_more_cached_tokens_than_input_are_refused(
    input: int | None, cached: int | None, created: int | None, field: str
):
    with pytest.raises(ImpossibleUsage) as caught:
        Usage.from_inclusive(input=input, cached=cached, cache_creation=created)

    assert caught.value.field == field
