"""The hosts that an administrator has configured, by the name that remotes have for them."""

from collections.abc import Iterable

import msgspec

from chatd.core.git_host_kind import HostKind
from chatd.core.secret import Secret
from chatd.git_hosts.asking import Session
from chatd.git_hosts.github import GitHub
from chatd.git_hosts.gitlab import GitLab
from chatd.git_hosts.host import GitHost


class HostConfig(msgspec.Struct, frozen=True, kw_only=True):
    """`host` is what stands in addresses of repositories; `api_url` is where its API is, the usual place if empty."""

    kind: HostKind
    host: str
    token: Secret
    api_url: str = ""


class Hosts:
    """Made anew when the configuration changes: what a host was known to refuse may be due to the old token."""

    def __init__(self, session: Session, configs: Iterable[HostConfig]) -> None:
        given = tuple(configs)
        self._by_name = {config.host.lower(): host_of(session, config) for config in given}
        self._kinds = {config.host.lower(): config.kind for config in given}

    def of(self, host: str) -> GitHost | None:
        """The one for remotes on this host; None where nobody has given a token for it."""
        return self._by_name.get(host.lower())

    def kind_of(self, host: str) -> HostKind | None:
        return self._kinds.get(host.lower())


def usual_api_url(kind: HostKind, host: str) -> str:
    match kind:
        case HostKind.GITHUB:
            return "https://api.github.com" if host.lower() == "github.com" else f"https://{host}/api/v3"
        case HostKind.GITLAB:
            return f"https://{host}/api/v4"


def host_of(session: Session, config: HostConfig) -> GitHost:
    url = config.api_url or usual_api_url(config.kind, config.host)
    match config.kind:
        case HostKind.GITHUB:
            return GitHub(session, url, config.token)
        case HostKind.GITLAB:
            return GitLab(session, url, config.token)
