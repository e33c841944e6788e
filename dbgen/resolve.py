"""Give every query its Python types and the structs it takes and returns."""

from collections.abc import Sequence

from dbgen.catalogue import Catalogue, Connection, Table
from dbgen.core_enums import CORE_ENUMS, differences, enum_class_name
from dbgen.describe import Description, ResultColumn, Undescribed, describe
from dbgen.model import Parameter, Query, Resolved
from dbgen.naming import PYTHON_TYPE_NAMES, camel, is_field_name, singular, words
from dbgen.problems import Problem, Refused
from dbgen.python_types import NoPythonType, python_type
from dbgen.query_files import Kind, Source
from dbgen.secret_use import columns_missed_by_rotation, text_beside_secrets
from dbgen.structs import Field, Struct
from dbgen.targets import can_empty_columns

# What queries.py imports or defines for itself; a struct or enum of that name would replace it.
_TAKEN = frozenset(
    {
        "Any",
        "Database",
        "Decimal",
        "Filter",
        "NotFound",
        "Protocol",
        "Queries",
        "Record",
        "Secret",
        "Sequence",
    }
    | {"SqlQueries", "StrEnum", "Struct", "UUID"}
)


def resolve(sources: Sequence[Source], connection: Connection, catalogue: Catalogue) -> Resolved:
    """Describe all queries. Raises Refused with the problems of every one of them."""
    queries: list[Query] = []
    problems = [*columns_missed_by_rotation(catalogue), *differences(catalogue.enums)]
    for source in sources:
        try:
            description = describe(source, connection)
        except Undescribed as error:
            problems.append(error.problem)
            continue
        resolver = _Resolver(source, description, catalogue)
        query = resolver.query()
        problems += resolver.problems
        queries.append(query)
    if not problems:
        problems = _name_clashes(queries, catalogue)
    if problems:
        raise Refused(problems)
    return Resolved(queries, {name: labels for name, labels in catalogue.enums.items() if name not in CORE_ENUMS})


