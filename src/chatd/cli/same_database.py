"""How a command that is typed in another terminal reaches the database of this server."""

import shlex
from pathlib import Path
from typing import Final

import msgspec

from chatd.server.setting_sources import FILE_NAME, PREFIX
from chatd.server.settings import LoadedSettings

_FLAG: Final = "--"  # how the origin of a value begins that came from the command line
_URL: Final = "database_url"
_SECRETS: Final = (_URL, "encryption_keys")  # what opens a database, and must not be printed


class SameDatabase(msgspec.Struct, frozen=True):
    """`before` and `after` are parts of the command line; `variables` are secrets that must be set as they are here."""

    before: str = ""
    after: str = ""
    variables: tuple[str, ...] = ()

    def command(self, text: str) -> str:
        return f"{self.before}{text}{self.after}"

    @property
    def condition(self) -> str:
        return f" with {' and '.join(self.variables)} set as here" if self.variables else ""


def same_database(loaded: LoadedSettings, *, cwd: Path) -> SameDatabase:
    settings, origins = loaded.settings, loaded.origins
    before, after = "", ""
    if origins["data_dir"].startswith((_FLAG, PREFIX)):
        after += f" --data-dir {shlex.quote(str(settings.data_dir))}"
    found = {cwd / FILE_NAME, settings.data_dir / FILE_NAME}  # without being named
    files = {path for name in ("data_dir", *_SECRETS) if (path := Path(origins[name])).is_absolute()}
    after += "".join(f" --config {shlex.quote(str(path))}" for path in files - found)
    if settings.database_url is not None and origins[_URL].startswith(_FLAG):  # which takes none with a password
        before = f"CHATD_DATABASE_URL={shlex.quote(settings.database_url.reveal())} "
    variables = [origins[name] for name in _SECRETS if origins[name].startswith(PREFIX)]
    return SameDatabase(before, after, tuple(variables))
