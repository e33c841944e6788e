"""What an engine tells of a container, as far as it matters here."""

import msgspec


class ContainerState(msgspec.Struct, frozen=True, rename="pascal"):
    running: bool = False
    exit_code: int = 0
    error: str = ""


class Published(msgspec.Struct, frozen=True, rename="pascal"):
    """Where a port of the container is found on the engine's machine."""

    host_port: str = ""


class Networking(msgspec.Struct, frozen=True, rename="pascal"):
    ports: dict[str, list[Published] | None] | None = None


class ContainerLabels(msgspec.Struct, frozen=True, rename="pascal"):
    labels: dict[str, str] | None = None


class Inspected(msgspec.Struct, frozen=True, rename="pascal"):
    state: ContainerState
    config: ContainerLabels
    network_settings: Networking = Networking()

    def label(self, name: str) -> str | None:
        return (self.config.labels or {}).get(name)

    def port(self, name: str) -> str | None:
        """The one that was published for it."""
        found = (self.network_settings.ports or {}).get(name) or []
        return next((each.host_port for each in found if each.host_port), None)


class Progress(msgspec.Struct, frozen=True):
    """One line while an image is pulled."""

    id: str = ""
    status: str = ""
    error: str = ""


class Refusal(msgspec.Struct, frozen=True):
    message: str
