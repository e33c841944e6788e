"""What a command finds in its environment."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import UUID

from chatd.core.errors import InvalidRequest, Validation

OURS: Final = "CHATD_"  # of the agent and the server; never inherited, and not for a request to set
WORKSPACE_MARKER: Final = "CHATD_WORKSPACE_ID"  # by this, what a workspace started is found even after a crash
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # where the agent itself has none

# Nobody sits in front of a command: an editor leaves the text as it is, a pager passes it on, nothing asks for a
# password, and there are no colours to get in the way.
UNATTENDED: Final[Mapping[str, str]] = {
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "EDITOR": "true",
    "VISUAL": "true",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "NO_COLOR": "1",
    "TERM": "dumb",
}


def environment(
    inherited: Mapping[str, str],
    asked: Mapping[str, str],
    *,
    home: Path,
    workspace_id: str,
    chat_id: UUID | None,
) -> dict[str, str]:
    """What was inherited, then ours for commands without a person, then what the request asks for, then who runs it."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(OURS)}
    marks = {"CHATD_CHAT_AGENT": "true", WORKSPACE_MARKER: workspace_id}
    if chat_id is not None:
        marks["CHATD_CHAT_ID"] = str(chat_id)
    return {"PATH": _PATH, **kept, "HOME": str(home), **UNATTENDED, **asked, **marks}


def attended(
    inherited: Mapping[str, str], asked: Mapping[str, str], *, home: Path, workspace_id: str
) -> dict[str, str]:
    """For a terminal, in front of which somebody sits."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(OURS)}
    speaks = {} if kept.keys() & {"LANG", "LC_ALL", "LC_CTYPE"} else {"LANG": "C.UTF-8"}
    ours = {"HOME": str(home), "TERM": "xterm-256color"}
    return {"PATH": _PATH, **kept, **speaks, **ours, **asked, WORKSPACE_MARKER: workspace_id}


def check_asked(asked: Mapping[str, str]) -> None:
    """Raises InvalidRequest for names that no shell takes or that are ours."""
    wrong = [name for name in asked if not _NAME.fullmatch(name) or name.startswith(OURS) or "\0" in asked[name]]
    if wrong:
        raise InvalidRequest(
            "The environment has entries that can't be set.",
            validations=[
                Validation(f"env.{name}", "A name has letters, digits and _, a value no NUL; CHATD_ is reserved.")
                for name in wrong[:10]
            ],
        )
