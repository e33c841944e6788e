"""What a template asks for, and the values that a workspace is built with: all errors are named at once."""

import math
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.workspaces.limits import MOST_OPTIONS, MOST_PARAMETERS, MOST_VALUE_CHARACTERS
from chatd.core.workspaces.pattern import matches, pattern_problem


class ParameterType(StrEnum):
    STRING = "string"
    NUMBER = "number"
    BOOL = "bool"  # true or false
    LIST = "list"  # a JSON list of strings


class Option(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    value: str
    name: str = ""
    description: str = ""


class Parameter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Without a default it must be given. One that is not mutable keeps its first value; an ephemeral one is for one
    build only."""

    name: Annotated[str, Meta(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]{0,63}$")]
    type: ParameterType = ParameterType.STRING
    display_name: Annotated[str, Meta(max_length=128)] = ""
    description: Annotated[str, Meta(max_length=4096)] = ""
    default: str | None = None
    mutable: bool = True
    ephemeral: bool = False
    options: Annotated[tuple[Option, ...], Meta(max_length=MOST_OPTIONS)] = ()
    regex: str = ""
    regex_error: Annotated[str, Meta(max_length=256)] = ""
    min: float | None = None
    max: float | None = None

    @property
    def required(self) -> bool:
        return self.default is None


_PARAMETERS: Final = msgspec.json.Decoder(tuple[Parameter, ...])
_NUMBER: Final = re.compile(r"-?[0-9]{1,64}(\.[0-9]{1,64})?([eE][+-]?[0-9]{1,4})?")
_STRINGS: Final = msgspec.json.Decoder(list[str])


def read_parameters(stored: str) -> tuple[Parameter, ...]:
    """Of a template, from JSON. Raises InvalidRequest."""
    try:
        found = _PARAMETERS.decode(stored)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidRequest("Check parameters.", validations=[Validation("parameters", str(error))]) from None
    check_parameters(found)
    return found


def check_parameters(parameters: Sequence[Parameter]) -> None:
    """Whether a template can ask for these. Raises InvalidRequest with all that is wrong."""
    wrong = [Validation("parameters", f"at most {MOST_PARAMETERS}")] if len(parameters) > MOST_PARAMETERS else []
    seen: set[str] = set()
    for each in parameters:
        wrong += [Validation(f"parameters.{each.name}", problem) for problem in _definition_problems(each, seen)]
        seen.add(each.name)
    if wrong:
        raise InvalidRequest("Check the parameters.", validations=wrong)


def _definition_problems(each: Parameter, seen: set[str]) -> list[str]:
    problems = ["is there twice"] if each.name in seen else []
    if each.regex and each.type is not ParameterType.STRING:
        problems.append("only a string has a regex")
    elif each.regex and (problem := pattern_problem(each.regex)):
        problems.append(f"regex {problem}")
    if (each.min is not None or each.max is not None) and each.type is not ParameterType.NUMBER:
        problems.append("only a number has min and max")
    if each.min is not None and each.max is not None and each.min > each.max:
        problems.append("min is above max")
    if len({option.value for option in each.options}) < len(each.options):
        problems.append("two options have the same value")
    if not problems:
        problems += [
            f"option {option.value!r} {wrong}" for option in each.options if (wrong := _wrong(each, option.value))
        ]
        if each.default is not None and (wrong := _wrong(each, each.default)):
            problems.append(f"default {wrong}")
    return problems


class Values(msgspec.Struct, frozen=True):
    """`build` are those of one build; `kept` are the workspace's from now on, without the ephemeral ones."""

    build: dict[str, str]
    kept: dict[str, str]


def check_values(
    parameters: Sequence[Parameter], given: Mapping[str, str], *, stored: Mapping[str, str] | None = None
) -> Values:
    """The values of the next build. `stored` are those of the last one; None: the workspace is new.

    Raises InvalidRequest that names every value that is missing, unknown or wrong.
    """
    known = {each.name: each for each in parameters}
    wrong = [Validation(f"parameters.{name}", "is not a parameter") for name in given if name not in known]
    build: dict[str, str] = {}
    kept: dict[str, str] = {}
    for each in parameters:
        old = None if stored is None or each.ephemeral else stored.get(each.name)
        value = given.get(each.name, old if old is not None else each.default)
        if value is None:
            wrong.append(Validation(f"parameters.{each.name}", "is required"))
            continue
        problem = _wrong(each, value)
        if problem is None and old is not None and not each.mutable and value != old:
            problem = "can't be changed"
        if problem is not None and (each.name in given or stored is None):
            wrong.append(Validation(f"parameters.{each.name}", problem))
        elif problem is not None:
            wrong.append(Validation(f"parameters.{each.name}", f"{problem}; the template has changed, give another"))
        build[each.name] = value
        if not each.ephemeral:
            kept[each.name] = value
    if wrong:
        raise InvalidRequest("Check the parameters.", validations=wrong)
    return Values(build, kept)


def _wrong(each: Parameter, value: str) -> str | None:
    """What is wrong with a value."""
    if len(value) > MOST_VALUE_CHARACTERS:
        return f"is longer than {MOST_VALUE_CHARACTERS} characters"
    if "\x00" in value:
        return "has a NUL character"
    match each.type:
        case ParameterType.NUMBER:
            return _wrong_number(each, value) or _not_offered(each, [value])
        case ParameterType.BOOL:
            return None if value in ("true", "false") else "must be true or false"
        case ParameterType.LIST:
            try:
                items = _STRINGS.decode(value)
            except (msgspec.DecodeError, RecursionError):
                return "must be a JSON list of strings"
            return _not_offered(each, items)
        case ParameterType.STRING:
            if each.regex and not matches(each.regex, value):
                return each.regex_error or f"must match {each.regex}"
            return _not_offered(each, [value])


def _wrong_number(each: Parameter, value: str) -> str | None:
    """It is passed on as it is written: blanks, 1_000 and digits of other scripts are numbers to nobody else."""
    if not _NUMBER.fullmatch(value):
        return "must be a number"
    number = float(value)
    if not math.isfinite(number):
        return "must be a number"
    if each.min is not None and number < each.min:
        return f"must be at least {each.min:g}"
    if each.max is not None and number > each.max:
        return f"must be at most {each.max:g}"
    return None


def _not_offered(each: Parameter, values: Sequence[str]) -> str | None:
    offered = [option.value for option in each.options]
    if not offered or all(value in offered for value in values):
        return None
    return f"must be one of {', '.join(offered)}"
