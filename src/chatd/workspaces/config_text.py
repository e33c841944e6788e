"""A provisioner's config as JSON text, read into its type."""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from chatd.core.errors import InvalidRequest, Validation
from chatd.workspaces.provisioner import BuildFailed

_Config = TypeVar("_Config", bound=msgspec.Struct)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS: Final = "CHATD_"  # of the agent and the server


def read_config(text: str, type: type[_Config]) -> _Config:
    """Raises InvalidRequest, saying which field is wrong. An empty text is a config without any field."""
    try:
        return msgspec.json.decode(text or "{}", type=type)
    except msgspec.MsgspecError as error:
        raise InvalidRequest("The template's config can't be used.", detail=f"{error}.") from error


@contextmanager
def at_a_build() -> Generator[None]:
    """A config that is refused fails the build: it was stored before this server knew that it can't work."""
    try:
        yield
    except InvalidRequest as refused:
        faults = [f"{fault.field}: {fault.detail}" for fault in refused.validations]
        detail = " ".join([*([refused.detail] if refused.detail else []), *faults]) or None
        raise BuildFailed(refused.message, detail=detail, code="config") from refused


def environment_faults(environment: Mapping[str, str]) -> list[Validation]:
    """What can't be in the environment of a workspace's commands."""
    return [
        Validation(f"environment.{name}", "A name has letters, digits and _, a value no NUL; CHATD_ is reserved.")
        for name, value in environment.items()
        if not _NAME.fullmatch(name) or name.startswith(_OURS) or "\0" in value
    ]


def overlap(path: Path, ours: Path) -> bool:
    """Whether one is in the other, wherever links lead: to show the path would show some of ours."""
    path, ours = path.resolve(), ours.resolve()
    return path.is_relative_to(ours) or ours.is_relative_to(path)


def refuse(faults: list[Validation]) -> None:
    """Raises InvalidRequest when there are any."""
    if faults:
        raise InvalidRequest("The template's config can't be used.", validations=faults)
