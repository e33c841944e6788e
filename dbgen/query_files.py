"""Named queries out of `.sql` files: header, description, directives, body. No database is asked yet."""

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from chatd.store.filters import FILTER_FIELDS
from dbgen.filter_place import misplaced
from dbgen.lexer import SILENT, LexError, Piece, Token, lex
from dbgen.naming import PYTHON_TYPE_NAMES
from dbgen.problems import Problem, Refused


class Kind(StrEnum):
    """How a query's result is handed back."""

    ONE = "one"
    OPT = "opt"
    MANY = "many"
    EXEC = "exec"
    BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Source:
    """One query as written. `body` has no comments but the filter's, and no terminator."""

    file: str
    line: int
    name: str
    kind: Kind
    description: tuple[str, ...]
    body: tuple[Piece, ...]
    optional: Mapping[str, int] = field(default_factory=dict[str, int])
    notnull: Mapping[str, int] = field(default_factory=dict[str, int])
    filter_columns: Mapping[str, str] = field(default_factory=dict[str, str])
    filter_line: int = 0

    @property
    def has_filter(self) -> bool:
        return bool(self.filter_columns)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names after `@`, in order of first use: the first is `$1`."""
        names = (piece.text[1:] for piece in self.body if piece.token is Token.PARAMETER)
        return tuple(dict.fromkeys(names))

    def problem(self, message: str, line: int = 0) -> Problem:
        return Problem(self.file, line or self.line, self.name, message)


SNAKE_CASE = re.compile(r"[a-z][a-z0-9_]*")
_HEADER = re.compile(r"--\s*name\s*:(.*)")
_NAMED = re.compile(r"\s*(\S+)\s+:(\S+)\s*")
_DIRECTIVE = re.compile(r"--\s*@(\w+)[ \t]*(.*)")
_FILTER_ITEM = re.compile(r"([a-z][a-z0-9_]*)=([A-Za-z_][\w.]*)")
# Written by hand in every store; a query of that name would hide it.
_TAKEN_NAMES = frozenset({"transaction", "ping"})
# Arguments of generated methods, and functions that their bodies call; a parameter would take or hide them.
_TAKEN_PARAMETERS = frozenset({"self", "astuple", "authorize", "items", "render", "replace"})


def read_queries(folder: Path) -> list[Source]:
    """All queries of `folder/*.sql`, files in alphabetical order. Raises Refused with all that is wrong."""
    sources: list[Source] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.sql")):
        found, wrong = parse(path.name, path.read_text("utf-8-sig"))
        sources += found
        problems += wrong
    problems += _duplicates(sources)
    if problems:
        raise Refused(problems)
    return sources


def parse(file: str, text: str) -> tuple[list[Source], list[Problem]]:
    """The queries of one file that can be read, and what is wrong with the others."""
    try:
        pieces = lex(text)
    except LexError as error:
        return [], [Problem(file, error.line, message=error.message)]
    sources: list[Source] = []
    problems: list[Problem] = []
    for block in _blocks(pieces):
        header = _HEADER.fullmatch(block[0].text) if block[0].token is Token.LINE_COMMENT else None
        if header is None:
            stray = next((piece for piece in block if piece.token not in SILENT), None)
            if stray is not None:
                message = "a statement without a name: start it with `-- name: what_it_does :kind`"
                problems.append(Problem(file, stray.line, message=message))
            continue
        reader = _BlockReader(file, block, header.group(1))
        source = reader.read()
        problems += reader.problems
        if source is not None:
            sources.append(source)
    return sources, problems


def _blocks(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Split before each header; what stands before the first one is a block of its own."""
    blocks: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.token is Token.LINE_COMMENT and _HEADER.fullmatch(piece.text):
            blocks.append([])
        blocks[-1].append(piece)
    return [block for block in blocks if block]


def _duplicates(sources: Sequence[Source]) -> list[Problem]:
    first: dict[str, Source] = {}
    problems: list[Problem] = []
    for source in sources:
        earlier = first.setdefault(source.name, source)
        if earlier is not source:
            problems.append(source.problem(f"the name is taken by {earlier.file}:{earlier.line}"))
    return problems


