"""Types and structs of the generated Python: how they are annotated and what must be converted."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto


class Conversion(Enum):
    """What has to happen between asyncpg's value and ours."""

    NONE = auto()
    ENUM = auto()
    SECRET = auto()
    STRUCT = auto()


@dataclass(frozen=True, slots=True)
class PythonType:
    """A scalar's class, or a list of it. `module` is empty for builtins and for what queries.py defines.

    `struct` is set for composite types.
    """

    name: str
    module: str = ""
    conversion: Conversion = Conversion.NONE
    array: bool = False
    struct: "Struct | None" = None

    @property
    def is_secret(self) -> bool:
        return self.conversion is Conversion.SECRET

    @property
    def element(self) -> "PythonType":
        return replace(self, array=False)

    def result(self, *, nullable: bool) -> str:
        """The annotation of a column."""
        text = f"list[{self.name}]" if self.array else self.name
        return f"{text} | None" if nullable else text

    def parameter(self, *, optional: bool) -> str:
        """The annotation of an argument: any sequence may be passed for an array."""
        text = f"Sequence[{self.name}]" if self.array else self.name
        return f"{text} | None" if optional else text


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a result, a member of a batch item, or an attribute of a composite type."""

    name: str
    type: PythonType
    nullable: bool

    @property
    def annotation(self) -> str:
        return self.type.result(nullable=self.nullable)


@dataclass(frozen=True, slots=True)
class Struct:
    """A class to write: its fields in the order of the columns.

    With `has_defaults` the nullable fields at its end may be left out.
    """

    name: str
    description: str
    fields: tuple[Field, ...]
    has_defaults: bool = False

    @property
    def secrets(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if field.type.is_secret)

    @property
    def required(self) -> int:
        """How many of the fields, from the first, have no default."""
        if not self.has_defaults:
            return len(self.fields)
        return max((at for at, field in enumerate(self.fields, start=1) if not field.nullable), default=0)

    def with_inner(self) -> Iterator["Struct"]:
        """The structs that its fields hold, at any depth, each after those it holds; at last itself."""
        for field in self.fields:
            if field.type.struct is not None:
                yield from field.type.struct.with_inner()
        yield self
