"""A `core.access.Filter` as the SQL condition that takes the place of `-- @authorize_filter`."""

from collections.abc import Mapping
from typing import Final, assert_never

from chatd.core.access import Everything, Filter, Nothing, OwnedBy

FILTER_FIELDS: Final = frozenset({"owner", "member"})  # what `-- @authorize_filter field=column` may name


def render(authorize: Filter, columns: Mapping[str, str], first_parameter: int) -> tuple[str, tuple[object, ...]]:
    """The condition, and its parameters numbered from `first_parameter`.

    `columns` comes from the query: `owner` is the column with the owner's id, `member` the column with the id of a
    group. A filter that needs a column the query does not name admits nothing.
    """
    match authorize:
        case Everything():
            return "TRUE", ()
        case Nothing():
            return "FALSE", ()
        case OwnedBy(user_id):
            conditions: list[str] = []
            if owner := columns.get("owner"):
                conditions.append(f"{owner} = ${first_parameter}")
            if group := columns.get("member"):
                mine = f"SELECT group_id FROM group_members WHERE user_id = ${first_parameter}"  # noqa: S608
                conditions.append(f"{group} IN ({mine})")
            return (f"({' OR '.join(conditions)})", (user_id,)) if conditions else ("FALSE", ())
        case _:
            assert_never(authorize)


def both(first: Filter, second: Filter) -> Filter:
    """What both filters admit."""
    match first, second:
        case (Nothing(), _) | (_, Everything()):
            return first
        case (_, Nothing()) | (Everything(), _):
            return second
        case _:
            return first if first == second else Nothing()
