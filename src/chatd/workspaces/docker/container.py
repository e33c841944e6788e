"""A workspace as a container: what the engine is asked to make."""

import re
from hashlib import sha256
from typing import Any, Final

import msgspec

from chatd.workspaces.docker.config import DockerConfig
from chatd.workspaces.docker.image import image_name
from chatd.workspaces.parameters import filled
from chatd.workspaces.provisioner import WorkspaceSpec

AGENT: Final = "/run/chatd/agent"
PORT: Final = "3129/tcp"  # inside; outside it is any that is free
WORKSPACE: Final = "chatd.workspace_id"  # the label by which a container is ours
CONFIG: Final = "chatd.config"  # the label that tells whether a container is made as it should be
_NANO: Final = 1_000_000_000
# The token comes by the environment, and leaves it before the agent begins.
_BEGIN: Final = (
    'umask 077; mkdir -p "$1" && rm -rf "$1/token" && printf %s "$CHATD_AGENT_TOKEN" >"$1/token" || exit 1; '
    'unset CHATD_AGENT_TOKEN; shift; umask 022; exec "$@"'
)
_NO_NAME: Final = re.compile(r"[^a-z0-9-]+")


def container_name(spec: WorkspaceSpec) -> str:
    return f"chatd-{spec.workspace_id}"


def volume_names(spec: WorkspaceSpec) -> tuple[str, str]:
    """Of the home, and of the agent's own folder where it is not on this machine."""
    return f"chatd-{spec.workspace_id}-home", f"chatd-{spec.workspace_id}-agent"


def container(
    spec: WorkspaceSpec, config: DockerConfig, *, user: str, agent_folder: str | None, publish_on: str | None
) -> dict[str, Any]:
    """The body of the request. `agent_folder` is a folder of this machine; else a port is published on `publish_on`."""
    home, agent = volume_names(spec)
    listen = "unix" if agent_folder is not None else "tcp:0.0.0.0:" + PORT.partition("/")[0]
    environment = {name: filled(value, spec.parameters) for name, value in config.environment.items()}
    given = {"HOME": config.home, "LANG": "C.UTF-8", **environment, "CHATD_AGENT_TOKEN": spec.token.reveal()}
    body: dict[str, Any] = {
        "Image": image_name(filled(config.image, spec.parameters)),
        "Hostname": _NO_NAME.sub("-", spec.name.lower()).strip("-")[:63].strip("-") or "workspace",
        "User": user,
        "WorkingDir": config.home,
        "Env": [f"{name}={value}" for name, value in given.items()],
        "Entrypoint": ["sh", "-c", _BEGIN, "chatd", AGENT],
        "Cmd": [*config.agent, *_arguments(spec, config, listen)],
        "Labels": {WORKSPACE: str(spec.workspace_id), "chatd.owner": spec.owner_name, "chatd.name": spec.name},
        "HostConfig": {
            "Mounts": [
                {"Type": "volume", "Source": home, "Target": config.home},
                _agent_mount(agent_folder, agent),
                *(
                    {"Type": "bind", "Source": mount.source, "Target": mount.target, "ReadOnly": not mount.writable}
                    for mount in config.mounts
                ),
            ],
            "NetworkMode": config.network,
            "ReadonlyRootfs": config.read_only_root,
            "Tmpfs": {"/tmp": "rw,nosuid,nodev,mode=1777"} if config.read_only_root else {},  # noqa: S108
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "RestartPolicy": {"Name": "no"},  # the server starts it, and knows why
            **_limits(config),
        },
    }
    if publish_on is not None:
        body["ExposedPorts"] = {PORT: {}}
        body["HostConfig"]["PortBindings"] = {PORT: [{"HostIp": publish_on, "HostPort": ""}]}
    body["Labels"][CONFIG] = sha256(msgspec.json.encode(body)).hexdigest()
    return body


def _arguments(spec: WorkspaceSpec, config: DockerConfig, listen: str) -> list[str]:
    """An agent in a container does not leave by itself: with it the container would be gone."""
    return [
        *("--dir", AGENT, "--listen", listen, "--home", config.home, "--idle-minutes", "0"),
        *("--workspace-id", str(spec.workspace_id), "--foreground"),
    ]


def _agent_mount(folder: str | None, volume: str) -> dict[str, Any]:
    if folder is not None:
        return {"Type": "bind", "Source": folder, "Target": AGENT, "ReadOnly": False}
    return {"Type": "volume", "Source": volume, "Target": AGENT}


def _limits(config: DockerConfig) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    if config.memory_mb is not None:
        limits["Memory"] = limits["MemorySwap"] = config.memory_mb * 1024**2
    if config.processes is not None:
        limits["PidsLimit"] = config.processes
    if config.cpus is not None:
        limits["NanoCpus"] = int(config.cpus * _NANO)
    return limits
