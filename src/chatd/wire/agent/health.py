"""How a workspace's agent is doing."""

from typing import Final

import msgspec

STOPPING: Final = "stopping"  # the kind of a refusal: nothing was done, and the agent that comes next will do it


class Health(msgspec.Struct, frozen=True):
    """`pid` and `started_at_unix` tell one agent of a workspace from the next. `requests` counts since then."""

    version: str
    workspace_id: str
    pid: int
    started_at_unix: int
    uptime_seconds: float
    requests: int
    open_requests: int  # this one included
    running_processes: int
    known_processes: int
    is_stopping: bool = False  # it starts nothing any more, and is about to leave


class Stopped(msgspec.Struct, frozen=True):
    """`ended` processes were there when the stop began; `left` are those that even SIGKILL did not end."""

    ended: int
    left: tuple[int, ...] = ()


class Done(msgspec.Struct, frozen=True):
    """Nothing to say but that it was done."""

    ok: bool = True
