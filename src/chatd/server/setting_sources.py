"""Where settings come from: a TOML file, the environment, flags. Reads them and finds all that is wrong with them."""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, cast

import msgspec

from chatd.core.errors import StartRefused
from chatd.observe.redact import DOTS, is_secret_name, redact_text
from chatd.server.setting_kinds import Kind, absolute, holds_password

PREFIX = "CHATD_"
FILE_NAME = "chatd.toml"
FILE_LIMIT = 1 << 20  # bytes; thousands of times what settings need
_TRIED_LIMIT = 100  # characters of an unknown name that are compared; comparing is slow for long ones
_SHOWN_LIMIT = 60  # characters of a wrong value that are shown: enough to recognise it
_CLOSE = 0.6  # how alike names are (0 to 1) before one is suggested, or a value is hidden as a near secret

# Variables of ours that are not settings of the server.
_RESERVED = frozenset({"CHATD_CONFIG", "CHATD_TOKEN", "CHATD_URL"})
_RESERVED_PREFIX = "CHATD_TEST_"
# Kubernetes puts these into every container next to a service that is named chatd.
_SERVICE_LINK = re.compile(r"CHATD_SERVICE_(HOST|PORT)(_\w+)?|CHATD_PORT_\d+_(TCP|UDP)(_\w+)?")
_SERVICE_LINK_VALUE = re.compile(r"(tcp|udp)://[0-9a-fA-F.:\[\]]+")
_SERVICE_LINK_ADVICE = "Kubernetes sets it for a service named chatd; set enableServiceLinks: false in the pod"


