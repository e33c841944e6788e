"""A query once Postgres has told its types: what every output is written from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbgen.lexer import Piece
from dbgen.python_types import PythonType
from dbgen.query_files import Kind, Source


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: PythonType
    optional: bool


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a result, or a member of a batch item."""

    name: str
    type: PythonType
    nullable: bool

    @property
    def annotation(self) -> str:
        return self.type.result(nullable=self.nullable)


@dataclass(frozen=True, slots=True)
class Struct:
    """A class to write: its fields in the order of the columns."""

    name: str
    description: str
    fields: tuple[Field, ...]

    @property
    def secrets(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if field.type.is_secret)


@dataclass(frozen=True, slots=True)
class Query:
    """`fields` are the result's columns; with more than one there is a `row` struct. `item` is a batch's."""

    source: Source
    body: tuple[Piece, ...]
    parameters: tuple[Parameter, ...]
    fields: tuple[Field, ...]
    row: Struct | None
    item: Struct | None
    missing: str

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def kind(self) -> Kind:
        return self.source.kind

    @property
    def result(self) -> str:
        """The annotation of one row: a struct's name, or the only column's type."""
        return self.row.name if self.row else self.fields[0].annotation

    @property
    def returns(self) -> str:
        """The annotation of what the method gives back."""
        if self.kind is Kind.EXEC or not self.fields:
            return "int"
        if self.kind in (Kind.MANY, Kind.BATCH):
            return f"list[{self.result}]"
        if self.kind is Kind.OPT and not self.result.endswith("| None"):
            return f"{self.result} | None"
        return self.result


@dataclass(frozen=True, slots=True)
class Resolved:
    """All queries, and every enum by its Postgres name."""

    queries: Sequence[Query]
    enums: Mapping[str, Sequence[str]]

    @property
    def structs(self) -> list[Struct]:
        """Each struct once, in order of first use, a query's item before its row."""
        found = [struct for query in self.queries for struct in (query.item, query.row) if struct]
        return list({struct.name: struct for struct in found}.values())
