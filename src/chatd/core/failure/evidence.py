"""What a failure's signals have to say, read once and put in the form that the rules compare with.

Here hostile input ends: everything is bounded before it is looked at, and what can't be read counts as absent.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

import msgspec

from chatd.core.failure.signals import FailureSignals, Fault
from chatd.core.retry_after import bounded

BODY_LIMIT: Final = 64 * 1024  # bytes or characters; vendors' errors are a few hundred, a larger one is a web page
TEXT_LIMIT: Final = 16 * 1024  # characters of a text that are searched; what went wrong is said at the start

NO_STATUS: Final = 0

_CODE_LIMIT: Final = 100  # characters; codes are identifiers
_LIST_LIMIT: Final = 20  # entries of a list of details
_DEPTH_LIMIT: Final = 4  # an error in a response in an event in a list
_LAST_SUCCESS: Final = 299

_SAID: Final = re.compile(
    r"\b(?:status(?:[ _]?code)?|http(?:/[0-9](?:\.[0-9])?)?|error code)[\"']?[ :=]{1,3}([1-5][0-9]{2})(?![0-9])"
)
# A number on its own is a status only if it can't be a count, a port or the number of an HTTP/2 stream.
_ALONE: Final = re.compile(
    r"(?<![\w:.,\-/$#=])(?<!stream id )(401|403|408|429|500|502|503|504|529)"
    r"(?=\s*(?:$|[\-:{(\[\"]|unauthorized|forbidden|request timeout|too many|internal|server|bad gateway|service"
    r"|gateway|site|overloaded|error))"
)
_DELAY: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")
# Some say it in words only: "Please try again in 1m2.5s.", "Please retry after 22 seconds."
_WAIT: Final = r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(ms|milliseconds?|h|hours?|m|min|minutes?|s|seconds?)(?![a-z]) ?"
_ASKED_WAIT: Final = re.compile(rf"\b(?:try again|retry)(?: your request)? (?:in|after) ((?:{_WAIT}){{1,3}})")
_ONE_WAIT: Final = re.compile(_WAIT)
# How some gateways quote the error of the vendor behind; others put its whole JSON where the message belongs.
_CALL: Final = re.compile(r'(?:GET|POST|PUT|PATCH|DELETE) "')

# What frameworks say under `error` of a path that they do not have: no more than the status does.
_NOTHING_SAID: Final = frozenset(("", "not found", "method not allowed"))


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """`status` is NO_STATUS where there is none; `codes` and `words` are in lower case."""

    fault: Fault | None
    http2_code: int | None
    status: int
    codes: frozenset[str]
    words: str  # the raw text and the body's message together
    content_type: str
    message: str  # the body's message as it came
    is_explained: bool  # by a code, an error object or words of their own: whoever answered knows what was asked
    delay_seconds: float | None  # a wait that the body asks for


class _Body(msgspec.Struct):
    """What was found in a body so far."""

    has_error: bool = False
    messages: list[str] = []
    codes: list[str] = []
    statuses: list[int] = []
    delays: list[float] = []


def gather(signals: FailureSignals) -> Evidence:
    """Never raises. A status that only a text mentions counts if there is nothing better."""
    body = _read_body(signals)
    message = "; ".join(dict.fromkeys(body.messages))
    codes = frozenset(_codes(signals, body))
    text = signals.text[:TEXT_LIMIT]
    words = f"{text}\n{message}".lower() if message else text.lower()
    status = signals.status_code or NO_STATUS
    if not 100 <= status <= 599:
        status = NO_STATUS
    if status <= _LAST_SUCCESS and body.statuses:
        status = body.statuses[0]
    if status <= _LAST_SUCCESS and signals.fault is None and not codes:
        status = _status_in(words) or status
    return Evidence(
        fault=signals.fault,
        http2_code=signals.http2_code,
        status=status,
        codes=codes,
        words=words,
        content_type=signals.content_type[:_CODE_LIMIT].strip().lower(),
        message=message,
        is_explained=bool(codes or body.has_error or text.strip()),
        delay_seconds=bounded(max(body.delays)) if body.delays else _asked_wait(words),
    )


def _codes(signals: FailureSignals, body: _Body) -> Iterator[str]:
    for found in (signals.error_code, signals.error_type, *_header_codes(signals.headers), *body.codes):
        # Amazon's are decorated: `com.amazon.coral#ThrottlingException:http://…`
        code = found[: _CODE_LIMIT * 2].rpartition("#")[2].partition(":")[0].strip().lower()
        if 0 < len(code) <= _CODE_LIMIT:
            yield code


def _header_codes(headers: Mapping[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        if name.lower() in ("x-amzn-errortype", ":exception-type"):
            yield value


def _asked_wait(words: str) -> float | None:
    found = _ASKED_WAIT.search(words)
    if found is None:
        return None
    return bounded(sum(float(number) * _seconds_in(unit) for number, unit in _ONE_WAIT.findall(found[1])))


def _seconds_in(unit: str) -> float:
    if unit == "ms" or unit.startswith("milli"):
        return 0.001
    return {"h": 3600.0, "m": 60.0, "s": 1.0}[unit[0]]


def _status_in(words: str) -> int:
    found = _SAID.search(words) or _ALONE.search(words)
    return int(found[1]) if found else NO_STATUS


def _read_body(signals: FailureSignals) -> _Body:
    found = _Body()
    if not signals.body or len(signals.body) > BODY_LIMIT:
        return found
    raw = signals.body if isinstance(signals.body, bytes) else signals.body.encode("utf-8", "replace")
    if raw.lstrip()[:1] in (b"{", b"["):
        _read(_decoded(raw), found, depth=0)
    elif signals.content_type[:_CODE_LIMIT].strip().lower().startswith("text/plain"):
        found.messages.append(raw.decode("utf-8", "replace").strip().partition("\n")[0])
    return found


def _decoded(raw: bytes) -> object:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _read(value: object, found: _Body, *, depth: int) -> None:
    """Where vendors put what matters: `error`, `response.error`, `innererror`, `metadata`, `details`, or the top."""
    if depth > _DEPTH_LIMIT:
        return
    if isinstance(value, list):
        for entry in cast("list[object]", value)[:_LIST_LIMIT]:
            _read(entry, found, depth=depth + 1)
        return
    if not isinstance(value, dict):
        return
    fields = cast("dict[str, object]", value)
    error = fields.get("error")
    if isinstance(error, dict) or (isinstance(error, str) and error.strip(" .").lower() not in _NOTHING_SAID):
        found.has_error = True
    for name in ("code", "type", "status", "reason", "__type"):
        _read_code(fields.get(name), found)
    _read_code(fields.get("status_code"), found)
    for name in ("message", "Message", "raw", "error", "detail", "msg"):
        _read_message(fields.get(name), found)
    delay = fields.get("retryDelay")
    if isinstance(delay, str) and (parsed := _DELAY.fullmatch(delay)):
        found.delays.append(float(parsed[1]))
    for name in ("error", "response", "innererror", "metadata", "details", "detail", "errors"):
        _read(fields.get(name), found, depth=depth + 1)


def _read_code(value: object, found: _Body) -> None:
    """A code is a name; one that is a number is a status, if it can be one."""
    if isinstance(value, str) and len(value) == 3 and value.isdecimal():
        value = int(value)
    if isinstance(value, str):
        found.codes.append(value)
    elif isinstance(value, int) and 400 <= value <= 599:
        found.statuses.append(value)


def _read_message(value: object, found: _Body) -> None:
    if not isinstance(value, str) or not value.strip():
        return
    inner = value.find("{")
    if inner == 0 or (inner > 0 and _CALL.match(value)):
        quoted = _Body()
        _read(_decoded(value[inner:].encode("utf-8", "replace")), quoted, depth=1)
        found.codes += quoted.codes
        if quoted.messages:
            found.messages += quoted.messages
            return
    found.messages.append(value)
