"""A query once Postgres has told its types: what every output is written from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbgen.lexer import Piece
from dbgen.query_files import Kind, Source
from dbgen.structs import Field, PythonType, Struct


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: PythonType
    optional: bool


@dataclass(frozen=True, slots=True)
class Query:
    """`fields` are the result's columns; `row` is their struct, unless one column is handed back bare.

    `item` is a batch's.
    """

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

    @property
    def structs(self) -> Iterator[Struct]:
        """Every struct it needs, each after those it holds."""
        yield from self.taken_structs
        if self.item is not None:
            yield self.item
        yield from self.given_structs

    @property
    def taken_structs(self) -> Iterator[Struct]:
        """Those of composite types that parameters have."""
        fields = self.item.fields if self.item else ()
        for kind in (*(parameter.type for parameter in self.parameters), *(field.type for field in fields)):
            if kind.struct is not None:
                yield from kind.struct.with_inner()

    @property
    def given_structs(self) -> Iterator[Struct]:
        """Those that the result is made of."""
        only = self.fields[0].type.struct if self.fields else None
        struct = self.row or only
        if struct is not None:
            yield from struct.with_inner()


@dataclass(frozen=True, slots=True)
class Resolved:
    """All queries, and the enums to generate by their Postgres names."""

    queries: Sequence[Query]
    enums: Mapping[str, Sequence[str]]

    @property
    def structs(self) -> list[Struct]:
        """Each struct once, in order of first use."""
        return list({struct.name: struct for query in self.queries for struct in query.structs}.values())
