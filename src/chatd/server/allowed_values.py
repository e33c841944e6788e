"""Which values a field of a request takes, where it takes only some: to be told to whoever sent another."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import inspect

_STEP: Final = re.compile(r"([^.\[\]]+)|\[[^\]]*\]")  # of a path such as `items[0].kind` or `efforts[...]`


def allowed_values(kind: Any, path: str) -> list[str]:
    """The values of the enumeration that stands at this path in a type; none if there is no such thing."""
    found = [inspect.type_info(kind)]
    for step in _STEP.finditer(path):
        found = [inner for one in found for inner in _inside(one, step[1])]
    return [str(value) for one in found for value in _values(one)]


def _inside(kind: inspect.Type, name: str | None) -> Iterator[inspect.Type]:
    """What is under this name, or in any place if there is none."""
    for one in _plain(kind):
        match one:
            case inspect.StructType(fields=fields) if name is not None:
                yield from (field.type for field in fields if field.encode_name == name)
            case inspect.DictType(value_type=inner):
                yield inner
            case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner) if name is None:
                yield inner
            case _:
                pass


def _values(kind: inspect.Type) -> Iterator[object]:
    for one in _plain(kind):
        match one:
            case inspect.EnumType(cls=cls):
                yield from (member.value for member in cls)
            case inspect.LiteralType(values=values):
                yield from values
            case _:
                pass


def _plain(kind: inspect.Type) -> Iterator[inspect.Type]:
    """The types of a union, and what stands within remarks."""
    match kind:
        case inspect.UnionType(types=types):
            for one in types:
                yield from _plain(one)
        case inspect.Metadata(type=inner):
            yield from _plain(inner)
        case _:
            yield kind


def explained(detail: str, kind: Any, path: str) -> str:
    """msgspec's words about a wrong value, with the values that would have been right."""
    if not detail.startswith("Invalid enum value"):
        return detail
    try:
        allowed = allowed_values(kind, path)
    except (TypeError, msgspec.MsgspecError):  # a type that msgspec does not decode by itself
        return detail
    return f"{detail}; one of {', '.join(allowed)}" if allowed else detail
