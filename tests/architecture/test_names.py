"""Things are named for what they are: no module or class carries a job title."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "chatd"
EMPTY_WORDS = {
    "manager",
    "service",
    "util",
    "utils",
    "helper",
    "helpers",
    "common",
    "misc",
    "base",
    "impl",
    "handler",
    "info",
}
# Names of other people's things: /api/v2/buildinfo is what clients ask for.
KEPT = {"BuildInfo"}


def _words(name: str) -> set[str]:
    return set(re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_"))


def test_no_module_or_class_has_an_empty_name():
    found: list[str] = []
    for path in PACKAGE.rglob("*.py"):
        names = [
            path.stem,
            *(node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ClassDef)),
        ]
        found += [f"{path.name}: {name}" for name in names if _words(name) & EMPTY_WORDS and name not in KEPT]

    assert found == []


def test_every_module_says_what_it_is():
    silent = [str(path) for path in PACKAGE.rglob("*.py") if not ast.get_docstring(ast.parse(path.read_text("utf-8")))]

    assert silent == []