class _BlockReader:
    """Reads one query, from its header to the next; collects problems instead of stopping at the first."""

    def __init__(self, file: str, block: Sequence[Piece], header: str) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._block = block
        self._header = header
        self._name = ""
        self._description: list[str] = []
        self._optional: dict[str, int] = {}
        self._notnull: dict[str, int] = {}
        self._filter: dict[str, str] = {}
        self._filter_line = 0

    def read(self) -> Source | None:
        kind = self._read_header()
        body = self._read_body()
        if kind is None:
            return None
        line = self._block[0].line
        if not any(piece.token not in SILENT for piece in body):
            self._wrong("there is no statement")
        for piece in body:
            if piece.token is Token.RAW_PARAMETER:
                self._wrong(f"{piece.text}: write parameters as @name", piece.line)
            elif piece.token is Token.PARAMETER:
                self._check_parameter(piece)
        source = Source(
            file=self._file,
            line=line,
            name=self._name,
            kind=kind,
            description=tuple(self._description),
            body=_trimmed(body),
            optional=self._optional,
            notnull=self._notnull,
            filter_columns=self._filter,
            filter_line=self._filter_line,
        )
        for name, at in self._optional.items():
            if name not in source.parameters:
                self._wrong(f"@optional {name}: there is no parameter @{name}", at)
        if source.has_filter and kind not in (Kind.MANY, Kind.ONE, Kind.OPT):
            self._wrong("@authorize_filter is for :one, :opt and :many queries", self._filter_line)
        elif source.has_filter and not self.problems and (message := misplaced(source.body)):
            self._wrong(message, self._filter_line)
        return None if self.problems else source

    def _wrong(self, message: str, line: int = 0) -> None:
        self.problems.append(Problem(self._file, line or self._block[0].line, self._name, message))

    def _read_header(self) -> Kind | None:
        match = _NAMED.fullmatch(self._header)
        if match is None:
            self._wrong("write the header as `-- name: what_it_does :kind`")
            return None
        self._name = match.group(1)
        if not SNAKE_CASE.fullmatch(self._name) or keyword.iskeyword(self._name):
            self._wrong("a query's name is snake_case and no Python keyword")
        elif self._name in _TAKEN_NAMES:
            self._wrong("the store has a method of that name already")
        elif self._name in PYTHON_TYPE_NAMES:
            self._wrong("the name hides a Python type; choose another")
        try:
            return Kind(match.group(2))
        except ValueError:
            kinds = ", ".join(f":{kind}" for kind in Kind)
            self._wrong(f":{match.group(2)} is no kind; there are {kinds}")
            return None

    def _check_parameter(self, piece: Piece) -> None:
        name = piece.text[1:]
        if not SNAKE_CASE.fullmatch(name) or name.endswith("_") or keyword.iskeyword(name):
            self._wrong(f"{piece.text}: a parameter's name is snake_case and no Python keyword", piece.line)
        elif name in _TAKEN_PARAMETERS:
            self._wrong(f"{piece.text}: the generated method uses that name; choose another", piece.line)

    def _read_body(self) -> list[Piece]:
        body: list[Piece] = []
        begun = ended = False
        for piece in self._block[1:]:
            if piece.token is Token.LINE_COMMENT:
                keep = self._read_comment(piece, begun=begun, ended=ended)
                body.append(piece if keep else Piece(Token.SPACE, "", piece.line))
            elif piece.token is Token.BLOCK_COMMENT:
                body.append(Piece(Token.SPACE, " ", piece.line))
            elif piece.is_mark(";"):
                ended = True
            elif piece.token is Token.SPACE:
                body.append(piece)
            elif ended:
                self._wrong("a second statement after `;`: a query is one statement", piece.line)
                break
            else:
                begun = True
                body.append(piece)
        return body

    def _read_comment(self, piece: Piece, *, begun: bool, ended: bool) -> bool:
        """Take in a comment; True when it marks the filter's place and must stay in the body."""
        match = _DIRECTIVE.fullmatch(piece.text.rstrip())
        if match is None:
            if not begun and not ended:
                self._description.append(piece.text[2:].strip())
            return False
        directive, rest = match.groups()
        if ended:
            self._wrong(f"@{directive} stands after the end of the query", piece.line)
        elif directive in ("optional", "notnull"):
            self._read_names(directive, rest, piece.line)
        elif directive == "authorize_filter":
            return self._read_filter(rest, piece.line, begun=begun)
        else:
            self._wrong(f"@{directive} is no directive; there are @optional, @notnull, @authorize_filter", piece.line)
        return False

    def _read_names(self, directive: str, rest: str, line: int) -> None:
        names = [name for name in re.split(r"[\s,]+", rest) if name]
        if not names:
            self._wrong(f"@{directive} names nothing", line)
        into = self._optional if directive == "optional" else self._notnull
        into.update(dict.fromkeys(names, line))

    def _read_filter(self, rest: str, line: int, *, begun: bool) -> bool:
        items = [_FILTER_ITEM.fullmatch(item) for item in rest.split()]
        fields = [item.group(1) for item in items if item is not None]
        if not begun:
            self._wrong("@authorize_filter stands inside the statement, where its condition goes", line)
        elif self._filter:
            self._wrong("@authorize_filter is there twice", line)
        elif not items or None in items or len(set(fields)) < len(fields):
            self._wrong("write it as `-- @authorize_filter field=column`, more pairs after spaces", line)
        elif unknown := sorted(set(fields) - FILTER_FIELDS):
            known = ", ".join(sorted(FILTER_FIELDS))
            self._wrong(f"@authorize_filter {unknown[0]}: there is no such field; there are {known}", line)
        else:
            self._filter = {item.group(1): item.group(2) for item in items if item is not None}
            self._filter_line = line
            return True
        return False


def _trimmed(body: Sequence[Piece]) -> tuple[Piece, ...]:
    """Without space at the ends, and with one line break where comments or empty lines were."""
    kept: list[Piece] = []
    for piece in body:
        if piece.token is not Token.SPACE:
            kept.append(piece)
        elif kept and kept[-1].token is Token.SPACE:
            joined = kept[-1].text + piece.text
            kept[-1] = Piece(Token.SPACE, _one_break(joined) if "\n" in joined else " ", kept[-1].line)
        else:
            kept.append(Piece(Token.SPACE, _one_break(piece.text), piece.line))
    while kept and kept[0].token is Token.SPACE:
        del kept[0]
    while kept and kept[-1].token is Token.SPACE:
        del kept[-1]
    return tuple(kept)


def _one_break(space: str) -> str:
    return "\n" + space.rpartition("\n")[2] if "\n" in space else space
