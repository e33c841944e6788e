"""The table of transitions as SQL: each function set has its own, made from `chatd.core.transitions`."""

from typing import Final

from chatd.core.states import State
from chatd.core.transitions import TABLE

_TABLE: Final = """\
CREATE TABLE allowed_transitions (
    transition text,
    state      text,
    landings   text[] NOT NULL,
    PRIMARY KEY (transition, state)
);
INSERT INTO allowed_transitions (transition, state, landings) VALUES
"""


def transition_table_sql() -> str:
    """Creates and fills `allowed_transitions`. One table gives one text: a function set is named by its content."""
    order = list(State)
    rows = [
        f"({_text(transition)}, {_text(state)}, ARRAY[{', '.join(map(_text, sorted(cells[state], key=order.index)))}])"
        for transition, cells in TABLE.items()
        for state in sorted(cells, key=order.index)
    ]
    return _TABLE + ",\n".join(f"    {row}" for row in rows) + ";\n"


def _text(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"
