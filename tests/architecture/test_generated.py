"""Generated files are fresh: running the generators would change nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.mark.behaviour("STORE-1")
def test_the_store_is_as_dbgen_would_write_it():
    checked = run("-m", "dbgen", "--check")

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_pages_made_from_code_are_as_the_code_says():
    checked = run("scripts/docs.py", "--check")

    assert checked.returncode == 0, checked.stderr
