"""One pipeline for every log line, ours and those of the standard library's logging (uvicorn, asyncio)."""

import json
import logging
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, Literal, TextIO, cast

import msgspec
import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

from chatd.observe.redact import TRACEBACK_LIMIT, redact_named, redact_text

Format = Literal["text", "json"]
Level = Literal["debug", "info", "warning", "error"]

# Their "info" repeats ours: start and stop, and a line (with the query string) for every WebSocket.
_CHATTY = (
    "uvicorn",
    "uvicorn.error",
    "uvicorn.access",
    "uvicorn.asgi",
    "asyncio",
    "litestar",
    "nats",
    "asyncpg",
)
_TRACEBACK = "exception"
_OWN = frozenset({"level", "logger", "timestamp"})  # set by this pipeline, whatever the line says


def configure_logs(
    *,
    format: Format = "text",
    level: Level = "info",
    stream: TextIO | None = None,
    fields: Mapping[str, str] | None = None,
) -> None:
    """Send all logs of this process, redacted, to `stream` (standard error). May be called again.

    `fields` stand in every line (the replica's number, say). They are not context variables, because
    each request starts with an empty context.
    """
    out = stream if stream is not None else sys.stderr
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _Fields(dict(fields or {})),
        structlog.processors.format_exc_info,
        redact_event,
    ]
    render = _render_json if format == "json" else _text_renderer(colors=out.isatty())
    structlog.configure(
        processors=[*shared, render],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=_LoggersFor(out),
        cache_logger_on_first_use=False,  # loggers made before this call follow it
    )
    foreign = logging.StreamHandler(out)
    foreign.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, redact_event, render],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [foreign]
    root.setLevel(number)
    logging.captureWarnings(True)
    for name in _CHATTY:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(number if level == "debug" else max(number, logging.WARNING))
    # While the database is away its pool says so every second, with a traceback; readiness and our own lines do too.
    logging.getLogger("asyncpg.pool").setLevel(logging.CRITICAL)


def get_logger(name: str) -> FilteringBoundLogger:
    """A logger whose lines say where they come from. It may be made before `configure_logs`."""
    return cast("FilteringBoundLogger", structlog.get_logger(name))


def redact_event(_logger: WrappedLogger, _method: str, event: EventDict) -> MutableMapping[str, Any]:
    """The processor: every value of the line without secrets; a traceback keeps its lines."""
    shown: dict[str, Any] = {}
    for name, value in event.items():
        if name == _TRACEBACK and isinstance(value, str):
            shown[name] = redact_text(value, limit=TRACEBACK_LIMIT, keep_lines=True)
        elif name in _OWN:
            shown[name] = value
        elif name == "event":
            shown[name] = redact_text(value if isinstance(value, str) else repr(value))
        else:
            shown[name] = redact_named(name, value)
    return shown


class _NamedLogger(structlog.WriteLogger):
    """Writes each line in one call, so that lines of several threads do not mix; keeps its name for the line."""

    def __init__(self, stream: TextIO, name: str) -> None:
        super().__init__(stream)
        self.name = name


class _LoggersFor:
    """Makes the loggers that `structlog.get_logger(name)` asks for."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __call__(self, name: str = "chatd", *_rest: object) -> _NamedLogger:
        return _NamedLogger(self._stream, name)


class _Fields:
    """Adds the same fields to every line, without replacing what the line says itself."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = fields

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        for name, value in self._fields.items():
            event.setdefault(name, value)
        return event


def _render_json(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    try:
        return msgspec.json.encode(event, enc_hook=repr).decode()
    except Exception:  # noqa: BLE001 - half a character, say, in a file's name; a line of log never fails who writes it
        return json.dumps({_shown(name): _shown(value) for name, value in event.items()})


def _text_renderer(*, colors: bool) -> Processor:
    render = structlog.dev.ConsoleRenderer(
        colors=colors, pad_event_to=0, exception_formatter=structlog.dev.plain_traceback
    )

    def whole(logger: WrappedLogger, method: str, event: EventDict) -> str:
        return render(logger, method, event).encode("utf-8", "backslashreplace").decode()

    return whole


def _shown(value: object) -> str:
    """Redaction has seen it already: it has a repr."""
    return (value if isinstance(value, str) else repr(value)).encode("utf-8", "backslashreplace").decode()
