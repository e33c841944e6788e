"""Postgres programs that do something first, or instead: shell in front of the real ones."""

from pathlib import Path

from chatd.store.postgres_binaries import find_binaries


def stand_ins(parent: Path, **first: str) -> Path:
    """A folder of `postgres` and `initdb`; each runs its shell text, then the real program."""
    folder = parent / "stand-ins"
    folder.mkdir()
    folder.chmod(0o755)
    for name in ("postgres", "initdb"):
        program = folder / name
        program.write_text(f'#!/bin/sh\n{first.get(name, "")}\nexec "{find_binaries().bin / name}" "$@"\n')
        program.chmod(0o755)
    return folder
