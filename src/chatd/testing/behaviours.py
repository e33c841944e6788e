"""The pytest plugin behind `@pytest.mark.behaviour("STORE-1")`: records which behaviours a run has proved.

A test counts when it ran and passed, teardown included; skipped, deselected and xfailed ones do not.
With xdist the workers attach the ids to their reports and the controller writes the record.
"""

from collections.abc import Generator, Iterable
from pathlib import Path

import pytest

from chatd.testing.behaviour_record import Record, listed_ids, read_record, write_record

_PROPERTY = "behaviour"
_UNKNOWN = "unknown_behaviours"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "behaviour(id): the behaviour of docs/behaviours.md that this test proves")
    known = frozenset(listed_ids(config.rootpath))
    config.pluginmanager.register(_Marking(known), "behaviour-marking")
    if not hasattr(config, "workerinput") and not config.getoption("collectonly"):
        config.pluginmanager.register(_Recording(config.rootpath), "behaviour-recording")


class _Marking:
    """Where tests run: refuses unknown ids, and hands the known ones to the reports."""

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        unknown: dict[str, str] = {}
        for item in report.result or ():
            if isinstance(item, pytest.Item):
                found = _ids(item)
                item.user_properties += [(_PROPERTY, behaviour) for behaviour in found]
                unknown |= dict.fromkeys(set(found) - self._known, item.nodeid.split("::")[0])
        if unknown:
            report.outcome = "failed"
            report.longrepr = "\n".join(
                f"{file}: behaviour {behaviour} is not in docs/behaviours.md. Correct the id or add it there."
                for behaviour, file in unknown.items()
            )
            setattr(report, _UNKNOWN, unknown)
        return report


class _Recording:
    """Where the run is led: gathers the reports and writes the record at the end."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._proved: dict[str, list[str]] = {}
        self._ran: set[str] = set()
        self._unknown: dict[str, str] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._unknown |= getattr(report, _UNKNOWN, {})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        ids = [str(value) for name, value in report.user_properties if name == _PROPERTY]
        self._ran.add(report.nodeid)
        if report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            self._proved[report.nodeid] = ids
        elif report.failed:
            self._proved.pop(report.nodeid, None)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR):
            return
        # A part of the tests, run again, replaces what is known of that part; `make test` starts from nothing.
        record = read_record(self._root) or Record()
        for test in self._ran:
            record.forget(test)
        record.unknown = self._unknown
        for test, ids in self._proved.items():
            for behaviour in ids:
                record.add(behaviour, test)
        write_record(self._root, record)


def _ids(item: pytest.Item) -> list[str]:
    """The ids of all markers on the test, its class and its module; each once."""
    named: Iterable[object] = (argument for mark in item.iter_markers("behaviour") for argument in mark.args)
    return list(dict.fromkeys(str(behaviour) for behaviour in named))
