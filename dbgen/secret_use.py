"""Secrets declared or used in a way that leaves them unencrypted, unrotated or never found."""

from collections.abc import Iterator, Sequence

from dbgen.catalogue import Catalogue
from dbgen.lexer import SILENT, Piece, Token
from dbgen.model import Parameter
from dbgen.problems import Problem
from dbgen.python_types import ENCRYPTED_DOMAIN, NoPythonType, SecretInside, python_type
from dbgen.query_files import Source

_COMPARISONS = ("=", "<>", "!=")


def columns_missed_by_rotation(catalogue: Catalogue) -> list[Problem]:
    """Tables' columns of arrays of `encrypted_text`, of domains over it, or of composite types with it."""
    return [
        Problem(
            "migrations",
            message=f"column {table.name}.{column.name}: a secret column has the type {ENCRYPTED_DOMAIN} itself, "
            "so that rotation finds it",
        )
        for table in catalogue.tables.values()
        if not table.is_view
        for column in table.columns
        if _holds_secrets(column.type, catalogue) and catalogue.types[column.type].name != ENCRYPTED_DOMAIN
    ]


def text_beside_secrets(source: Source, parameters: Sequence[Parameter], catalogue: Catalogue) -> list[Problem]:
    """Parameters taken as text that `=` or `<>` puts beside a column whose name only secrets have."""
    plain = {f"@{parameter.name}" for parameter in parameters if not parameter.type.is_secret}
    names = _names_of_secrets(catalogue)
    said = [piece for piece in source.body if piece.token not in SILENT]
    return [
        source.problem(
            f"{piece.text} is plain text beside the secret {column}: written it is not encrypted, compared it never "
            "matches; leave out the cast, or find the row by another column",
            piece.line,
        )
        for at, piece in enumerate(said)
        if piece.token is Token.PARAMETER and piece.text in plain
        for column in _compared_with(said, at)
        if column in names
    ]


def _holds_secrets(oid: int, catalogue: Catalogue) -> bool:
    try:
        return python_type(oid, catalogue.types).is_secret
    except SecretInside:
        return True
    except NoPythonType:
        return False


def _names_of_secrets(catalogue: Catalogue) -> set[str]:
    columns = [column for table in catalogue.tables.values() for column in table.columns]
    secret = {column.name for column in columns if _holds_secrets(column.type, catalogue)}
    return secret - {column.name for column in columns if not _holds_secrets(column.type, catalogue)}


def _compared_with(said: Sequence[Piece], at: int) -> Iterator[str]:
    """The names on the other side of the operator before `said[at]` and of the one after it."""
    before = at - 1
    while before > 0 and (said[before].is_mark("(") or said[before].is_word("any", "all")):
        before -= 1
    if before > 0 and _is_comparison(said[before]):
        yield _name(said[before - 1])
    if at + 2 < len(said) and _is_comparison(said[at + 1]):
        after = at + 2
        while after + 2 < len(said) and said[after + 1].is_mark("."):
            after += 2
        yield _name(said[after])


def _is_comparison(piece: Piece) -> bool:
    return piece.token is Token.OPERATOR and piece.text in _COMPARISONS


def _name(piece: Piece) -> str:
    if piece.token is Token.QUOTED_NAME:
        return piece.text[1:-1]
    return piece.text.lower() if piece.token is Token.WORD else ""
