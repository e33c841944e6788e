"""What `core` decides and SQL has to know, as SQL: the table of transitions, and how long leases and hosts last.

Each function set has its own, so that two versions can run side by side.
"""

from typing import Final

import msgspec

from chatd.core.lease import HOST_SECONDS, LEASE_SECONDS
from chatd.core.states import State
from chatd.core.transitions import TABLE

_LEASE: Final = f"""\
CREATE FUNCTION lease_time() RETURNS interval LANGUAGE sql IMMUTABLE AS $$ SELECT interval '{LEASE_SECONDS} seconds' $$;
CREATE FUNCTION host_time() RETURNS interval LANGUAGE sql IMMUTABLE AS $$ SELECT interval '{HOST_SECONDS} seconds' $$;
"""
# A constant in a function, not a table: looking it up costs no query.
_TABLE: Final = """\
CREATE FUNCTION transition_table() RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$ SELECT jsonb '{table}' $$;
"""


def core_as_sql() -> str:
    """Makes `lease_time()`, `host_time()` and `transition_table()`: transition -> state -> states it may lead to.

    The same code gives the same text: a function set is named by its content.
    """
    order = list(State)
    table = {
        transition: {state: sorted(cells[state], key=order.index) for state in sorted(cells, key=order.index)}
        for transition, cells in TABLE.items()
    }
    return _LEASE + _TABLE.format(table=msgspec.json.encode(table).decode())
