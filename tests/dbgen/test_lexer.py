"""SQL is cut into pieces as Postgres' scanner does it."""

import pytest
from dbgen.lexer import SILENT, LexError, Token, lex
from hypothesis import given
from hypothesis import strategies as st


def significant(text: str) -> list[tuple[Token, str]]:
    return [(piece.token, piece.text) for piece in lex(text) if piece.token not in SILENT]


def parameters(text: str) -> list[str]:
    return [piece.text for piece in lex(text) if piece.token is Token.PARAMETER]


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("'it''s @x'", Token.STRING),
        (r"'a\'", Token.STRING),
        (r"E'a\'@x'", Token.STRING),
        ("e'a\\\\'", Token.STRING),
        ("E'a'\n  'b\\'@x'", Token.STRING),
        ("U&'@x'", Token.STRING),
        ('"a ""@x"" b"', Token.QUOTED_NAME),
        ('U&"@x"', Token.QUOTED_NAME),
        ("$$ @x $1 ' $$", Token.DOLLAR_STRING),
        ("$f$ $$ @x $$ $f$", Token.DOLLAR_STRING),
        ("-- @x '", Token.LINE_COMMENT),
        ("/* @x /* ' */ @y */", Token.BLOCK_COMMENT),
        ("a$1", Token.WORD),
        ("größe", Token.WORD),
        ("$12", Token.RAW_PARAMETER),
        ("1_000.5e-3", Token.NUMBER),
        ("@name_2", Token.PARAMETER),
    ],
)
def test_one_thing_is_one_piece(text: str, token: Token):
    assert [(piece.token, piece.text) for piece in lex(text)] == [(token, text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a = @b", ["@b"]),
        ("a=@b", ["@b"]),
        ("a>=@b", ["@b"]),
        ("a || @b::text", ["@b"]),
        ("a @> @b", ["@b"]),
        ("a @>@b", ["@b"]),
        ("a <@ b", []),
        ("a <@b", []),
        ("a @@ b", []),
        ("a @@b", []),
        ("@ -5", []),
        ("a->>@b", ["@b"]),
        ("(@a,@b)", ["@a", "@b"]),
        ("x[@a:@b]", ["@a", "@b"]),
        ("'@a' || \"@b\" -- @c\n /* @d */ $$@e$$ @f", ["@f"]),
    ],
)
def test_parameters_are_told_from_operators_and_text(text: str, found: list[str]):
    assert parameters(text) == found


def test_an_operator_ends_where_a_comment_starts():
    assert significant("1 +--2\n 3 */* x */ 4") == [
        (Token.NUMBER, "1"),
        (Token.OPERATOR, "+"),
        (Token.NUMBER, "3"),
        (Token.OPERATOR, "*"),
        (Token.NUMBER, "4"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [("SELECT\n'a", 2), ('SELECT "a', 1), ("a\n\n/* /* */", 3), ("$a$ $b$", 1), ("E'\\'", 1)],
)
def test_what_never_ends_is_an_error_on_the_line_where_it_starts(text: str, line: int):
    with pytest.raises(LexError) as caught:
        lex(text)

    assert caught.value.line == line


@given(st.text(alphabet="ab1@$'\"-/*;.,()<>= \n\\Ee_"))
def test_nothing_is_lost(text: str):
    try:
        pieces = lex(text)
    except LexError:
        return

    assert "".join(piece.text for piece in pieces) == text
    line = 1
    for piece in pieces:
        assert piece.line == line
        line += piece.text.count("\n")
