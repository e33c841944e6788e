"""Query files are read, and every mistake in them is told with its place."""

from pathlib import Path

import pytest
from dbgen.problems import Refused
from dbgen.query_files import Kind, parse, read_queries
from dbgen.rendering import render


def problems(text: str) -> list[str]:
    return [str(problem) for problem in parse("a.sql", text)[1]]


def test_a_query_has_a_name_a_kind_a_description_and_numbered_parameters():
    (source,), wrong = parse(
        "users.sql",
        "-- Users.\n\n"
        "-- name: list_users :many\n-- Users in order,\n-- after a cursor.\n-- @optional after_id, search\n"
        "SELECT id /* the key */ FROM users -- all\n\n"
        "WHERE a = @search AND b = @after_id AND c = @search;\n",
    )

    assert wrong == []
    assert (source.name, source.kind, source.line) == ("list_users", Kind.MANY, 3)
    assert source.description == ("Users in order,", "after a cursor.")
    assert source.parameters == ("search", "after_id")
    assert set(source.optional) == {"after_id", "search"}
    assert render(source.body, source.parameters).text == ("SELECT id FROM users\nWHERE a = $1 AND b = $2 AND c = $1")


def test_a_query_ends_at_the_next_header_too():
    sources, wrong = parse("a.sql", "-- name: a :exec\nSELECT 1\n-- name: b :exec\nSELECT 2")

    assert wrong == []
    assert [source.name for source in sources] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1;", "a.sql:1: a statement without a name: start it with `-- name: what_it_does :kind`"),
        ("-- name: a\nSELECT 1;", "a.sql:1: write the header as `-- name: what_it_does :kind`"),
        ("-- name: a :two\nSELECT 1;", "a.sql:1: a: :two is no kind; there are :one, :opt, :many, :exec, :batch"),
        ("-- name: aB :one\nSELECT 1;", "a.sql:1: aB: a query's name is snake_case and no Python keyword"),
        ("-- name: class :one\nSELECT 1;", "a.sql:1: class: a query's name is snake_case and no Python keyword"),
        ("-- name: ping :one\nSELECT 1;", "a.sql:1: ping: the store has a method of that name already"),
        ("-- name: a :one\n\n;", "a.sql:1: a: there is no statement"),
        ("-- name: a :one\nSELECT 1;\nSELECT 2;", "a.sql:3: a: a second statement after `;`: a query is one statement"),
        ("-- name: a :one\nSELECT\n$1;", "a.sql:3: a: $1: write parameters as @name"),
        ("-- name: a :one\nSELECT @if;", "a.sql:2: a: @if: a parameter's name is snake_case and no Python keyword"),
        ("-- name: a :one\nSELECT @items;", "a.sql:2: a: @items: the generated method uses that name; choose another"),
        (
            "-- name: a :one\n-- @optinal b\nSELECT @b;",
            "a.sql:2: a: @optinal is no directive; there are @optional, @notnull, @authorize_filter",
        ),
        ("-- name: a :one\n-- @optional c\nSELECT @b;", "a.sql:2: a: @optional c: there is no parameter @c"),
        ("-- name: a :one\n-- @optional\nSELECT @b;", "a.sql:2: a: @optional names nothing"),
        ("-- name: a :one\nSELECT 1;\n-- @notnull b", "a.sql:3: a: @notnull stands after the end of the query"),
        (
            "-- name: a :exec\nDELETE FROM b WHERE true\n-- @authorize_filter owner=id\n;",
            "a.sql:3: a: @authorize_filter is for :one, :opt and :many queries",
        ),
        (
            "-- name: a :many\nSELECT 1\n-- @authorize_filter owner\n;",
            "a.sql:3: a: write it as `-- @authorize_filter field=column`, more pairs after spaces",
        ),
        (
            "-- name: a :many\n-- @authorize_filter owner=id\nSELECT 1;",
            "a.sql:2: a: @authorize_filter stands inside the statement, where its condition goes",
        ),
        (
            "-- name: a :many\nSELECT 1\n-- @authorize_filter owner=id\n-- @authorize_filter owner=id\n;",
            "a.sql:4: a: @authorize_filter is there twice",
        ),
        (
            "-- name: a :many\nSELECT 1\n-- @authorize_filter owner=id owner=me\n;",
            "a.sql:3: a: write it as `-- @authorize_filter field=column`, more pairs after spaces",
        ),
        (
            "-- name: a :many\nSELECT 1 WHERE true\n-- @authorize_filter member=id onwer=owner_id\n;",
            "a.sql:3: a: @authorize_filter onwer: there is no such field; there are member, owner",
        ),
        ("-- name: list :many\nSELECT 1;", "a.sql:1: list: the name hides a Python type; choose another"),
        ("-- name: a :many\nSELECT\n'1;", "a.sql:3: a string is never closed"),
    ],
)
def test_a_mistake_is_told_with_file_line_and_query(text: str, message: str):
    assert problems(text) == [message]


def test_all_mistakes_of_all_files_are_told_at_once(tmp_path: Path):
    (tmp_path / "b.sql").write_text("-- name: x :one\nSELECT 1;\n-- name: y :zero\nSELECT 1;")
    (tmp_path / "a.sql").write_text("-- name: x :one\nSELECT 1;")

    with pytest.raises(Refused) as caught:
        read_queries(tmp_path)

    assert [str(problem) for problem in caught.value.problems] == [
        "b.sql:1: x: the name is taken by a.sql:1",
        "b.sql:3: y: :zero is no kind; there are :one, :opt, :many, :exec, :batch",
    ]


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path):
    (tmp_path / "a.sql").write_text("\ufeff-- name: x :one\nSELECT 1;")

    assert [source.name for source in read_queries(tmp_path)] == ["x"]
