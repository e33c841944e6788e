"""What of this Python and this chatd an agent needs inside a sandbox."""

import importlib.util
import sys
from pathlib import Path
from typing import Final

import msgspec

import chatd

_PACKAGES: Final = ("msgspec", "uvicorn", "httptools")  # of an agent; what these need is beside them
_INSIDE: Final = Path("/opt/chatd")
# The limit of processes, where control groups can't set it, is set here: inside, it counts this sandbox's alone.
_PROGRAM: Final = (
    "import resource, sys; most = int(sys.argv.pop(1)); "
    "most and resource.setrlimit(resource.RLIMIT_NPROC, (most, most)); "
    "sys.path[:0] = sys.argv.pop(1).split(':'); import chatd.agent.__main__"
)


class Mount(msgspec.Struct, frozen=True):
    source: str
    target: str
    writable: bool = False


class Installation(msgspec.Struct, frozen=True):
    """`mounts` shows the interpreter, its packages and chatd's code, and nothing that lies beside them."""

    python: str
    mounts: tuple[Mount, ...]
    path: tuple[str, ...]  # for modules, inside
    programs: str | None  # a folder of programs besides the system's: that of the interpreter

    def command(self, arguments: list[str], *, most_processes: int = 0) -> list[str]:
        """Runs `python -m chatd.agent` without anything of the virtual environment or of PYTHON* variables."""
        return [self.python, "-I", "-c", _PROGRAM, str(most_processes), ":".join(self.path), *arguments]


def sandboxed() -> Installation:
    prefix = Path(sys.base_prefix).resolve()
    packages = package_folders()
    mounts = [Mount(str(Path(chatd.__file__).parent.resolve()), str(_INSIDE / "source/chatd"))]
    mounts += [Mount(found, str(_INSIDE / f"packages-{at}")) for at, found in enumerate(packages)]
    of_system = prefix.is_relative_to("/usr")
    if not of_system:
        mounts.append(Mount(str(prefix), str(prefix)))
    return Installation(
        python=str(Path(sys.executable).resolve()),
        mounts=tuple(mounts),
        path=(str(_INSIDE / "source"), *(str(_INSIDE / f"packages-{at}") for at in range(len(packages)))),
        programs=None if of_system else str(prefix / "bin"),
    )


def direct() -> Installation:
    """For an agent without a sandbox: everything is at its own place."""
    source = str(Path(chatd.__file__).parents[1])
    return Installation(str(Path(sys.executable).resolve()), (), (source, *package_folders()), None)


def package_folders() -> list[str]:
    """Where this Python has what an agent, or a keeper, imports besides chatd."""
    specs = [importlib.util.find_spec(name) for name in _PACKAGES]
    return sorted({str(Path(spec.origin).parents[1].resolve()) for spec in specs if spec is not None and spec.origin})
