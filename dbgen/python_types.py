"""The Python type of each Postgres type."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dbgen.core_enums import CORE_ENUMS
from dbgen.naming import camel, is_field_name
from dbgen.structs import Conversion, Field, PythonType, Struct

ENCRYPTED_DOMAIN = "encrypted_text"
SECRET = PythonType("Secret", "chatd.core.secret", Conversion.SECRET)
_TEXT = PythonType("str")
_INT = PythonType("int")
_FLOAT = PythonType("float")
# JSON stays text: whoever needs its inside decodes it with the type it should have.
_SCALARS = {
    "uuid": PythonType("UUID", "uuid"),
    "text": _TEXT,
    "varchar": _TEXT,
    "bpchar": _TEXT,
    "citext": _TEXT,
    "json": _TEXT,
    "jsonb": _TEXT,
    "int2": _INT,
    "int4": _INT,
    "int8": _INT,
    "bool": PythonType("bool"),
    "timestamptz": PythonType("datetime", "datetime"),
    "date": PythonType("date", "datetime"),
    "interval": PythonType("timedelta", "datetime"),
    "numeric": PythonType("Decimal", "decimal"),
    "float4": _FLOAT,
    "float8": _FLOAT,
    "bytea": PythonType("bytes"),
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """A member of a composite type."""

    name: str
    type: int
    not_null: bool


@dataclass(frozen=True, slots=True)
class PostgresType:
    """A row of pg_type. `kind` is its typtype; `element` and `base` are set for arrays and domains.

    `attributes` are there for composite types of their own, not for those of tables, which change with each column.
    """

    oid: int
    name: str
    kind: str
    element: int
    base: int
    in_function_set: bool
    comment: str
    attributes: tuple[Attribute, ...] = ()


class NoPythonType(Exception):
    """A type that has no Python type here; the message says which and what to do."""


class SecretInside(NoPythonType):
    """A composite type that holds a secret."""


def python_type(oid: int, types: Mapping[int, PostgresType]) -> PythonType:
    """Look through domains and arrays down to a known scalar, an enum or a composite type. Raises NoPythonType."""
    found = types.get(oid)
    if found is None:
        raise NoPythonType(f"the type with oid {oid} is unknown")
    if found.kind == "d":
        return SECRET if found.name == ENCRYPTED_DOMAIN else python_type(found.base, types)
    if found.kind == "e":
        return _enum(found)
    if found.attributes:
        struct = Struct(
            camel(found.name),
            found.comment,
            tuple(_field(attribute, found, types) for attribute in found.attributes),
            has_defaults=True,
        )
        return PythonType(struct.name, conversion=Conversion.STRUCT, struct=struct)
    if found.element:
        return replace(python_type(found.element, types), array=True)
    scalar = _SCALARS.get(found.name)
    if scalar is None:
        raise NoPythonType(f"the type {found.name} has no Python type here; cast it to one that has")
    return scalar


def _enum(found: PostgresType) -> PythonType:
    if found.in_function_set:
        raise NoPythonType(f"the enum type {found.name} is in a function set; create it in a migration")
    core = CORE_ENUMS.get(found.name)
    if core is None:
        return PythonType(camel(found.name), conversion=Conversion.ENUM)
    return PythonType(core.class_name, core.module, Conversion.ENUM)


def _field(attribute: Attribute, owner: PostgresType, types: Mapping[int, PostgresType]) -> Field:
    place = f"{owner.name}.{attribute.name}"
    if not is_field_name(attribute.name):
        raise NoPythonType(f"{place}: an attribute of that name can't be a field; choose another")
    try:
        kind = python_type(attribute.type, types)
    except SecretInside:
        raise
    except NoPythonType as error:
        raise NoPythonType(f"{place}: {error}") from None
    if kind.is_secret:
        raise SecretInside(f"{place} is a secret inside a composite type, where nothing encrypts it; pass it by itself")
    return Field(attribute.name, kind, not attribute.not_null)
