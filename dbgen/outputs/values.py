"""Expressions that make ours out of asyncpg's values, and asyncpg's out of ours."""

from collections.abc import Sequence

from dbgen.structs import Conversion, Field, PythonType, Struct


def made(field: Field, value: str) -> str:
    """Ours out of asyncpg's. The value's expression may come up twice."""
    kind = field.type
    if kind.conversion is Conversion.NONE:
        return value
    one = "x" if kind.array else value
    text = f"{kind.name}({one})" if kind.struct is None else from_record(kind.struct, one)
    text = f"[{text} for x in {value}]" if kind.array else text
    return f"None if {value} is None else {text}" if field.nullable else text


def from_record(struct: Struct, record: str) -> str:
    """A struct out of a record; without a look at each value where none has to be converted."""
    if _converts(struct.fields):
        return f"{_reader_name(struct)}({record})"
    return f"{struct.name}(*{record})"


def reader(struct: Struct) -> str:
    """The function that `from_record` calls; empty where it calls none."""
    if not _converts(struct.fields):
        return ""
    values = ", ".join(made(field, f"row[{at}]") for at, field in enumerate(struct.fields))
    return f"\ndef {_reader_name(struct)}(row: Record) -> {struct.name}:\n    return {struct.name}({values})\n"


def sent(field: Field, value: str, depth: int = 0) -> str:
    """Asyncpg's out of ours. Enums are sent as they are: they are strings."""
    kind = field.type
    if kind.conversion not in (Conversion.SECRET, Conversion.STRUCT):
        return value
    each = f"x{depth or ''}"
    text = f"[{_opened(kind, each, depth + 1)} for {each} in {value}]" if kind.array else _opened(kind, value, depth)
    return f"None if {value} is None else {text}" if field.nullable else text


def _opened(kind: PythonType, value: str, depth: int) -> str:
    if kind.struct is None:
        return f"{value}.reveal()"
    # Faster than naming the fields; but it leaves structs inside as they are.
    if not any(field.type.struct for field in kind.struct.fields):
        return f"astuple({value})"
    parts = [sent(field, f"{value}.{field.name}", depth) for field in kind.struct.fields]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _converts(fields: Sequence[Field]) -> bool:
    return any(field.type.conversion is not Conversion.NONE for field in fields)


def _reader_name(struct: Struct) -> str:
    return "_read_" + "".join(f"_{c.lower()}" if c.isupper() else c for c in struct.name).lstrip("_")
