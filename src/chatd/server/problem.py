"""Every error as one answer: which error is which status, and what the client may read of it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import asyncpg
import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, SerializationException, ValidationException

from chatd.core.errors import (
    ChatdError,
    Conflict,
    Forbidden,
    InvalidRequest,
    Misdirected,
    ModelFailed,
    NotFound,
    PushFailed,
    QueueFull,
    StoreUnavailable,
    Throttled,
    TooLarge,
    Unauthenticated,
    UsageLimitReached,
    Validation,
)
from chatd.core.valid_text import valid_text
from chatd.server.allowed_values import explained
from chatd.wire.problem import Problem, UsageLimitProblem
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable
from chatd.workspaces.resolving import Reason, WorkspaceUnavailable

STORE_RETRY_SECONDS = 2  # a database that restarts is back within a few seconds
CLASH_RETRY_SECONDS = 1  # the least that the header can say; the other request is done by then
UNEXPECTED = 500
_DECODER = "litestar.serialization.msgspec_hooks"  # where Litestar decodes request bodies

_FIELD = re.compile(r"Object (?P<how>contains unknown|missing required) field `(?P<name>[^`]*)`")
_MSGSPEC_PATH = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)


class Answer(msgspec.Struct, frozen=True):
    """What the client is sent. `expected` is false when a person has to look into it."""

    status: int
    problem: Problem
    headers: Mapping[str, str] = {}
    expected: bool = True

    def body(self) -> bytes:
        return msgspec.json.encode(self.problem)


def answer_to(error: BaseException, *, request_id: str) -> Answer:
    """The answer to any error. What is not known to be safe to show becomes a bare 500 with the id."""
    if isinstance(error, ChatdError):
        found = _of_chatd(error)
    elif isinstance(error, HTTPException):
        found = _of_litestar(error)
    elif isinstance(error, msgspec.ValidationError):
        found = _invalid("The request is not valid.", [_validation_of(error)])
    elif isinstance(error, msgspec.DecodeError | SerializationException):
        found = Answer(400, Problem("The request body is not valid JSON.", detail=_first_line(error)))
    elif isinstance(error, ValueError | RecursionError) and _raised_by(_DECODER, error):
        # msgspec says so for bytes that are no UTF-8 and for thousands of nested brackets.
        too_deep = isinstance(error, RecursionError)
        detail = "It is nested too deeply." if too_deep else "It is not valid UTF-8."
        found = Answer(400, Problem("The request body is not valid JSON.", detail=detail))
    elif isinstance(error, asyncpg.PostgresError | asyncpg.InterfaceError | OSError):
        found = _of_store(error)
    else:
        found = None
    return found or Answer(
        UNEXPECTED,
        Problem("Something went wrong on the server. Its log says more under this request id.", detail=request_id),
        expected=False,
    )


def litestar_answers() -> dict[int | type[Exception], Any]:
    """`exception_handlers` for Litestar: refusals are answered, failures go on to the boundary."""
    return {HTTPException: _litestar_answer, Exception: _litestar_answer}


def _litestar_answer(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    answer = answer_to(error, request_id="")
    if answer.status >= UNEXPECTED:
        raise error
    if isinstance(error, ValidationException):
        answer = _with_allowed_values(answer, request)
    return Response(
        content=answer.body(),
        status_code=answer.status,
        headers=dict(answer.headers),
        media_type="application/json",
    )


def _with_allowed_values(answer: Answer, request: Request[Any, Any, Any]) -> Answer:
    """Only the route knows the type of what was wrong."""
    handler = request.route_handler
    parameters = handler.parsed_fn_signature.parameters
    found: list[Validation] = []
    for wrong in answer.problem.validations:
        parameter = parameters.get(wrong.field)
        body = handler.parsed_data_field
        if parameter is not None:
            detail = explained(wrong.detail, parameter.annotation, "")
        else:
            detail = wrong.detail if body is None else explained(wrong.detail, body.annotation, wrong.field)
        found.append(Validation(wrong.field, detail))
    return msgspec.structs.replace(answer, problem=_with_validations(answer.problem, found))


def _of_chatd(error: ChatdError) -> Answer | None:
    # What a workspace's agent says may name files whose names are no text.
    problem = Problem(valid_text(error.message), detail=error.detail and valid_text(error.detail))
    match error:
        case TooLarge():
            return Answer(413, Problem(error.message, detail=f"The limit is {error.limit} bytes."))
        case UsageLimitReached():
            return Answer(409, _of_usage_limit(error))
        case Conflict():
            return Answer(409, _with_validations(problem, error.validations))
        case InvalidRequest():
            return Answer(400, _with_validations(problem, error.validations))
        case Unauthenticated():
            return Answer(401, problem, {"www-authenticate": "Bearer"})
        case Forbidden():
            return Answer(403, problem)
        case NotFound():
            return Answer(404, problem)
        case Misdirected():
            return Answer(421, problem)
        case Throttled():
            # Whole seconds, rounded up: a client that comes back exactly then is let in.
            return Answer(429, problem, {"retry-after": str(max(1, -int(-error.retry_after_seconds // 1)))})
        case QueueFull():
            return Answer(429, problem)
        case ModelFailed() | PushFailed() | AgentUnreachable():
            return Answer(502, problem)
        case WorkspaceUnavailable():
            return Answer(409, Problem(_UNAVAILABLE[error.reason], detail=error.detail))
        case AgentRefused():
            # 401 is between the server and the agent: who asks is signed in.
            status = error.status if 400 <= error.status < 500 and error.status != 401 else 502
            return Answer(status, _with_validations(problem, error.validations))
        case StoreUnavailable():
            return Answer(503, problem, {"retry-after": str(STORE_RETRY_SECONDS)})
        case _:
            return None


# For people; the error's own words are for models.
_UNAVAILABLE = {
    Reason.NONE: "This chat has no workspace.",
    Reason.DELETED: "The workspace was deleted.",
    Reason.STOPPED: "The workspace is stopped. Start it first.",
    Reason.BUILDING: "The workspace is being built. Try again when it is ready.",
    Reason.FAILED: "The last build of the workspace failed. Look at its log, and start it again.",
    Reason.UNREACHABLE: "The workspace does not answer. Try again; if it stays so, stop and start it.",
    Reason.OTHER_HOST: "The workspace is on another machine, which can't be reached from here now.",
    Reason.OWNER_GONE: "The owner of this chat may not use chatd any more.",
}


def _of_usage_limit(error: UsageLimitReached) -> UsageLimitProblem:
    return UsageLimitProblem(
        message=error.message,
        detail=error.detail,
        kind=error.kind,
        period=error.period,
        limit_micros=error.limit_microdollars,
        spent_micros=error.spent_microdollars,
        resets_at=error.resets_at,
    )


_LITESTAR_MESSAGES = {
    400: "The request is not valid.",
    401: "Sign in first.",
    403: "You may not do this.",
    404: "There is nothing at this address.",
    405: "This address does not take that method.",
    406: "None of the formats you accept can be given.",
    413: "The request body is too large.",
    415: "The request body's content type is not supported.",
    429: "Too many requests.",
}


# Litestar's way to say that a route takes a body and none came.
_NO_BODY = [{"message": "'data'", "key": "data", "source": "body"}]


def _of_litestar(error: HTTPException) -> Answer | None:
    status, headers = error.status_code, error.headers or {}
    if status >= UNEXPECTED:
        return None
    if isinstance(error, ValidationException):
        if error.extra == _NO_BODY:
            return Answer(400, Problem("A JSON body is needed."))
        return _invalid("The request is not valid.", _validations_of(error.extra))
    if isinstance(error.__cause__, SerializationException | msgspec.DecodeError):
        return Answer(400, Problem("The request body is not valid JSON.", detail=_first_line(error.__cause__)))
    if status == 401:
        headers = {"www-authenticate": "Bearer", **headers}
    known = _LITESTAR_MESSAGES.get(status)
    # Litestar's text for an unknown route or method repeats the status; where it says more, it is the detail.
    detail = error.detail if known is None or status in (400, 415) else None
    return Answer(status, Problem(known or "The request was refused.", detail=detail), headers)


def _of_store(error: Exception) -> Answer | None:
    match error:
        case (
            asyncpg.PostgresConnectionError()
            | asyncpg.InsufficientResourcesError()
            | asyncpg.OperatorInterventionError()
            | asyncpg.ReadOnlySQLTransactionError()
            | asyncpg.LockNotAvailableError()
            | asyncpg.ConnectionDoesNotExistError()
        ):
            return _store_away()
        case asyncpg.LockNotAvailableError():
            problem = Problem("What this would change is busy right now. Try again in a moment.")
            return Answer(503, problem, {"retry-after": str(CLASH_RETRY_SECONDS)})
        case asyncpg.TransactionRollbackError():  # a deadlock, or a clash of serializable transactions
            problem = Problem("Another request changed the same thing at the same moment. Try again.")
            return Answer(503, problem, {"retry-after": str(CLASH_RETRY_SECONDS)})
        case asyncpg.UniqueViolationError() | asyncpg.ExclusionViolationError() | asyncpg.ForeignKeyViolationError():
            return Answer(409, Problem("This clashes with what is already stored."))
        case asyncpg.IntegrityConstraintViolationError() if type(error) is asyncpg.IntegrityConstraintViolationError:
            return None  # raised by our own functions: a rule of ours is broken, which is nobody's request's fault
        case asyncpg.IntegrityConstraintViolationError() | asyncpg.DataError():
            return Answer(400, Problem("A value in the request can't be stored."))
        case asyncpg.InterfaceError() if _lost_connection(error):
            return _store_away()
        case OSError() if _raised_inside("asyncpg", error):
            return _store_away()
        case _:
            return None


def _store_away() -> Answer:
    return Answer(
        503,
        Problem("The database can't be reached right now. Try again in a moment."),
        {"retry-after": str(STORE_RETRY_SECONDS)},
    )


def _lost_connection(error: Exception) -> bool:
    """asyncpg has one class for misuse and for a connection or pool that has gone; only its text tells."""
    return any(sign in str(error) for sign in ("closed", "closing", "connection was lost"))


def _raised_inside(package: str, error: BaseException) -> bool:
    """Whether an OSError comes from talking to the store, as opposed to a file or a client."""
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__name__", "").partition(".")[0] == package:
            return True
        traceback = traceback.tb_next
    return False


def _raised_by(module: str, error: BaseException) -> bool:
    """Whether the error comes from this module itself, or from C code that it called."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and traceback.tb_frame.f_globals.get("__name__") == module


