"""`chatd doctor`: what is well, what is not, and what to do about it."""

import asyncio
import os
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final

import typer

from chatd.cli.offline import ConfigOption, DataDirOption, JsonOption
from chatd.cli.tables import json_text
from chatd.cli.terminal_text import harmless
from chatd.clock import SystemClock
from chatd.observe.logs import configure_logs
from chatd.server.doctor.doctor import examine_all
from chatd.server.doctor.findings import Finding, Grade, bad
from chatd.server.settings import LoadedSettings, SettingsRefused, load_settings

_SIGNS: Final[Mapping[Grade, str]] = {Grade.GOOD: "✓", Grade.DOUBTFUL: "!", Grade.BAD: "✗"}
_PLAIN: Final[Mapping[Grade, str]] = {Grade.GOOD: "ok", Grade.DOUBTFUL: "! ", Grade.BAD: "x "}  # for other encodings
_COLOURS: Final[Mapping[Grade, str]] = {Grade.GOOD: "32", Grade.DOUBTFUL: "33", Grade.BAD: "31"}
_WIDTH: Final = 16  # of the longest name of a check, and a space
_NARROWEST: Final = 30  # columns for words; what is narrower breaks them anyway
_WIDE: Final = 10_000

ModelsOption = Annotated[
    bool, typer.Option("--models", help="Ask a model of each provider for a few words. That costs a few tokens.")
]


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(
    models: ModelsOption = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Look at settings, database, keys, replicas and models, and say what is wrong. Changes nothing.

    The server may run or not. The exit code is 1 if something is wrong.
    """
    configure_logs(format="text", level="error")  # a finding says it all
    flags = {"config": config, "data_dir": data_dir}
    try:
        loaded = load_settings(
            environ=os.environ,
            flags={name: str(value) for name, value in flags.items() if value is not None},
            cwd=Path.cwd(),
        )
    except SettingsRefused as refused:
        wrong = [bad("settings", problem, "docs/settings.md lists them all.") for problem in refused.problems]
        findings = _shown(wrong, as_json=as_json)
    else:
        findings = asyncio.run(_examined(loaded, asks_models=models, as_json=as_json))
    grades = Counter(finding.grade for finding in findings)
    if as_json:
        print(json_text(findings))
    else:
        print(_summary(wrong=grades[Grade.BAD], doubtful=grades[Grade.DOUBTFUL]))
    if grades[Grade.BAD]:
        sys.exit(1)


def _summary(*, wrong: int, doubtful: int) -> str:
    said = [f"{wrong} wrong"] if wrong else []
    said += [f"{doubtful} to look at"] if doubtful else []
    return f"\n{', '.join(said).capitalize()}." if said else "\nAll is well."


async def _examined(loaded: LoadedSettings, *, asks_models: bool, as_json: bool) -> list[Finding]:
    findings: list[Finding] = []
    async for finding in examine_all(loaded, clock=SystemClock(), asks_models=asks_models):
        findings += _shown([finding], as_json=as_json)  # each as it comes: some take seconds
    return findings


def _shown(findings: Iterable[Finding], *, as_json: bool) -> list[Finding]:
    shown = list(findings)
    for finding in shown if not as_json else ():
        first, *others = [*_lines(finding.found), *_lines(finding.advice, "→ " if _is_unicode() else "> ")]
        print(f"{_sign(finding.grade)} {finding.check:<{_WIDTH}}{first}")
        for line in others:
            print(f"{'':<{_WIDTH + 2}}{line}")
        sys.stdout.flush()
    return shown


def _lines(text: str, mark: str = "") -> list[str]:
    """Broken where the terminal ends; elsewhere nobody sees an end."""
    width = shutil.get_terminal_size().columns - _WIDTH - 2 if sys.stdout.isatty() else _WIDE
    return textwrap.wrap(
        harmless(text),
        max(width, _NARROWEST),
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _sign(grade: Grade) -> str:
    sign = (_SIGNS if _is_unicode() else _PLAIN)[grade]
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return sign
    return f"\x1b[{_COLOURS[grade]}m{sign}\x1b[0m"


def _is_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
