"""A Postgres type as Python: how it is annotated, where the name comes from, what must be converted."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from dbgen.naming import camel


class Conversion(Enum):
    """What has to happen between asyncpg's value and ours."""

    NONE = auto()
    ENUM = auto()
    SECRET = auto()


@dataclass(frozen=True, slots=True)
class PythonType:
    """A scalar's class, or a list of it. `module` is empty for builtins and for what queries.py defines."""

    name: str
    module: str = ""
    conversion: Conversion = Conversion.NONE
    array: bool = False

    @property
    def is_secret(self) -> bool:
        return self.conversion is Conversion.SECRET

    @property
    def element(self) -> "PythonType":
        return PythonType(self.name, self.module, self.conversion)

    def result(self, *, nullable: bool) -> str:
        """The annotation of a column."""
        text = f"list[{self.name}]" if self.array else self.name
        return f"{text} | None" if nullable else text

    def parameter(self, *, optional: bool) -> str:
        """The annotation of an argument: any sequence may be passed for an array."""
        text = f"Sequence[{self.name}]" if self.array else self.name
        return f"{text} | None" if optional else text


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
class PostgresType:
    """A row of pg_type. `kind` is its typtype; `element` and `base` are set for arrays and domains."""

    oid: int
    name: str
    kind: str
    element: int
    base: int


class NoPythonType(Exception):
    """A type that the table above does not have."""


def python_type(oid: int, types: Mapping[int, PostgresType]) -> PythonType:
    """Look through domains and arrays down to a known scalar or an enum. Raises NoPythonType."""
    found = types.get(oid)
    if found is None:
        raise NoPythonType(f"the type with oid {oid} is unknown")
    if found.kind == "d":
        return SECRET if found.name == ENCRYPTED_DOMAIN else python_type(found.base, types)
    if found.kind == "e":
        return PythonType(camel(found.name), conversion=Conversion.ENUM)
    if found.element:
        element = python_type(found.element, types)
        return PythonType(element.name, element.module, element.conversion, array=True)
    scalar = _SCALARS.get(found.name)
    if scalar is None:
        raise NoPythonType(f"the type {found.name} has no Python type here; cast it to one that has")
    return scalar
