"""Every line of a process goes through one pipeline, as text or JSON, without secrets."""

import io
import logging
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import structlog

from chatd.core.secret import Secret
from chatd.observe.logs import Format, configure_logs, get_logger


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield io.StringIO()
    structlog.reset_defaults()
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict]:
    return [msgspec.json.decode(line) for line in stream.getvalue().splitlines()]


def test_a_line_has_time_level_logger_and_context(stream: io.StringIO):
    configure_logs(format="json", stream=stream, fields={"replica": "2"})
    with structlog.contextvars.bound_contextvars(request_id="r1"):
        get_logger("chatd.x").info("hello", count=3)

    (line,) = lines(stream)
    assert line.pop("timestamp").endswith("Z")
    expected = {"event": "hello", "level": "info", "logger": "chatd.x", "count": 3, "request_id": "r1", "replica": "2"}
    assert line == expected


def test_the_standard_library_goes_the_same_way(stream: io.StringIO):
    configure_logs(format="json", stream=stream)
    logging.getLogger("somewhere").warning("token=%s", "abcdefghijkl", extra={})

    (line,) = lines(stream)
    assert (line["logger"], line["level"], line["event"]) == ("somewhere", "warning", "token=•••")


def test_warnings_of_python_are_logged(stream: io.StringIO):
    configure_logs(format="json", stream=stream)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("careful", UserWarning, stacklevel=1)

    assert "careful" in lines(stream)[0]["event"]


@pytest.mark.parametrize("logger", ["uvicorn.error", "asyncio"])
def test_chatter_of_libraries_is_left_out_but_their_warnings_are_not(stream: io.StringIO, logger: str):
    configure_logs(format="json", stream=stream)
    logging.getLogger(logger).info("started")
    logging.getLogger(logger).warning("trouble")

    assert [line["event"] for line in lines(stream)] == ["trouble"]


@pytest.mark.parametrize("format", ["text", "json"])
def test_no_secret_gets_into_the_log(stream: io.StringIO, format: Format):
    configure_logs(format=format, stream=stream)
    log = get_logger("chatd.x")
    log.info("signed in with Bearer planted-1", password="planted-2", nested={"api_key": "planted-3"})
    log.info("wrapped", value=Secret("planted-4"), dsn="postgresql://u:planted-5@h/d")
    try:
        raise ValueError("cannot connect to postgresql://chatd:planted-6@localhost/chatd")
    except ValueError:
        log.exception("failed", url="https://me:planted-7@x.example")
        logging.getLogger("lib").exception("failed as well, token=planted-8")

    written = stream.getvalue()
    assert "planted" not in written
    assert "Traceback" in written
    assert "cannot connect to postgresql://chatd:•••@localhost" in written


def test_levels_below_the_chosen_one_are_left_out(stream: io.StringIO):
    configure_logs(format="json", level="warning", stream=stream)
    get_logger("chatd.x").info("quiet")
    get_logger("chatd.x").warning("loud")

    assert [line["event"] for line in lines(stream)] == ["loud"]


def test_loggers_made_before_follow_the_configuration(stream: io.StringIO):
    log = get_logger("chatd.early")
    configure_logs(format="json", stream=stream)
    log.info("late")

    assert lines(stream)[0]["logger"] == "chatd.early"


def test_importing_logs_does_not_import_rich():
    """rich costs a quarter of a second, and only the command line needs it."""
    code = "import sys, chatd.observe.logs; sys.exit('rich' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("format", ["json", "text"])
def test_half_a_character_does_not_fail_who_logs_it(tmp_path: Path, format: Format, stream: io.StringIO):
    with (tmp_path / "log").open("w", encoding="utf-8") as file:
        configure_logs(format=format, stream=file)
        try:
            raise ValueError("There is no file caf\udce9.txt.")
        except ValueError as error:
            get_logger("chatd.x").error("no file caf\udce9", name="caf\udce9", exc_info=error)
    logged = (tmp_path / "log").read_text("utf-8")

    assert logged.count("caf\\udce9" if format == "text" else "caf\\\\udce9") >= 3, logged
