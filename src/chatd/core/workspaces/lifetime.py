"""How long a workspace runs: what was set where, and which of it counts."""

from datetime import timedelta

import msgspec


class Lifetime(msgspec.Struct, frozen=True):
    """Of one start. `ttl` until it stops by itself unless it is used; `longest` whatever is done. None: for ever."""

    ttl: timedelta | None
    longest: timedelta | None


def chosen_ttl_ms(setting_ms: int) -> int | None:
    """What `create_workspace` writes down for a workspace: the deployment's setting; None leaves it to the template."""
    return setting_ms or None


def lifetime(*, ttl_ms: int | None, default_ttl_ms: int, allows_user_autostop: bool, max_lifetime_ms: int) -> Lifetime:
    """`ttl_ms` is the workspace's own; None: the template's. A template that forbids user autostop wins over it."""
    chosen = default_ttl_ms if ttl_ms is None or not allows_user_autostop else ttl_ms
    return Lifetime(_span(chosen), _span(max_lifetime_ms))


def _span(milliseconds: int) -> timedelta | None:
    """0 is no limit."""
    return timedelta(milliseconds=milliseconds) if milliseconds else None
