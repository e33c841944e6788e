"""Every part with every value that a field can have, drawn from the types of the fields."""

from typing import Any
from uuid import UUID

import msgspec
from hypothesis import strategies as st

from chatd.core.parts import PART_TYPES, Part

# Every character, lone surrogates too, and often those that the stored form treats specially.
TEXTS = st.text(st.characters() | st.sampled_from('\0\ue000\ue001\ue800\uefff\ud800\udfff\\u0"'), max_size=20)
_BY_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXTS,
    "bool": st.booleans(),
    "int": st.integers(),
    "uuid | None": st.none() | st.uuids(),
    "texts by provider": st.dictionaries(TEXTS, TEXTS, max_size=2),
    "tuple of tuples": st.lists(st.lists(TEXTS, max_size=2).map(tuple), max_size=2).map(tuple),
}


def _kind(field_type: msgspec.inspect.Type) -> str:
    match field_type:
        case msgspec.inspect.StrType():
            return "str"
        case msgspec.inspect.BoolType():
            return "bool"
        case msgspec.inspect.IntType():
            return "int"
        case msgspec.inspect.UnionType():
            assert {type(kind) for kind in field_type.types} == {msgspec.inspect.UUIDType, msgspec.inspect.NoneType}
            return "uuid | None"
        case msgspec.inspect.DictType():
            return "texts by provider"
        case msgspec.inspect.VarTupleType():
            return "tuple of tuples"
        case _:
            raise AssertionError(f"say in part_strategies how to draw {field_type}")


def fields_of(part_type: type[Part]) -> dict[str, st.SearchStrategy[Any]]:
    """How to draw each field."""
    described = msgspec.inspect.type_info(part_type)
    assert isinstance(described, msgspec.inspect.StructType)
    return {field.name: _BY_TYPE[_kind(field.type)] for field in described.fields}


PARTS: st.SearchStrategy[Part] = st.one_of(*(st.builds(part_type, **fields_of(part_type)) for part_type in PART_TYPES))


def full(part_type: type[Part]) -> Part:
    """The part with no field empty, each text naming its field."""
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(part_type):
        drawn: dict[Any, Any] = {
            str: f"<{field.name}>",
            bool: True,
            int: 7,
            UUID | None: UUID(int=1),
            tuple[tuple[str, ...], ...]: (("git", "push"),),
        }
        values[field.name] = drawn.get(field.type, {"acme": f'{{"of":"<{field.name}>"}}'})
    return part_type(**values)
