"""What a template says about its containers."""

import re
from pathlib import PurePosixPath
from typing import Annotated, Final, Literal

import msgspec

from chatd.core.errors import Validation
from chatd.workspaces.config_text import environment_faults, read_config, refuse

_NETWORK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_USER: Final = re.compile(r"[0-9]+(:[0-9]+)?")
_MOST_MEMORY_MB: Final = 16 * 1024 * 1024  # 16 TiB: more is a mistake in the unit
_MOST_PROCESSES: Final = 1_000_000
_MOST_CPUS: Final = 4096.0


class ContainerMount(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A folder or file of the engine's machine."""

    source: str
    target: str
    writable: bool = False


class DockerConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`image` must have chatd in it; it and values of `environment` may have `${parameter}` in them.

    `network` is none, bridge or the name of one of the engine's. `user` is a number, or two with a colon; without it
    the server's own, or 1000 where that is root. `agent` is what starts an agent in the image.
    """

    image: str
    pull: Literal["missing", "always", "never"] = "missing"
    network: str = "bridge"
    user: str | None = None
    home: str = "/home/chatd"
    agent: tuple[str, ...] = ("chatd", "agent")
    memory_mb: Annotated[int, msgspec.Meta(ge=64, le=_MOST_MEMORY_MB)] | None = 4096
    processes: Annotated[int, msgspec.Meta(ge=16, le=_MOST_PROCESSES)] | None = 2000
    cpus: Annotated[float, msgspec.Meta(gt=0, le=_MOST_CPUS)] | None = None
    read_only_root: bool = False
    mounts: tuple[ContainerMount, ...] = ()
    environment: dict[str, str] = {}


def read_docker_config(text: str, *, publishes: bool) -> DockerConfig:
    """`publishes`: agents are reached by a port. Raises InvalidRequest."""
    config = read_config(text, DockerConfig)
    faults = environment_faults(config.environment)
    if not config.image.strip():
        faults.append(Validation("image", "Name an image that has chatd in it."))
    if not _NETWORK.fullmatch(config.network):
        faults.append(Validation("network", "Give none, bridge, or the name of a network."))
    if config.network in ("host", "container") or (publishes and config.network == "none"):
        faults.append(
            Validation("network", f"{config.network} can't be used here: the agent could not be reached alone.")
        )
    if config.user is not None and not _USER.fullmatch(config.user):
        faults.append(Validation("user", "Give a number, or two: 1000:1000."))
    if not config.agent:
        faults.append(Validation("agent", "Give the program that starts an agent, and its arguments."))
    paths = [("home", config.home), *_of_mounts(config)]
    faults += [
        Validation(field, "Give an absolute path without .. in it.") for field, path in paths if not _is_plain(path)
    ]
    refuse(faults)
    return config


def _of_mounts(config: DockerConfig) -> list[tuple[str, str]]:
    return [
        entry
        for at, mount in enumerate(config.mounts)
        for entry in ((f"mounts.{at}.source", mount.source), (f"mounts.{at}.target", mount.target))
    ]


def _is_plain(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return parts[:1] == ("/",) and len(parts) > 1 and ".." not in parts and "\0" not in path