class SettingsRefused(StartRefused):
    """Settings that can't be used; `problems` has a sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        count = "A setting is" if len(problems) == 1 else f"{len(problems)} settings are"
        self.problems = tuple(_printable(problem) for problem in problems)
        lines = "".join(f"\n  {problem}" for problem in self.problems)
        super().__init__(f"{count} wrong:{lines}", detail="`chatd serve --help` and docs/settings.md list them all.")


class SettingSpec(msgspec.Struct, frozen=True):
    """The declaration of one setting; everything else about it follows from this."""

    name: str
    kind: Kind
    default: object
    help: str
    secret: bool = False
    flag: str | None = None
    default_text: str = ""
    file_key: str = ""  # with a dot: in a table of the TOML file

    @property
    def env(self) -> str:
        return PREFIX + self.name.upper()

    @property
    def allowed(self) -> str:
        return self.kind.allowed


class Given(msgspec.Struct, frozen=True):
    """A value that someone gave: for which name, where, and the folder from which its paths are taken."""

    name: str
    raw: object
    origin: str
    shown: str
    folder: Path


class Sources:
    """Collects what is given, the weakest first, and every problem on the way."""

    def __init__(self, specs: Sequence[SettingSpec], cwd: Path) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self._cwd = cwd
        self.given: list[Given] = []
        self.problems: list[str] = []
        self.ignored: dict[str, str] = {}

    def read_fallback(
        self, environ: Mapping[str, str], name: str, variables: Sequence[str], tidy: Callable[[str], str]
    ) -> None:
        """A variable that other programs share with us; ours are stronger. `tidy` writes it as a setting of ours is.

        It is not there for us: one that we can't use is `ignored`, not refused.
        """
        spec = self._specs[name]
        for variable in variables:
            if raw := environ.get(variable, "").strip():
                text = tidy(raw)
                try:
                    spec.kind.parse(text, self._cwd)
                except ValueError:
                    self.ignored[name] = f"{variable} is ignored: it is not {spec.allowed}"
                else:
                    self._give(spec, text, origin=variable, lead=f"{variable}=", folder=self._cwd)
                return

    def read_file(self, environ: Mapping[str, str], flags: Mapping[str, object], *, default_data_dir: Path) -> None:
        """The named TOML file, or the first of ./chatd.toml and <data_dir>/chatd.toml that exists."""
        named = flags.get("config") or environ.get("CHATD_CONFIG")
        if named:
            asker = "--config" if flags.get("config") else "CHATD_CONFIG"
            path = self._path(named)
            if path is None or not _is_file(path):
                self.problems.append(f"{asker}: there is no file {_shown_path(path or named)}")
            else:
                self._read_toml(path)
            return
        data_dir = flags.get("data_dir") or environ.get("CHATD_DATA_DIR") or default_data_dir
        found_there = self._path(data_dir)
        if _is_file(self._cwd / FILE_NAME):
            self._read_toml(self._cwd / FILE_NAME)
        elif found_there is not None and _is_file(found_there / FILE_NAME):
            self._read_toml(found_there / FILE_NAME, found_by="data_dir")

    def read_environ(self, environ: Mapping[str, str]) -> None:
        for variable, raw in sorted(environ.items()):
            if not variable.startswith(PREFIX) or variable in _RESERVED or variable.startswith(_RESERVED_PREFIX):
                continue
            name = variable.removeprefix(PREFIX).lower()
            spec = self._specs.get(name)
            if spec is None or spec.env != variable:
                self._refuse_unknown(
                    f"{variable}={self._unknown_value(name, raw)}", name, [spec.env for spec in self._specs.values()]
                )
                continue
            self._give(spec, raw, origin=variable, lead=f"{variable}=", folder=self._cwd)

    def read_flags(self, flags: Mapping[str, object]) -> None:
        for name, raw in flags.items():
            if name == "config" or raw is None:
                continue
            spec = self._specs.get(name)
            if spec is None or spec.flag is None:
                flag = "--" + name.replace("_", "-")
                self._refuse_unknown(
                    f"{flag} {self._unknown_value(name, raw)}",
                    name,
                    [spec.flag for spec in self._specs.values() if spec.flag is not None],
                )
                continue
            if spec.secret and holds_password(raw):
                self.problems.append(
                    f"{spec.flag} {DOTS}: holds a password, and every user of the machine can read flags; "
                    f"put it into {spec.env} or a file"
                )
                continue
            self._give(spec, raw, origin=spec.flag, lead=f"{spec.flag} ", folder=self._cwd)

    def parsed(self) -> Iterator[tuple[Given, object]]:
        """The values that are fit, the weakest source first. What is not is a problem, also when overridden."""
        for given in self.given:
            kind = self._specs[given.name].kind
            try:
                yield given, kind.parse(given.raw, given.folder)
            except ValueError as error:
                why = f" ({error})" if str(error) else ""
                self.problems.append(f"{given.shown}: must be {kind.allowed}{why}{_service_link(given.raw)}")

    def _path(self, named: object) -> Path | None:
        try:
            return absolute(str(named), self._cwd)
        except ValueError:
            return None

    def _read_toml(self, path: Path, *, found_by: str | None = None) -> None:
        try:
            if path.stat().st_size > FILE_LIMIT:
                self.problems.append(f"{_shown_path(path)}: is larger than {FILE_LIMIT} bytes")
                return
            table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            self.problems.append(f"{_shown_path(path)}: can't be read ({error.strerror})")
            return
        except (ValueError, RecursionError) as error:  # no UTF-8, or no TOML
            position = re.search(r"\(at [^()]+\)", str(error))
            self.problems.append(f"{_shown_path(path)}: is not valid TOML{f' {position[0]}' if position else ''}")
            return
        by_key = {spec.file_key: spec for spec in self._specs.values()}
        for key, raw in _flattened(table, {key.partition(".")[0] for key in by_key if "." in key}):
            spec = by_key.get(key)
            if spec is None:
                name = key.replace(".", "_")
                shown = f"{_shown_path(path)}: {_shown(key)} = {self._unknown_value(name, raw)}"
                self._refuse_unknown(shown, name, list(by_key))
                continue
            if key == found_by:
                self.problems.append(f"{_shown_path(path)}: {key}: can't be set in the file that is found by it")
                continue
            self._give(spec, raw, origin=str(path), lead=f"{_shown_path(path)}: {key} = ", folder=path.parent)

    def _give(self, spec: SettingSpec, raw: object, *, origin: str, lead: str, folder: Path) -> None:
        shown = lead + (DOTS if spec.secret else _shown(raw))
        self.given.append(Given(spec.name, raw, origin, shown, folder))

    def _refuse_unknown(self, shown: str, name: str, allowed: Sequence[str]) -> None:
        if _SERVICE_LINK.fullmatch(PREFIX + name.upper()):
            self.problems.append(f"{shown}: is not a setting. {_SERVICE_LINK_ADVICE}")
            return
        close = _close(name, self._specs)
        suggestion = next((a for a in allowed if close and _plain(a) == close), None)
        advice = f"Did you mean {suggestion}?" if suggestion else f"Known are {', '.join(allowed)}"
        self.problems.append(f"{shown}: is not a setting. {advice}")

    def _unknown_value(self, name: str, raw: object) -> str:
        close = _close(name, self._specs)
        hidden = is_secret_name(name) or (close is not None and self._specs[close].secret)
        return DOTS if hidden else _shown(raw)


def _flattened(table: Mapping[str, Any], tables: Set[str]) -> Iterator[tuple[str, object]]:
    """Keys and values, with those of known tables as `table.key`."""
    for key, value in table.items():
        if key in tables and isinstance(value, dict):
            for inner, below in cast("dict[str, object]", value).items():
                yield f"{key}.{inner}", below
        else:
            yield key, value


def _close(name: str, names: Iterable[str]) -> str | None:
    found = difflib.get_close_matches(name[:_TRIED_LIMIT].lower().replace("-", "_"), list(names), n=1, cutoff=_CLOSE)
    return found[0] if found else None


def _plain(label: str) -> str:
    return label.removeprefix("--").removeprefix(PREFIX).lower().replace("-", "_").replace(".", "_")


def _shown(raw: object) -> str:
    text = redact_text(raw if isinstance(raw, str) else str(raw))
    return text if len(text) <= _SHOWN_LIMIT else text[:_SHOWN_LIMIT] + "…"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long, or in a folder that is closed to us
        return False


def _shown_path(path: object) -> str:
    return redact_text(str(path))


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def _service_link(raw: object) -> str:
    return f". {_SERVICE_LINK_ADVICE}" if isinstance(raw, str) and _SERVICE_LINK_VALUE.fullmatch(raw) else ""
