"""Diffs, held against `patch`."""

import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatd.agent.edits.diffs import MOST_CHARACTERS, unified

LINES = st.lists(st.sampled_from(["a", "b", "@@ -1 +1 @@", "--- x", "+++ x", "-", "", "é", "c\r"]), max_size=30)


@st.composite
def texts(draw: st.DrawFn) -> str:
    return "\n".join(draw(LINES)) + draw(st.sampled_from(["", "\n"]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(common=texts(), before=texts(), after=texts(), end=texts())
def test_patch_makes_the_new_file_of_the_old_one(tmp_path: Path, common: str, before: str, after: str, end: str):
    old, new = common + before + end, common + after + end
    diff = unified("file", old, new)
    if old == new:
        assert diff == ""
        return
    file = tmp_path / "file"
    file.write_bytes(old.encode())
    command = ["patch", "--binary", "-s", "-F0", "-r", "-", "-o", "-", str(file)]
    made = subprocess.run(command, input=diff.encode(), capture_output=True, check=False)

    assert made.returncode == 0, made.stderr
    assert made.stdout == new.encode()


def test_hunks_are_numbered_in_the_whole_file():
    old = "".join(f"line {number}\n" for number in range(1, 1001))

    assert "@@ -497,7 +497,7 @@" in unified("/f", old, old.replace("line 500\n", "changed\n"))


def test_files_in_which_much_is_the_same_are_compared_line_by_line():
    """The shortest diff of these would take minutes to find."""
    old = [f"line {number % 150}\n" for number in range(19_000)]
    new = ["changed\n" if number % 5000 == 7 else line for number, line in enumerate(old)]
    diff = unified("/f", "".join(old), "".join(new))

    assert diff.count("@@ -") == 4
    assert diff.count("\n-") == diff.count("\n+changed") == 4
    assert unified("/f", "".join(old), "x\n" + "".join(new)).count("@@ -") == 1


def test_a_path_can_not_write_a_line_of_the_diff():
    assert unified("/a\n+++ b", "x", "y").splitlines()[0] == "--- /a?+++ b"


def test_what_is_too_long_to_show_is_said():
    many = "".join(f"{number}\n" for number in range(200_001))
    assert "too many lines" in unified("/f", many, many + "x\n")
    wide = unified("/f", "a" * MOST_CHARACTERS, "b" * MOST_CHARACTERS)
    assert len(wide) < MOST_CHARACTERS + 200
    assert "this is its beginning" in wide
