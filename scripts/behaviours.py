"""Prints `ID COUNT` for each behaviour from the record of the last test run; fails when one is not proved."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from chatd.testing.behaviour_record import listed_ids, read_other_counts, read_record  # noqa: E402


def main(root: Path) -> int:
    ids = listed_ids(root)
    if not ids:
        print("behaviours: docs/behaviours.md lists no ids (lines that start `- AREA-N`).", file=sys.stderr)
        return 1
    record = read_record(root)
    if record is None:
        print("behaviours: no test run is recorded; run make test first.", file=sys.stderr)
        return 1
    try:
        counts = read_other_counts(root)
    except (OSError, ValueError) as error:
        print(f"behaviours: {error}", file=sys.stderr)
        return 1
    for behaviour, tests in record.tests.items():
        counts[behaviour] += len(tests)

    problems = [
        f"{twice} is listed twice in docs/behaviours.md" for twice in dict.fromkeys(ids) if ids.count(twice) > 1
    ]
    for behaviour in dict.fromkeys(ids):
        print(behaviour, counts[behaviour])
        if not counts[behaviour]:
            problems.append(f"{behaviour} has no test that ran and passed in the last run")
    named = dict.fromkeys(counts, "tests of the last run") | record.unknown
    problems += [
        f"{behaviour} is named by {where} but not in docs/behaviours.md"
        for behaviour, where in named.items()
        if behaviour not in ids
    ]
    for problem in problems:
        print(f"behaviours: {problem}.", file=sys.stderr)
    if problems:
        print("behaviours: after the correction, run make test to record a new run.", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT))
