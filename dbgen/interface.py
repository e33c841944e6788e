"""A store's methods with their signatures, from the queries and from hand-written interfaces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from dbgen.layout import Layout
from dbgen.model import Query
from dbgen.structs import Conversion, PythonType, Struct


@dataclass(frozen=True, slots=True, order=True)
class Import:
    """A name that a signature needs: `from module import name as alias`; `import module` without a name."""

    module: str
    name: str = ""
    alias: str = ""

    @property
    def binds(self) -> str:
        """The name it makes known in a module."""
        return self.alias or self.name or self.module.partition(".")[0]

    @property
    def statement(self) -> str:
        text = f"from {self.module} import {self.name}" if self.name else f"import {self.module}"
        return f"{text} as {self.alias}" if self.alias else text


class Passing(Enum):
    """How an argument is written in a call."""

    POSITION = auto()
    KEYWORD = auto()
    REST = auto()
    REST_BY_KEYWORD = auto()


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    annotation: str
    passing: Passing = Passing.KEYWORD
    default: str = ""

    @property
    def declaration(self) -> str:
        stars = {Passing.REST: "*", Passing.REST_BY_KEYWORD: "**"}.get(self.passing, "")
        annotated = f"{stars}{self.name}: {self.annotation}" if self.annotation else f"{stars}{self.name}"
        return f"{annotated} = {self.default}" if self.default else annotated

    def passed(self, value: str) -> str:
        match self.passing:
            case Passing.POSITION:
                return value
            case Passing.KEYWORD:
                return f"{self.name}={value}"
            case Passing.REST:
                return f"*{value}"
            case Passing.REST_BY_KEYWORD:
                return f"**{value}"


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the store's interface."""

    name: str
    arguments: tuple[Argument, ...]
    returns: str
    imports: tuple[Import, ...] = ()
    asynchronous: bool = True

    @property
    def definition(self) -> str:
        """The line that starts it, `def` to colon."""
        parts = ["self"]
        by_keyword = False
        for argument in self.arguments:
            if argument.passing is Passing.KEYWORD and not by_keyword:
                parts.append("*")
            by_keyword = by_keyword or argument.passing in (Passing.KEYWORD, Passing.REST)
            parts.append(argument.declaration)
        prefix = "async def" if self.asynchronous else "def"
        return f"{prefix} {self.name}({', '.join(parts)}) -> {self.returns}:"

    def call(self, receiver: str, changed: Mapping[str, str] | None = None) -> str:
        """Call the same method of `receiver` with the same arguments, but for those in `changed`."""
        values = changed or {}
        passed = ", ".join(argument.passed(values.get(argument.name, argument.name)) for argument in self.arguments)
        text = f"{receiver}.{self.name}({passed})"
        return f"await {text}" if self.asynchronous else text


def query_method(query: Query, layout: Layout) -> Method:
    """The method of one query: keyword arguments in the order of first use, the filter last.

    A batch's items stand where its first array does.
    """
    arguments: list[Argument] = []
    imports: set[Import] = set()
    scalars = {parameter.name: parameter for parameter in query.parameters}
    for name in query.source.parameters:
        parameter = scalars.get(name)
        if parameter is None:
            if query.item is not None and not any(argument.name == "items" for argument in arguments):
                arguments.append(Argument("items", f"Sequence[{query.item.name}]"))
                imports.add(Import("collections.abc", "Sequence"))
                imports.add(Import(layout.module("queries"), query.item.name))
            continue
        arguments.append(Argument(parameter.name, parameter.type.parameter(optional=parameter.optional)))
        imports |= type_imports(parameter.type, layout)
        if parameter.type.array:
            imports.add(Import("collections.abc", "Sequence"))
    if query.source.has_filter:
        arguments.append(Argument("authorize", "Filter", default="EVERYTHING"))
        imports |= {Import("chatd.core.access", "EVERYTHING"), Import("chatd.core.access", "Filter")}
    if query.row is not None:
        imports.add(Import(layout.module("queries"), query.row.name))
    elif query.fields:
        imports |= type_imports(query.fields[0].type, layout)
    return Method(query.name, tuple(arguments), query.returns, tuple(sorted(imports)))


def type_imports(kind: PythonType, layout: Layout) -> set[Import]:
    """What has to be imported to write a type's name outside queries.py."""
    if kind.module:
        return {Import(kind.module, kind.name)}
    ours = kind.conversion in (Conversion.ENUM, Conversion.STRUCT)
    return {Import(layout.module("queries"), kind.name)} if ours else set()


def struct_imports(structs: Sequence[Struct]) -> set[Import]:
    """What queries.py has to import for the fields of its own structs."""
    return {
        Import(field.type.module, field.type.name) for struct in structs for field in struct.fields if field.type.module
    }
