"""A behaviour counts as proved when a marked test really ran and passed, with and without xdist."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = "# Behaviours\n\n- STORE-1 [S] One.\n  STORE-9 is only mentioned here.\n- API-4 [R] Four.\n"


class Project:
    """A small project with a list of behaviours, in which pytest and the counting script are run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "docs").mkdir()
        (path / "docs" / "behaviours.md").write_text(LIST)
        (path / "pytest.ini").write_text("[pytest]\naddopts = -p chatd.testing.behaviours --strict-markers\n")

    def test_file(self, text: str, name: str = "test_it.py") -> None:
        (self.path / name).write_text("import pytest\n\n" + text)

    def pytest(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        environ["PYTHONPATH"] = str(ROOT / "src")
        environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the plugins of this project take seconds to load
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        return subprocess.run(
            command, cwd=self.path, env=environ, capture_output=True, text=True, timeout=60, check=False
        )

    def record(self) -> dict[str, list[str]]:
        return json.loads((self.path / ".cache" / "behaviours.json").read_text())["tests"]

    def counts(self) -> dict[str, int]:
        return {behaviour: len(tests) for behaviour, tests in self.record().items()}

    def script(self) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "scripts" / "behaviours.py"), str(self.path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


with_and_without_workers = pytest.mark.parametrize(
    "arguments", [(), ("-p", "xdist.plugin", "-n", "2")], ids=["alone", "xdist"]
)

MIXED = """
@pytest.mark.behaviour("STORE-1", "API-4")
def test_passes(): pass

@pytest.mark.behaviour("STORE-1")
@pytest.mark.parametrize("n", [1, 2])
def test_passes_twice(n): pass

@pytest.mark.behaviour("API-4")
def test_fails(): assert False

@pytest.mark.behaviour("API-4")
def test_skips_inside(): pytest.skip("no")

@pytest.mark.behaviour("API-4")
@pytest.mark.skip
def test_is_skipped(): pass

@pytest.mark.behaviour("API-4")
@pytest.mark.xfail
def test_is_expected_to_fail(): assert False

@pytest.mark.behaviour("API-4")
@pytest.mark.xfail(strict=False)
def test_passes_against_expectation(): pass

@pytest.fixture
def breaks_at_the_end():
    yield
    raise RuntimeError

@pytest.mark.behaviour("API-4")
def test_whose_teardown_fails(breaks_at_the_end): pass

@pytest.mark.behaviour("API-4")
def test_other(): pass
"""


@with_and_without_workers
def test_only_tests_that_ran_and_passed_are_counted(project: Project, arguments: tuple[str, ...]):
    project.test_file(MIXED)
    project.pytest(*arguments, "-k", "not other")
    assert project.counts() == {"STORE-1": 3, "API-4": 1}


@with_and_without_workers
def test_an_unknown_id_fails_the_collection_with_id_and_file(project: Project, arguments: tuple[str, ...]):
    project.test_file('class TestIt:\n    @pytest.mark.behaviour("STORE-7")\n    def test_it(self): pass\n')
    run = project.pytest(*arguments)
    assert run.returncode != 0
    assert "test_it.py: behaviour STORE-7 is not in docs/behaviours.md" in run.stdout
    script = project.script()
    assert script.returncode == 1
    assert "STORE-7 is named by test_it.py but not in docs/behaviours.md" in script.stderr


def test_a_marker_on_a_class_or_module_counts_for_each_of_its_tests(project: Project):
    project.test_file(
        'pytestmark = pytest.mark.behaviour("API-4")\n\n'
        '@pytest.mark.behaviour("STORE-1")\n'
        "class TestIt:\n    def test_one(self): pass\n    def test_two(self): pass\n"
    )
    project.pytest()
    assert project.counts() == {"STORE-1": 2, "API-4": 2}


def test_a_run_of_a_part_leaves_the_record_of_the_rest(project: Project):
    project.test_file(MIXED)
    project.pytest()
    before = project.counts()
    project.pytest("-k", "test_passes_twice")
    assert project.counts() == before


def test_a_later_run_adds_new_tests_and_takes_out_those_that_fail_now(project: Project):
    project.test_file(MIXED)
    project.pytest("-k", "test_passes")
    project.test_file(MIXED.replace("def test_passes(): pass", "def test_passes(): assert False"))
    project.pytest("-k", "test_passes or test_other")
    assert project.record() == {
        "STORE-1": ["test_it.py::test_passes_twice[1]", "test_it.py::test_passes_twice[2]"],
        "API-4": ["test_it.py::test_other"],
    }


def test_collecting_only_leaves_the_record_alone(project: Project):
    project.test_file(MIXED)
    project.pytest("-k", "test_passes")
    before = project.record()
    project.pytest("--collect-only")
    assert project.record() == before


def test_the_script_prints_every_id_in_order_with_its_count(project: Project):
    project.test_file(MIXED)
    project.pytest()
    script = project.script()
    assert (script.returncode, script.stdout, script.stderr) == (0, "STORE-1 3\nAPI-4 2\n", "")


def test_the_script_fails_for_an_id_without_a_passing_test(project: Project):
    project.test_file(MIXED)
    project.pytest("-k", "test_passes_twice")
    script = project.script()
    assert (script.returncode, script.stdout) == (1, "STORE-1 2\nAPI-4 0\n")
    assert "API-4 has no test that ran and passed" in script.stderr


def test_the_script_says_to_run_the_tests_when_no_run_is_recorded(project: Project):
    script = project.script()
    assert (script.returncode, script.stdout) == (1, "")
    assert "run make test first" in script.stderr


def test_the_script_adds_what_other_test_runners_counted(project: Project):
    project.test_file(MIXED)
    project.pytest("-k", "test_passes_twice")
    (project.path / ".cache" / "behaviours-web.json").write_text('{"API-4": 2, "STORE-1": 1}')
    script = project.script()
    assert (script.returncode, script.stdout) == (0, "STORE-1 3\nAPI-4 2\n")


def test_the_script_fails_when_another_test_runner_names_an_unknown_id(project: Project):
    project.test_file(MIXED)
    project.pytest()
    (project.path / ".cache" / "behaviours-web.json").write_text('{"WEB-1": 2}')
    script = project.script()
    assert script.returncode == 1
    assert "WEB-1 is named by tests of the last run" in script.stderr


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda path: path.write_text("[1]"), "must be an object"),
        (lambda path: path.write_text('{"API-4": "many"}'), "no whole number"),
    ],
)
def test_the_script_refuses_a_count_file_it_can_not_read(
    project: Project, spoil: Callable[[Path], object], reason: str
):
    project.test_file(MIXED)
    project.pytest()
    spoil(project.path / ".cache" / "behaviours-web.json")
    script = project.script()
    assert script.returncode == 1
    assert reason in script.stderr


def test_the_list_of_this_project_has_ids():
    listed = ROOT / "docs" / "behaviours.md"
    assert "\n- STORE-1 " in listed.read_text()
