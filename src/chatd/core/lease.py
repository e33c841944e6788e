"""How replicas keep and lose their chats: the numbers, and what follows from them.

A replica beats once for all its chats. Who is silent is judged by the database's time (`silent_replicas` in SQL);
`must_let_go` is how a replica that can't reach the database judges itself, on its monotonic clock.
"""

from typing import Final

HEARTBEAT_SECONDS: Final = 3.0  # three may be missed within a lease
LEASE_SECONDS: Final = 10.0  # silent for longer: its chats may be taken
# A chat whose workspace is on a machine is run there. Unless that was silent for this long: a machine that restarts is
# back by then, and a chat that can't reach its workspace is better than one that waits for ever.
HOST_SECONDS: Final = 300.0
RECONCILE_SECONDS: Final = 2.0  # how often a replica compares what it owns with what it runs
# Without a commit in between: a turn that kills its process must not kill them all. The last one does not try again; it
# stores what people have seen and parks the chat.
MOST_TAKEOVERS: Final = 4


def must_let_go(seconds_since_beat: float) -> bool:
    """Whether a replica that could not beat has to stop its work: before anyone else may start it."""
    return seconds_since_beat >= LEASE_SECONDS - HEARTBEAT_SECONDS


def gives_up(takeovers: int) -> bool:
    """Whether a chat that was taken over this often without a commit goes to `error`: its owner parks it, and if that
    owner dies too, whoever would take it next does so without a look at what was shown."""
    return takeovers >= MOST_TAKEOVERS
