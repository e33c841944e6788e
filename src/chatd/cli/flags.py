"""The flags of a command that takes settings, made from their declarations."""

import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from chatd.server.setting_kinds import (
    Certificates,
    Choice,
    ClampedNumber,
    FilePath,
    Folder,
    Hidden,
    ListOf,
    Url,
    WholeNumber,
)
from chatd.server.settings import SETTINGS, LoadedSettings, SettingSpec, load_settings

_METAVARS: Mapping[type, str] = {
    Choice: "WORD",
    Certificates: "FILE",
    ClampedNumber: "NUMBER",
    Folder: "DIR",
    ListOf: "LIST",
    Url: "URL",
    Hidden: "URL",
    WholeNumber: "NUMBER",
}


def takes_settings(command: Callable[[LoadedSettings], None]) -> Callable[..., None]:
    """The command with a flag for `--config` and for every setting that may be one, given the loaded settings."""

    def with_flags(**flags: str | None) -> None:
        given = {name: value for name, value in flags.items() if value is not None}
        command(load_settings(environ=os.environ, flags=given, cwd=Path.cwd()))

    parameters = [_parameter("config", "--config", "A TOML file with settings. [CHATD_CONFIG]", "FILE")]
    parameters += [
        _parameter(spec.name, spec.flag, _help(spec), _metavar(spec)) for spec in SETTINGS if spec.flag is not None
    ]
    # Typer reads both: the one for the parameters, the other for their types.
    with_flags.__signature__ = inspect.Signature(parameters)
    with_flags.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    with_flags.__doc__ = command.__doc__
    return with_flags


def settings_without_flags() -> str:
    """What `--help` adds: the settings that must not stand on a command line."""
    lines = [f"  {spec.env}: {spec.help}" for spec in SETTINGS if spec.flag is None]
    return "Only in the environment or a file:\n\n" + "\n\n".join(lines)


def _parameter(name: str, flag: str, help: str, metavar: str) -> inspect.Parameter:
    annotation = Annotated[str | None, typer.Option(flag, help=help, metavar=metavar, show_default=False)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _metavar(spec: SettingSpec) -> str:
    return spec.kind.metavar if isinstance(spec.kind, FilePath) else _METAVARS.get(type(spec.kind), "TEXT")


def _help(spec: SettingSpec) -> str:
    return f"{spec.help} Default: {spec.default_text}. [{spec.env}]"
