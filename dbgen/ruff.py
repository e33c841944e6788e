"""Ruff on a text: the formatting and import order that the repository's settings ask for."""

import shutil
import subprocess
import sys
from pathlib import Path

from dbgen.layout import Layout


def formatted(text: str, layout: Layout, name: str) -> str:
    """The text in the repository's format, imports sorted and unused ones removed."""
    return _run(["format"], sorted_imports(text, layout, name), layout, name)


def sorted_imports(text: str, layout: Layout, name: str) -> str:
    """The same text with its imports sorted, merged and the unused ones removed; the rest is not touched."""
    return _run(["check", "--fix", "--exit-zero", "--select", "I,F401"], text, layout, name)


def _program() -> str:
    """The ruff beside this Python, else the one on PATH."""
    return shutil.which("ruff", path=Path(sys.executable).parent) or "ruff"


def _run(command: list[str], text: str, layout: Layout, name: str) -> str:
    done = subprocess.run(
        [
            *(_program(), *command, "--quiet", "--no-cache"),
            *(
                "--config",
                str(layout.root / "pyproject.toml"),
                "--stdin-filename",
                str(layout.file(name)),
                "-",
            ),
        ],
        input=text,
        capture_output=True,
        text=True,
        cwd=layout.root,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"ruff could not read the generated {name}: {done.stderr.strip()}")
    return done.stdout
