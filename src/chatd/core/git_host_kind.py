"""Which API a host of repositories speaks."""

from enum import StrEnum


class HostKind(StrEnum):
    GITHUB = "github"
    GITLAB = "gitlab"
