"""An agent that kills itself at a named point: `python crashing_agent.py POINT [what chatd agent takes]`."""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from chatd.agent.children import Children
from chatd.agent.main import main
from chatd.agent.processes.keys import Keys

POINTS: dict[str, tuple[type, str, bool]] = {
    "before the key": (Keys, "claim", False),
    "after the key": (Keys, "claim", True),
    "after the spawn": (Children, "start", True),
    "after the pid": (Keys, "note_spawn", True),
    "before the end": (Keys, "note_end", False),
    "after the end": (Keys, "note_end", True),
}


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _crashing(point: str) -> None:
    owner, name, after = POINTS[point]
    real: Callable[..., Any] = getattr(owner, name)

    def crash(*args: Any, **named: Any) -> None:
        if after:
            real(*args, **named)
        _die()

    setattr(owner, name, crash)


if __name__ == "__main__":
    _crashing(sys.argv[1])
    sys.exit(main(sys.argv[2:]))
