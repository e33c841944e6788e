"""Values of parameters are checked with all errors at once, and no pattern takes long."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.core.errors import InvalidRequest
from chatd.core.workspaces.parameters import (
    Option,
    Parameter,
    ParameterType,
    check_parameters,
    check_values,
    read_parameters,
)
from chatd.core.workspaces.pattern import matches, pattern_problem

SIZE = Parameter(name="size", type=ParameterType.NUMBER, min=1, max=8)
REGION = Parameter(name="region", options=(Option(value="eu"), Option(value="us")), default="eu", mutable=False)
BRANCH = Parameter(name="branch", regex="[a-z/-]+", regex_error="must be a branch", default="main", ephemeral=True)
TOOLS = Parameter(name="tools", type=ParameterType.LIST, options=(Option(value="a"), Option(value="b")), default="[]")
FAST = Parameter(name="fast", type=ParameterType.BOOL, default="false")
ALL = (SIZE, REGION, BRANCH, TOOLS, FAST)


def problems(given: dict[str, str], stored: dict[str, str] | None = None) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as wrong:
        check_values(ALL, given, stored=stored)
    return {each.field.removeprefix("parameters."): each.detail for each in wrong.value.validations}


def test_a_new_workspace_has_what_was_given_and_defaults():
    values = check_values(ALL, {"size": "2", "branch": "fix"})

    assert values.build == {"size": "2", "region": "eu", "branch": "fix", "tools": "[]", "fast": "false"}
    assert values.kept == {"size": "2", "region": "eu", "tools": "[]", "fast": "false"}


def test_every_error_is_named_at_once():
    given = {"region": "mars", "branch": "NO", "tools": '["c"]', "fast": "yes", "more": ""}

    assert problems(given) == {
        "more": "is not a parameter",
        "size": "is required",
        "region": "must be one of eu, us",
        "branch": "must be a branch",
        "tools": "must be one of a, b",
        "fast": "must be true or false",
    }


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("0", "must be at least 1"),
        ("9", "must be at most 8"),
        ("nan", "must be a number"),
        ("inf", "must be a number"),
        ("two", "must be a number"),
        ("1_0", "must be a number"),
        (" 2", "must be a number"),
        ("2\n", "must be a number"),
        ("\u0662", "must be a number"),
        ("1e999", "must be a number"),
        ("1" * 9000, "is longer than 8192 characters"),
        ("1\x00", "has a NUL character"),
    ],
)
def test_a_number_is_one_within_its_bounds(value: str, problem: str):
    assert problems({"size": value}) == {"size": problem}


def test_a_later_build_keeps_values_but_for_ephemeral_ones_and_changes_only_what_may_change():
    stored = {"size": "2", "region": "us", "branch": "old", "tools": "[]", "fast": "true"}

    assert check_values(ALL, {}, stored=stored).build == {**stored, "branch": "main"}
    assert problems({"region": "eu"}, stored) == {"region": "can't be changed"}
    assert "the template has changed" in problems({}, {**stored, "size": "20"})["size"]


@pytest.mark.parametrize(
    ("parameter", "problem"),
    [
        (Parameter(name="a", type=ParameterType.BOOL, regex="a"), "only a string has a regex"),
        (Parameter(name="a", min=1), "only a number has min and max"),
        (Parameter(name="a", type=ParameterType.NUMBER, min=2, max=1), "min is above max"),
        (Parameter(name="a", options=(Option(value="x"), Option(value="x"))), "two options have the same value"),
        (Parameter(name="a", options=(Option(value="x"),), default="y"), "default must be one of x"),
        (Parameter(name="a", regex="(a+)+"), "regex repeats what holds a repetition or alternatives"),
        (Parameter(name="a", type=ParameterType.NUMBER, options=(Option(value="x"),)), "option 'x' must be a number"),
    ],
)
def test_a_template_that_asks_for_nonsense_is_refused(parameter: Parameter, problem: str):
    with pytest.raises(InvalidRequest) as wrong:
        check_parameters([parameter])

    assert [each.detail for each in wrong.value.validations] == [problem]


@pytest.mark.parametrize(
    "text", ["{}", '[{"name": "1"}]', '[{"name": "a", "more": 1}]', "[" * 3000, '[{"name": "a"}, {"name": "a"}]']
)
def test_what_is_no_list_of_parameters_is_refused(text: str):
    with pytest.raises(InvalidRequest):
        read_parameters(text)


@pytest.mark.parametrize(
    "pattern", ["[a-z]+", r"\d+\.\d+\.\d+", "(us|eu)-(east|west)-[12]", "(ab)*c", "a{2,9}", r"[\]*+]x", "x?y?"]
)
def test_common_patterns_are_allowed(pattern: str):
    assert pattern_problem(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "(a|a)*b",
            "(a*)*",
            "((a)|b)+",
            "(a?){30}",
            "a*a*a*a*b",
            "(?=a)",
            r"(a)\1",
            "(?P<x>a)",
            "a*+",
            "[",
            "x" * 300,
        ),
        *("(a|b)" * 40, "a{0,16}" * 8, "[[a]"),
    ],
)
def test_patterns_that_could_take_long_are_refused(pattern: str):
    assert pattern_problem(pattern) is not None
    assert not matches(pattern, "a" * 30)


@settings(max_examples=300, deadline=None)
@given(st.text("ab()|*+?{}123,[]^\\.", max_size=24), st.text("ab", min_size=200, max_size=256))
def test_no_pattern_that_is_allowed_takes_long(pattern: str, value: str):
    began = time.process_time()
    matches(pattern, value)

    assert time.process_time() - began < 5
