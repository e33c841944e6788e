"""Whether the arguments of a call can be taken: one JSON object that means the same to everyone who reads it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast
from urllib.parse import unquote

import msgspec

from chatd.core.valid_text import holds_half_characters

MOST_BYTES: Final = 4 * 1024 * 1024  # four times the longest that a model can say in one answer
_DEEPEST: Final = 100  # levels; nothing that a tool takes is deeper than a few
_MOST_BRANCHES: Final = 64  # alternatives of a schema that are looked at; more are taken for a map
_LONGEST_NAME: Final = 100  # characters of a key or a path that are said back
_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf")
_PLACES: Final = frozenset(map(str, range(_MOST_BRANCHES)))  # in a list of a schema


class _Pairs(list[tuple[str, Any]]):
    """An object with its keys as they came, repeated ones too."""


class _TooDeep(Exception):
    pass


def input_problem(args: str, schema: str, *, is_strict: bool) -> str | None:
    """What is wrong with them, told to the model; None when they can be used.

    Strict: no object repeats a key, and no key differs from a declared one only by case. Readers disagree on what such
    input means, so that what was checked and what was done could differ.
    """
    problem = _unreadable(args) or (_ambiguous(args, schema) if is_strict else None)
    return problem and f"{problem} Call the tool again with one complete JSON object."


def _unreadable(args: str) -> str | None:
    if len(args) > MOST_BYTES or len(args.encode("utf-8", "replace")) > MOST_BYTES:
        return f"The arguments are longer than {MOST_BYTES} bytes. Do the work in smaller pieces."
    if holds_half_characters(args):
        return "The arguments hold half of a character (a lone surrogate)."
    try:
        msgspec.json.decode(args, type=msgspec.Raw)  # reads all of it, and takes neither NaN nor Infinity
    except (msgspec.DecodeError, ValueError) as error:
        return f"The arguments are not valid JSON ({error})."
    except RecursionError:
        return "The arguments are nested too deeply."
    return None if args.lstrip(" \t\r\n").startswith("{") else "The arguments must be one JSON object."


def _ambiguous(args: str, schema: str) -> str | None:
    try:
        # Numbers are of no interest here, and long ones would take long to convert.
        read = json.loads(args, object_pairs_hook=_Pairs, parse_int=str, parse_float=str)
        root = _read_schema(schema)
        return _ambiguity(read, [root], root, "", 0)
    except (RecursionError, _TooDeep):
        return "The arguments are nested too deeply."


def _read_schema(schema: str) -> object:
    try:
        return cast("object", json.loads(schema))
    except (ValueError, RecursionError):
        return {}  # it declares nothing


def _ambiguity(value: object, schemas: Sequence[object], root: object, path: str, depth: int) -> str | None:
    if depth > _DEEPEST:
        raise _TooDeep
    if isinstance(value, _Pairs):
        return _object_ambiguity(value, _Declared(schemas, root), root, path, depth)
    if isinstance(value, list):
        items = cast("list[object]", value)
        if not any(isinstance(item, list) for item in items):
            return None
        below = [found for branch in _branches(schemas, root) for found in _item_schemas(branch)]
        for place, item in enumerate(items):
            if problem := _ambiguity(item, below, root, f"{path}[{place}]", depth + 1):
                return problem
    return None


def _object_ambiguity(value: _Pairs, declared: "_Declared", root: object, path: str, depth: int) -> str | None:
    seen: set[str] = set()
    for key, item in value:
        named = _clipped(f"{path}.{key}" if path else key)
        if key in seen:
            return f"The arguments name {_shown(named)} twice."
        seen.add(key)
        meant = declared.other_case(key)
        if meant is not None:
            return f"The arguments name {_shown(named)}, which is written {_shown(meant)}."
        if problem := _ambiguity(item, declared.below(key), root, named, depth + 1):
            return problem
    return None


class _Declared:
    """The keys that an object may have by all schemas that may be meant for it, and what is below them."""

    def __init__(self, schemas: Sequence[object], root: object) -> None:
        self._properties: dict[str, list[object]] = {}
        self._others: list[object] = []
        self._is_map = False  # any key is as good as another
        branches = _branches(schemas, root)
        for branch in branches:
            properties = _mapping(branch.get("properties"))
            for name, schema in properties.items():
                self._properties.setdefault(name, []).append(schema)
            others = [branch.get("additionalProperties"), *_mapping(branch.get("patternProperties")).values()]
            self._others += [schema for schema in others if isinstance(schema, Mapping)]
            self._is_map |= not properties and any(schema is True or isinstance(schema, Mapping) for schema in others)
        self._is_map |= len(branches) >= _MOST_BRANCHES
        self._folded = {name.casefold(): name for name in self._properties}

    def other_case(self, key: str) -> str | None:
        """The declared key that is meant, if this is one that is written otherwise."""
        return None if self._is_map or key in self._properties else self._folded.get(key.casefold())

    def below(self, key: str) -> list[object]:
        return self._properties.get(key, self._others)


def _branches(schemas: Iterable[object], root: object) -> list[Mapping[str, object]]:
    """All that the schemas may stand for: references followed, alternatives side by side."""
    found: list[Mapping[str, object]] = []
    seen: set[int] = set()
    waiting = list(schemas)[::-1]
    while waiting and len(found) < _MOST_BRANCHES:
        schema = waiting.pop()
        if not isinstance(schema, Mapping) or id(cast("object", schema)) in seen:
            continue
        seen.add(id(cast("object", schema)))
        branch = cast("Mapping[str, object]", schema)
        found.append(branch)
        waiting += [each for name in _ALTERNATIVES for each in _sequence(branch.get(name))]
        if isinstance(reference := branch.get("$ref"), str):
            waiting.append(_resolved(reference, root))
    return found


def _resolved(reference: str, root: object) -> object:
    """What a reference within the schema points to; None for any other."""
    path = reference.removeprefix("#")
    if path == reference:
        return None
    found = root
    for step in path.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = cast("Mapping[str, object]", found).get(name)
        elif isinstance(found, list) and name in _PLACES and int(name) < len(cast("list[object]", found)):
            found = cast("list[object]", found)[int(name)]
        else:
            return None
    return found


def _item_schemas(schema: Mapping[str, object]) -> list[object]:
    items = schema.get("items")
    return [items, *_sequence(items), *_sequence(schema.get("prefixItems"))]


def _shown(name: str) -> str:
    return repr(_clipped(name))


def _clipped(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