class _Resolver:
    """One query's types; `problems` says what kept them from being found."""

    def __init__(self, source: Source, description: Description, catalogue: Catalogue) -> None:
        self.problems: list[Problem] = []
        self._source = source
        self._description = description
        self._catalogue = catalogue

    def query(self) -> Query:
        source = self._source
        parameters = self._parameters()
        self.problems += text_beside_secrets(source, parameters, self._catalogue)
        columns = () if source.kind is Kind.EXEC else self._description.columns
        composite = self._composite(columns)
        fields = self._fields(columns, composite)
        if not columns and source.kind in (Kind.ONE, Kind.OPT, Kind.MANY):
            self._wrong(f":{source.kind} needs a result; use :exec or add RETURNING")
        for name, line in source.notnull.items():
            if name not in [column.name for column in columns]:
                self._wrong(f"@notnull {name}: the result has no column {name}", line)
        item = None
        if source.kind is Kind.BATCH:
            item = self._item(parameters)
            parameters = tuple(parameter for parameter in parameters if not parameter.type.array)
        return Query(
            source=source,
            body=self._description.body,
            parameters=parameters,
            fields=fields,
            row=self._row(columns, fields, composite),
            item=item,
            missing=self._missing(columns),
        )

    def _wrong(self, message: str, line: int = 0) -> None:
        self.problems.append(self._source.problem(message, line))

    def _parameters(self) -> tuple[Parameter, ...]:
        found: list[Parameter] = []
        for name, oid in zip(self._source.parameters, self._description.parameters, strict=True):
            try:
                kind = python_type(oid, self._catalogue.types)
            except NoPythonType as error:
                self._wrong(f"@{name}: {error}")
                continue
            if name in PYTHON_TYPE_NAMES:
                self._wrong(f"@{name} hides a Python type; choose another name")
            found.append(Parameter(name, kind, name in self._source.optional))
        return tuple(found)

    def _item(self, parameters: Sequence[Parameter]) -> Struct:
        arrays = [parameter for parameter in parameters if parameter.type.array]
        if not arrays and not self.problems:
            self._wrong(":batch needs an array parameter, such as unnest(@ids::uuid[])")
        return Struct(
            f"{camel(self._source.name)}Item",
            f"One element of {self._source.name}.",
            tuple(Field(array.name, array.type.element, array.optional) for array in arrays),
        )

    def _composite(self, columns: Sequence[ResultColumn]) -> Struct | None:
        """The struct of the composite type that the result has the rows of."""
        found = self._catalogue.types.get(self._description.row_type)
        if found is None or not columns or can_empty_columns(self._description.body):
            return None
        if [attribute.name for attribute in found.attributes] != [column.name for column in columns]:
            return None
        try:
            return python_type(found.oid, self._catalogue.types).struct
        except NoPythonType as error:
            self._wrong(f"the result: {error}")
            return None

    def _fields(self, columns: Sequence[ResultColumn], composite: Struct | None) -> tuple[Field, ...]:
        said = {field.name for field in composite.fields if not field.nullable} if composite else set[str]()
        emptied = can_empty_columns(self._description.body)
        fields: list[Field] = []
        for column in columns:
            table = self._catalogue.tables.get(column.table)
            origin = table.column(column.number) if table else None
            if not is_field_name(column.name):
                self._wrong(f'a column called "{column.name}" can\'t be a field; name it with AS')
            elif any(field.name == column.name for field in fields):
                self._wrong(f'two columns are called "{column.name}"; name one of them with AS')
            try:
                kind = python_type(origin.type if origin else column.type, self._catalogue.types)
            except NoPythonType as error:
                self._wrong(f"column {column.name}: {error}")
                continue
            sure = origin is not None and origin.not_null and not emptied
            fields.append(Field(column.name, kind, not (sure or column.name in {*self._source.notnull, *said})))
        return tuple(fields)

    def _has_rows_like(self, table: Table, fields: Sequence[Field]) -> bool:
        if table.is_view or len(table.columns) != len(fields):
            return False
        if [field.name for field in fields] != [column.name for column in table.columns]:
            return False
        try:
            types = [python_type(column.type, self._catalogue.types) for column in table.columns]
        except NoPythonType:
            return False
        nullable = [not column.not_null for column in table.columns]
        return [(field.type, field.nullable) for field in fields] == list(zip(types, nullable, strict=True))

    def _row(
        self, columns: Sequence[ResultColumn], fields: tuple[Field, ...], composite: Struct | None
    ) -> Struct | None:
        """The own struct of a composite type or table when the result is exactly its rows, else one for this query."""
        if composite is not None and composite.fields == fields:
            return composite
        if len(fields) <= 1:  # one column is handed back bare
            return None
        origins = {column.table for column in columns}
        # A function's rows have no origin; when they are a table's, they are recognised by their look.
        alike = [
            table
            for oid, table in self._catalogue.tables.items()
            if origins in ({oid}, {0}) and self._has_rows_like(table, fields)
        ]
        if len(alike) == 1:
            table = alike[0]
            return Struct(camel(singular(table.name)), table.comment, fields)
        return Struct(f"{camel(self._source.name)}Row", f"A row of {self._source.name}.", fields)

    def _missing(self, columns: Sequence[ResultColumn]) -> str:
        """What a NotFound says is missing: the thing of the first column's table, else the query's words."""
        table = next(
            (self._catalogue.tables[column.table] for column in columns if column.table in self._catalogue.tables),
            None,
        )
        if table is not None:
            return words(singular(table.name))
        return words(self._source.name.partition("_")[2] or self._source.name)


def _name_clashes(queries: Sequence[Query], catalogue: Catalogue) -> list[Problem]:
    """Two different things that would become one class."""
    owners: dict[str, Struct | str] = {enum_class_name(name): name for name in catalogue.enums}
    problems: list[Problem] = []
    if len(owners) < len(catalogue.enums):
        problems.append(Problem("migrations", message="two enum types have the same class name"))
    problems += [
        query.source.problem(f"the name {struct.name} is taken; rename the query or the type")
        for query in queries
        for struct in query.structs
        if struct.name in _TAKEN or owners.setdefault(struct.name, struct) != struct
    ]
    problems += [
        Problem("migrations", message=f"enum type {name}: the name {enum_class_name(name)} is taken")
        for name in catalogue.enums
        if enum_class_name(name) in _TAKEN
    ]
    return problems
