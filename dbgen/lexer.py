"""SQL text as tokens, by the rules of Postgres' own scanner, plus our `@name` parameters."""

import re
from dataclasses import dataclass
from enum import Enum, auto


class Token(Enum):
    """What a piece of SQL is."""

    SPACE = auto()
    LINE_COMMENT = auto()
    BLOCK_COMMENT = auto()
    STRING = auto()
    QUOTED_NAME = auto()
    DOLLAR_STRING = auto()
    WORD = auto()
    NUMBER = auto()
    PARAMETER = auto()
    RAW_PARAMETER = auto()
    OPERATOR = auto()
    MARK = auto()


SILENT = frozenset({Token.SPACE, Token.LINE_COMMENT, Token.BLOCK_COMMENT})


@dataclass(frozen=True, slots=True)
class Piece:
    """A token, its text exactly as written, and the line it starts on (from 1)."""

    token: Token
    text: str
    line: int

    def is_word(self, *words: str) -> bool:
        return self.token is Token.WORD and self.text.lower() in words

    def is_mark(self, *marks: str) -> bool:
        return self.token is Token.MARK and self.text in marks

    @property
    def is_star(self) -> bool:
        return self.token is Token.OPERATOR and self.text == "*"


class LexError(Exception):
    """A string, name or comment that never ends."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


_SPACE = re.compile(r"\s+")
_LINE_COMMENT = re.compile(r"--[^\r\n]*")
_BLOCK_EDGE = re.compile(r"/\*|\*/")
_PLAIN_STRING = re.compile(r"(?:[nNbBxX]|[uU]&)?'(?:[^']|'')*'")
# A string goes on in the next one when only white space with a line break is between them; escapes stay on.
_ESCAPE_STRING = re.compile(r"[eE]'(?:[^'\\]|''|\\.)*'(?:[^\S\n]*\n\s*'(?:[^'\\]|''|\\.)*')*", re.DOTALL)
_STRING_START = re.compile(r"(?:[nNbBxXeE]|[uU]&)?'")
_QUOTED_NAME = re.compile(r'(?:[uU]&)?"(?:[^"]|"")*"')
_QUOTED_START = re.compile(r'(?:[uU]&)?"')
_DOLLAR_TAG = re.compile(r"\$(?:[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*)?\$")
_RAW_PARAMETER = re.compile(r"\$[0-9]+")
_WORD = re.compile(r"[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*")
_NUMBER = re.compile(r"(?:[0-9][0-9_]*(?:\.(?!\.)[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?")
_PARAMETER = re.compile(r"@[A-Za-z_][A-Za-z0-9_]*")
_OPERATOR = re.compile(r"[-+*/<>=~!@#%^&|`?]+")
# After one of these an `@` that touches a name starts a parameter (`id=@id`); Postgres has no operator that
# adds an `@` to them. `<@` and `@@` are operators and stay so.
_BEFORE_PARAMETER = frozenset(
    {
        "",
        "=",
        ">",
        "<=",
        ">=",
        "<>",
        "!=",
        "+",
        "-",
        "*",
        "/",
        "%",
        "||",
        "&&",
        "->",
        "->>",
        "#>",
        "#>>",
        "@>",
        "~",
    }
)


def lex(text: str, first_line: int = 1) -> list[Piece]:
    """Split `text`; joining the pieces' texts gives it back. Raises LexError."""
    pieces: list[Piece] = []
    line, position = first_line, 0
    while position < len(text):
        token, end = _next(text, position, line)
        piece = Piece(token, text[position:end], line)
        pieces.append(piece)
        line += piece.text.count("\n")
        position = end
    return pieces


def _next(text: str, at: int, line: int) -> tuple[Token, int]:
    for token, pattern in ((Token.SPACE, _SPACE), (Token.LINE_COMMENT, _LINE_COMMENT)):
        if match := pattern.match(text, at):
            return token, match.end()
    if text.startswith("/*", at):
        return Token.BLOCK_COMMENT, _end_of_block(text, at, line)
    if _STRING_START.match(text, at):
        pattern = _ESCAPE_STRING if text[at] in "eE" else _PLAIN_STRING
        return Token.STRING, _closed(pattern.match(text, at), line, "a string")
    if _QUOTED_START.match(text, at):
        return Token.QUOTED_NAME, _closed(_QUOTED_NAME.match(text, at), line, "a quoted name")
    if tag := _DOLLAR_TAG.match(text, at):
        end = text.find(tag.group(), tag.end())
        if end < 0:
            raise LexError(line, f"{tag.group()} is never closed")
        return Token.DOLLAR_STRING, end + len(tag.group())
    for token, pattern in (
        (Token.RAW_PARAMETER, _RAW_PARAMETER),
        (Token.WORD, _WORD),
        (Token.NUMBER, _NUMBER),
        (Token.PARAMETER, _PARAMETER),
    ):
        if match := pattern.match(text, at):
            return token, match.end()
    if match := _OPERATOR.match(text, at):
        return Token.OPERATOR, _end_of_operator(text, at, match.end())
    return Token.MARK, at + (2 if text.startswith("::", at) else 1)


def _closed(match: re.Match[str] | None, line: int, what: str) -> int:
    if match is None:
        raise LexError(line, f"{what} is never closed")
    return match.end()


def _end_of_block(text: str, at: int, line: int) -> int:
    depth, position = 1, at + 2
    while depth:
        edge = _BLOCK_EDGE.search(text, position)
        if edge is None:
            raise LexError(line, "a comment is never closed")
        depth += 1 if edge.group() == "/*" else -1
        position = edge.end()
    return position


def _end_of_operator(text: str, at: int, end: int) -> int:
    """A comment ends an operator, and so does the `@` of a parameter that touches it."""
    operator = text[at:end]
    for comment in ("--", "/*"):
        found = operator.find(comment, 1)
        if found > 0:
            operator = operator[:found]
    if (
        len(operator) > 1
        and operator[-1] == "@"
        and operator[:-1] in _BEFORE_PARAMETER
        and _PARAMETER.match(text, at + len(operator) - 1)
    ):
        operator = operator[:-1]
    return at + len(operator)
