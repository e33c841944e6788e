"""Which tests proved which behaviour: the list of ids, and the record of the last run.

Standard library only, because `make -s behaviours` reads the record without the virtual environment.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

_LISTED = re.compile(r"^- ([A-Z]+-[0-9]+)\b", re.MULTILINE)


class Record:
    """The last run: for each id the tests that passed; for each unknown id the file that names it."""

    def __init__(
        self, tests: Mapping[str, Iterable[str]] | None = None, unknown: Mapping[str, str] | None = None
    ) -> None:
        self.tests: dict[str, set[str]] = {behaviour: set(names) for behaviour, names in (tests or {}).items()}
        self.unknown: dict[str, str] = dict(unknown or {})

    def add(self, behaviour: str, test: str) -> None:
        self.tests.setdefault(behaviour, set()).add(test)

    def forget(self, test: str) -> None:
        for tests in self.tests.values():
            tests.discard(test)


def listed_ids(root: Path) -> list[str]:
    """The ids of docs/behaviours.md, in its order; none when there is no such file."""
    path = root / "docs" / "behaviours.md"
    return _LISTED.findall(path.read_text(encoding="utf-8")) if path.is_file() else []


def read_record(root: Path) -> Record | None:
    """The record of the last Python run, or None when there is none or it can't be read."""
    try:
        stored = json.loads(_path(root).read_text(encoding="utf-8"))
        return Record(stored["tests"], stored["unknown"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_record(root: Path, record: Record) -> None:
    """Replace the record in one step, so that a reader never sees half of it."""
    path = _path(root)
    path.parent.mkdir(exist_ok=True)
    tests = {behaviour: sorted(names) for behaviour, names in sorted(record.tests.items()) if names}
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps({"tests": tests, "unknown": record.unknown}, indent=1) + "\n", encoding="utf-8")
    fresh.replace(path)


def read_other_counts(root: Path) -> Counter[str]:
    """What other test runners (TypeScript) counted: each `.cache/behaviours-*.json` is `{id: count}`."""
    counts: Counter[str] = Counter()
    for path in sorted(_path(root).parent.glob("behaviours-*.json")):
        stored: object = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(stored, dict):
            raise ValueError(f"{path.name} must be an object of id and count")
        for behaviour, count in cast("dict[str, object]", stored).items():
            if not isinstance(count, int) or count < 0:
                raise ValueError(f"{path.name}: {behaviour} has a count that is no whole number: {count!r}")
            counts[behaviour] += count
    return counts


def _path(root: Path) -> Path:
    return root / ".cache" / "behaviours.json"
