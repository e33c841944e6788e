"""What a template says about its local workspaces."""

from pathlib import PurePosixPath
from typing import Annotated, Final, Literal

import msgspec

from chatd.core.errors import Validation
from chatd.core.workspaces.egress import parse_rule
from chatd.workspaces.config_text import environment_faults, read_config, refuse

_MOST_MEMORY_MB: Final = 16 * 1024 * 1024  # 16 TiB: more is a mistake in the unit
_MOST_PROCESSES: Final = 1_000_000
_MOST_CPUS: Final = 4096.0

# Places inside that are ours: nothing may be mounted over them.
_TAKEN: Final = ("/", "/proc", "/dev", "/run", "/tmp", "/home", "/opt/chatd", "/etc", "/sys")  # noqa: S108

Network = Literal["off", "allow_list", "open"]


class LocalConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`allow` counts with `allow_list` only. Limits of None are none. `read_only_paths` are seen at their own place.

    Values of `environment` may have `${parameter}` in them.
    """

    network: Network = "allow_list"
    allow: tuple[str, ...] = ("*",)
    memory_mb: Annotated[int, msgspec.Meta(ge=64, le=_MOST_MEMORY_MB)] | None = 4096
    processes: Annotated[int, msgspec.Meta(ge=16, le=_MOST_PROCESSES)] | None = 2000
    cpus: Annotated[float, msgspec.Meta(gt=0, le=_MOST_CPUS)] | None = None
    read_only_paths: tuple[str, ...] = ()
    environment: dict[str, str] = {}


def read_local_config(text: str) -> LocalConfig:
    """Raises InvalidRequest."""
    config = read_config(text, LocalConfig)
    faults = environment_faults(config.environment)
    for at, entry in enumerate(config.allow):
        try:
            parse_rule(entry)
        except ValueError as error:
            faults.append(Validation(f"allow.{at}", str(error)))
    for at, path in enumerate(config.read_only_paths):
        if not _is_plain(path):
            faults.append(Validation(f"read_only_paths.{at}", "Give an absolute path without .. in it."))
        elif path in _TAKEN:
            faults.append(Validation(f"read_only_paths.{at}", f"{path} is the sandbox's own; give a path below it."))
    refuse(faults)
    return config


def _is_plain(path: str) -> bool:
    return (
        path.startswith("/") and "\0" not in path and str(PurePosixPath(path)) == path and ".." not in path.split("/")
    )
