"""What a keeper is told, and what it says: JSON over its standard input and output."""

import msgspec

from chatd.agent.options import IDLE_MINUTES
from chatd.workspaces.local.account import Account
from chatd.workspaces.local.config import LocalConfig


class Bubblewrap(msgspec.Struct, frozen=True):
    """The program, whether it can keep processes from making user namespaces of their own, and whether from calls of
    the kernel that they have no use for."""

    program: str
    no_more_namespaces: bool
    filters_calls: bool = False


class KeeperOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`bubblewrap` of None: the agent runs without a sandbox. The token is never on a command line."""

    root: str
    workspace_id: str
    hostname: str
    token: str
    config: LocalConfig
    environment: dict[str, str]
    account: Account
    bubblewrap: Bubblewrap | None
    private_networks: tuple[str, ...] = ()
    idle_minutes: float = IDLE_MINUTES


class Said(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a keeper's: a note for the build's log, or how the start has ended."""

    note: str = ""
    level: str = "info"
    end: str = ""  # ready, held (another keeper has it) or failed
    message: str = ""
    detail: str = ""