def _invalid(message: str, validations: Sequence[Validation]) -> Answer:
    return Answer(400, _with_validations(Problem(message), validations))


def _with_validations(problem: Problem, validations: Sequence[Validation]) -> Problem:
    return msgspec.structs.replace(problem, validations=tuple(validations))


def _validation_of(error: Exception) -> Validation:
    """msgspec says "Expected `int`, got `str` - at `$.a[0].b`"; the field is then `a[0].b`."""
    match = _MSGSPEC_PATH.match(str(error))
    path = (match["path"] if match else None) or ""
    return _named(path.removeprefix("$").removeprefix("."), match["what"] if match else str(error))


def _validations_of(extra: object) -> list[Validation]:
    """Litestar's `extra`: dictionaries with `message` and, where known, `key` and `source`."""
    found: list[Validation] = []
    for item in cast("list[object]", extra) if isinstance(extra, list) else []:
        if isinstance(item, dict):
            entry = cast("dict[str, object]", item)
            field = str(entry.get("key", ""))
            # A body that is wrong as a whole has the name of the route's own parameter.
            found.append(_named("" if field == "data" else field, str(entry.get("message", "is not valid"))))
    return found


def _named(path: str, detail: str) -> Validation:
    """Of a field too many or too few msgspec gives the path of what it is in, and its name in words."""
    match = _FIELD.fullmatch(detail)
    if match is None:
        return Validation(path, detail)
    field = f"{path}.{match['name']}" if path else match["name"]
    return Validation(field, "there is no such field" if match["how"] == "contains unknown" else "needed")


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200]  # enough for a position; never the body itself
