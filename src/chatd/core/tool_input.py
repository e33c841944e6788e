"""Whether the arguments of a call can be taken: one JSON object that means the same to everyone who reads it."""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

_DEEPEST: Final = 100  # levels; nothing that a tool takes is deeper than a few


class _Pairs(list[tuple[str, Any]]):
    """An object with its keys as they came, repeated ones too."""


def input_problem(args: str, schema: str, *, is_strict: bool) -> str | None:
    """What is wrong with them, told to the model; None when they can be used.

    Strict: no object repeats a key, and no key differs from a declared one only by case. Readers disagree on what such
    input means, so that what was checked and what was done could differ.
    """
    try:
        read = json.loads(args, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        return f"The arguments are not valid JSON ({error}). Call the tool again with one complete JSON object."
    if not isinstance(read, _Pairs):
        return "The arguments must be one JSON object. Call the tool again."
    if not is_strict:
        return None
    problem = _ambiguity(read, cast("object", json.loads(schema)), "", 0)
    return problem and f"{problem} Call the tool again."


def _ambiguity(value: object, schema: object, path: str, depth: int) -> str | None:
    if depth > _DEEPEST:
        return "The arguments are nested too deeply."
    if isinstance(value, _Pairs):
        return _object_ambiguity(value, schema, path, depth)
    if isinstance(value, list):
        items = _part(schema, "items")
        for place, item in enumerate(cast("list[object]", value)):
            if problem := _ambiguity(item, items, f"{path}[{place}]", depth + 1):
                return problem
    return None


def _object_ambiguity(value: _Pairs, schema: object, path: str, depth: int) -> str | None:
    declared = _mapping(_part(schema, "properties"))
    folded = {name.casefold(): name for name in declared}
    seen: set[str] = set()
    for key, item in value:
        named = f"{path}.{key}" if path else key
        if key in seen:
            return f"The arguments name {named!r} twice."
        seen.add(key)
        meant = folded.get(key.casefold())
        if meant is not None and meant != key:
            return f"The arguments name {named!r}, which is written {meant!r}."
        if problem := _ambiguity(item, declared.get(key), named, depth + 1):
            return problem
    return None


def _part(schema: object, name: str) -> object:
    return _mapping(schema).get(name)


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
