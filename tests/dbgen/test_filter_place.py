"""A filter is accepted only where its condition narrows the rows."""

import pytest
from dbgen.query_files import parse

OR = "put parentheses around the OR: AND binds tighter, so rows would escape @authorize_filter"
SET = "rows of the other part of the UNION would escape @authorize_filter; put it in parentheses: FROM (…) AS t"
WHERE = "@authorize_filter stands as a condition of its own in a WHERE, not in parentheses or CASE and not after it"
SUBQUERY = "@authorize_filter stands in the outermost WHERE, or in a subquery in parentheses after FROM, JOIN or WITH"


def said_of(statement: str) -> list[str]:
    """What is wrong with a query, in which `{here}` is the filter's place."""
    filled = statement.replace("{here}", "\n-- @authorize_filter owner=owner_id\n")
    return [problem.message for problem in parse("a.sql", f"-- name: a :many\n{filled};")[1]]


@pytest.mark.behaviour("STORE-1")
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT id FROM things WHERE public OR name = @n {here}",
        "SELECT id FROM things WHERE name = @n {here} AND a OR public ORDER BY id",
        "SELECT id FROM things WHERE name = @n {here} OR public",
        "SELECT id FROM things WHERE a = (b) or c {here}",
        "SELECT id FROM things WHERE name = @n {here} AND t.end = 1 OR public",
        "SELECT count(*) FROM (SELECT 1 FROM things WHERE a OR b {here}) AS t",
    ],
)
def test_a_bare_or_beside_the_filter_is_refused(statement: str):
    assert said_of(statement) == [OR]


@pytest.mark.behaviour("STORE-1")
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT id FROM things WHERE a {here} UNION SELECT id FROM things",
        "SELECT id FROM things UNION ALL SELECT id FROM things WHERE a {here}",
        "SELECT id FROM things EXCEPT SELECT id AS end FROM things WHERE a {here}",
        "(SELECT id FROM things WHERE a {here}) UNION (SELECT id FROM things)",
        "SELECT id FROM (SELECT id FROM things WHERE a {here}) AS t INTERSECT SELECT id FROM things",
    ],
)
def test_a_filter_on_one_part_of_a_set_operation_is_refused(statement: str):
    assert said_of(statement) == [SET]


@pytest.mark.behaviour("STORE-1")
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT id FROM things {here}",
        "SELECT id FROM things AS a JOIN things AS b ON a.id = b.id {here}",
        "SELECT id FROM things WHERE a ORDER BY id {here}",
        "SELECT id FROM things WHERE a LIMIT 3 {here}",
        "SELECT count(*) FROM things WHERE a GROUP BY id HAVING b {here}",
        "SELECT id FROM things WHERE public OR (name = @n {here})",
        "SELECT id FROM things WHERE CASE WHEN a {here} THEN true ELSE true END",
        "SELECT id FROM things WHERE a {here} = false",
        "SELECT id FROM things WHERE a {here} IS NOT NULL",
        "SELECT count(*) FILTER (WHERE a {here}) FROM things",
        "SELECT id AS where FROM things {here}",
        "SELECT 1 UNION SELECT id end FROM things WHERE a {here}",
        "INSERT INTO things SELECT 1 ON CONFLICT (id) WHERE a DO UPDATE SET b = c {here} RETURNING id",
    ],
)
def test_a_filter_that_is_no_condition_of_a_where_is_refused(statement: str):
    assert said_of(statement) == [WHERE]


@pytest.mark.behaviour("STORE-1")
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT id FROM things WHERE public OR EXISTS (SELECT 1 FROM things WHERE a {here})",
        "SELECT id, (SELECT max(id) FROM things WHERE a {here}) AS newest FROM things",
        "SELECT id FROM f((SELECT max(id) FROM things WHERE a {here}))",
    ],
)
def test_a_filter_in_a_subquery_that_does_not_give_the_rows_is_refused(statement: str):
    assert said_of(statement) == [SUBQUERY]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT id FROM things WHERE a {here}",
        "SELECT id FROM things WHERE (a OR b) {here} AND (c OR d) ORDER BY a OR b LIMIT 3",
        "SELECT id, a OR b AS c FROM things WHERE CASE WHEN a OR b THEN c ELSE d END {here} AND d",
        "SELECT id FROM things AS t WHERE t.end > @now AND t.or AND t.order = 1 {here} FOR UPDATE",
        "SELECT id FROM things AS a JOIN things AS b ON a.id = b.id OR a.x WHERE NOT a.gone {here}",
        "SELECT count(*) FROM (SELECT 1 FROM things WHERE a {here} LIMIT 9) AS t WHERE b OR c",
        "WITH t AS MATERIALIZED (SELECT id FROM things WHERE a {here}) SELECT id FROM t WHERE b OR c",
        "WITH t AS (SELECT 1 UNION SELECT 2) SELECT id FROM t WHERE a IN (SELECT 1 UNION SELECT 2) {here}",
        "SELECT id FROM (SELECT id FROM a UNION SELECT id FROM b) AS t WHERE true {here}",
        "(SELECT id FROM things WHERE a {here}) LIMIT 1",
        "DELETE FROM things WHERE a {here} RETURNING id",
    ],
)
def test_a_filter_beside_other_conditions_is_accepted(statement: str):
    assert said_of(statement) == []
