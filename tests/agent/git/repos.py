"""Real repositories for tests, made by a real git."""

import os
import subprocess
from pathlib import Path

_ENV = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_EDITOR": "true",
}


def git(folder: Path, *arguments: str | bytes, check: bool = True, given: str = "") -> str:
    env = {**os.environ, **_ENV}
    ran = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, input=given, capture_output=True, text=True, timeout=60
    )
    assert not check or ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def repository(folder: Path, *, commit: bool = True) -> Path:
    """With one commit of one file of three lines, unless told otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    if commit:
        (folder / "a.txt").write_text("one\ntwo\nthree\n")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "first")
    return folder


def cloned(folder: Path, origin: Path) -> Path:
    git(origin.parent, "clone", "-q", str(origin), str(folder))
    return folder
