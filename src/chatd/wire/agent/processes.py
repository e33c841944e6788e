"""Commands in a workspace, as the server asks for them and its agent tells of them."""

from enum import StrEnum

import msgspec


class ProcessState(StrEnum):
    """`unknown`: it was started, or about to be, when its agent died. It may have run, wholly or in part."""

    RUNNING = "running"
    EXITED = "exited"
    UNKNOWN = "unknown"


class SignalName(StrEnum):
    """What can be sent to the whole group of a process."""

    TERMINATE = "terminate"
    KILL = "kill"
    INTERRUPT = "interrupt"


class StartProcess(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`key` names this one start within the chat: asked again, nothing is started again.

    `workdir` is an absolute path; else the agent's. With `stdin` false the command's input is empty instead of open.
    """

    key: str
    command: str
    workdir: str | None = None
    env: dict[str, str] = {}
    background: bool = False
    stdin: bool = True


class StartedProcess(msgspec.Struct, frozen=True):
    """`fresh` is false when the key had been used: then `state` is that of the process which it started."""

    id: str
    fresh: bool
    state: ProcessState


class ListedProcess(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    command: str
    workdir: str
    background: bool
    state: ProcessState
    running: bool
    started_at_unix: int
    exited_at_unix: int | None = None
    exit_code: int | None = None


class ProcessList(msgspec.Struct, frozen=True):
    """At most ten: running ones first, then the newest."""

    processes: tuple[ListedProcess, ...]


class OutputQuery(msgspec.Struct, frozen=True, kw_only=True):
    """`wait` blocks until the exit; with `since` until there is more than in the answer that had this version.

    Both end after `wait_seconds` at the latest. `most_bytes` is how much of the output is wanted, marks included.
    """

    wait: bool = False
    since: int | None = None
    wait_seconds: float | None = None
    most_bytes: int | None = None


class Truncated(msgspec.Struct, frozen=True):
    """In bytes of UTF-8. Marks in the text say where something is missing, and how much."""

    original_bytes: int
    retained_bytes: int
    omitted_bytes: int
    strategy: str = "head_tail"


class ProcessOutput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that is kept of the output, both streams as they came. `exit_code` is 128 + n after signal n.

    `running` of a process whose state is unknown says whether it still can be seen; its output is lost.
    """

    id: str
    command: str
    state: ProcessState
    running: bool
    version: int
    output: str = ""
    exit_code: int | None = None
    signal: str | None = None
    truncated: Truncated | None = None
    note: str | None = None


class SendSignal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    signal: SignalName


class AcknowledgeProcesses(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All processes of the chat but those whose key begins with `keep`: they may be forgotten once they have ended."""

    keep: str


class WriteStdin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str = ""
    close: bool = False


class StdinWritten(msgspec.Struct, frozen=True):
    """`written` bytes were taken. Fewer than were sent: the process does not read; `closed`: it never will."""

    written: int
    closed: bool
