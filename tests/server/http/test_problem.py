"""Which error is which status: exhaustive over our own tree, and for those of the libraries."""

import asyncio
import importlib
import pkgutil
from collections.abc import Iterator
from datetime import UTC, datetime

import asyncpg
import msgspec
import pytest
from litestar.exceptions import (
    ClientException,
    HTTPException,
    InternalServerException,
    MethodNotAllowedException,
    NotFoundException,
    SerializationException,
)

import chatd
from chatd.core import errors
from chatd.server.problem import Answer, answer_to
from chatd.server.settings import SettingsRefused
from chatd.workspaces.agents.errors import AgentRefused, AgentUnreachable
from chatd.workspaces.provisioner import BuildFailed
from chatd.workspaces.resolving import Reason, WorkspaceUnavailable

pytestmark = pytest.mark.behaviour("API-4")

OURS: dict[type[errors.ChatdError], tuple[errors.ChatdError, int]] = {
    errors.InvalidRequest: (errors.InvalidRequest("No.", validations=[errors.Validation("a", "b")]), 400),
    errors.Conflict: (errors.Conflict("No."), 409),
    errors.TransitionNotAllowed: (errors.TransitionNotAllowed(transition="archive", state="R0"), 409),
    errors.TooLarge: (errors.TooLarge("No.", limit=7), 413),
    errors.Unauthenticated: (errors.Unauthenticated("No."), 401),
    errors.Forbidden: (errors.Forbidden("No."), 403),
    errors.NotFound: (errors.NotFound("Chat"), 404),
    errors.NotAuthorized: (errors.NotAuthorized(action="read", resource="chat"), 404),
    errors.QueueFull: (errors.QueueFull(limit=20), 429),
    errors.UsageLimitReached: (
        errors.UsageLimitReached(
            period="day",
            limit_microdollars=1,
            spent_microdollars=2,
            resets_at=datetime(2030, 1, 1, tzinfo=UTC),
        ),
        409,
    ),
    errors.Throttled: (errors.Throttled("No.", retry_after_seconds=1.2), 429),
    errors.ModelFailed: (errors.ModelFailed("No."), 502),
    errors.PushFailed: (errors.PushFailed("No."), 502),
    errors.StoreUnavailable: (errors.StoreUnavailable("No."), 503),
    errors.NoActor: (errors.NoActor("get_user"), 500),
    errors.NotWritten: (errors.NotWritten("get_user"), 500),
    errors.StartRefused: (errors.StartRefused("No."), 500),
    errors.Misdirected: (errors.Misdirected("No."), 421),
    errors.UnreadableSecret: (errors.UnreadableSecret("0123", "No."), 500),
    errors.UnknownContentVersion: (errors.UnknownContentVersion(7), 500),
    SettingsRefused: (SettingsRefused(["No."]), 500),
    AgentRefused: (AgentRefused("No.", status=404), 404),
    AgentUnreachable: (AgentUnreachable("No.", was_sent=False), 502),
    WorkspaceUnavailable: (WorkspaceUnavailable(Reason.STOPPED), 409),
    BuildFailed: (BuildFailed("No."), 500),  # never told as an answer: it is stored with its build
}


def every_error(kind: type[errors.ChatdError] = errors.ChatdError) -> Iterator[type[errors.ChatdError]]:
    """But for those of clients and of agents, which no server raises."""
    for child in kind.__subclasses__():
        if child.__module__.startswith("chatd.") and not child.__module__.startswith(("chatd.client.", "chatd.agent.")):
            yield child
            yield from every_error(child)


def answer(error: BaseException) -> Answer:
    return answer_to(error, request_id="r1")


def test_every_error_of_ours_has_a_status():
    for module in pkgutil.walk_packages(chatd.__path__, "chatd."):
        if not module.name.endswith(("__main__", "testing.postgres")):
            importlib.import_module(module.name)  # an error is known once its module is

    assert set(every_error()) == set(OURS)


@pytest.mark.parametrize(("error", "status"), OURS.values(), ids=lambda value: type(value).__name__)
def test_an_error_of_ours_has_the_right_status(error: errors.ChatdError, status: int):
    found = answer(error)

    assert found.status == status
    assert found.expected is (status != 500)
    assert msgspec.json.decode(found.body())["message"]


@pytest.mark.parametrize("reason", Reason)
def test_a_workspace_that_can_not_be_used_is_told_in_words_for_people(reason: Reason):
    found = answer(WorkspaceUnavailable(reason))

    assert (found.status, found.expected) == (409, True)
    assert "_workspace" not in found.problem.message


@pytest.mark.parametrize(("status", "told"), [(401, 502), (403, 403), (409, 409), (429, 429), (500, 502), (302, 502)])
def test_what_an_agent_refuses_is_told_but_not_that_the_server_may_not_ask_it(status: int, told: int):
    """A client that reads 401 takes its own session for ended."""
    assert answer(AgentRefused("No.", status=status)).status == told


def test_fields_of_errors_reach_the_client():
    assert msgspec.json.decode(answer(OURS[errors.InvalidRequest][0]).body()) == {
        "message": "No.",
        "validations": [{"field": "a", "detail": "b"}],
    }
    assert "7" in (answer(OURS[errors.TooLarge][0]).problem.detail or "")
    assert answer(OURS[errors.Throttled][0]).headers == {"retry-after": "2"}
    assert "retry-after" in answer(OURS[errors.StoreUnavailable][0]).headers


@pytest.mark.behaviour("COST-4")
def test_a_client_can_tell_that_a_limit_is_spent_and_when_it_resets():
    assert msgspec.json.decode(answer(OURS[errors.UsageLimitReached][0]).body()) == {
        "message": "Your usage limit of $0.000001 per day is reached. It resets on 2030-01-01 at 00:00 UTC.",
        "detail": "$0.000002 is spent. An administrator can raise the limit.",
        "kind": "usage_limit",
        "period": "day",
        "limit_micros": 1,
        "spent_micros": 2,
        "resets_at": "2030-01-01T00:00:00Z",
    }


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFoundException(), 404),
        (MethodNotAllowedException(headers={"allow": "GET"}), 405),
        (ClientException(status_code=415, detail="xml is not read here"), 415),
        (HTTPException(status_code=418), 418),
        (InternalServerException("boom"), 500),
        (SerializationException("Input data was truncated"), 400),
        (msgspec.DecodeError("JSON is malformed"), 400),
    ],
)
def test_errors_of_litestar_and_msgspec(error: Exception, status: int):
    assert answer(error).status == status


def test_a_field_is_named_by_its_path():
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(b'{"a": [{"b": "x"}]}', type=dict[str, list[dict[str, int]]])

    (validation,) = answer(caught.value).problem.validations
    assert validation.field == "[...][0][...]"
    assert validation.detail == "Expected `int`, got `str`"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (asyncpg.UniqueViolationError, 409),
        (asyncpg.ForeignKeyViolationError, 409),
        (asyncpg.CheckViolationError, 400),
        (asyncpg.NotNullViolationError, 400),
        (asyncpg.StringDataRightTruncationError, 400),
        (asyncpg.CharacterNotInRepertoireError, 400),
        (asyncpg.NumericValueOutOfRangeError, 400),
        (asyncpg.DataError, 400),
        (asyncpg.ConnectionDoesNotExistError, 503),
        (asyncpg.CannotConnectNowError, 503),
        (asyncpg.TooManyConnectionsError, 503),
        (asyncpg.AdminShutdownError, 503),
        (asyncpg.QueryCanceledError, 503),
        (asyncpg.DeadlockDetectedError, 503),
        (asyncpg.SerializationError, 503),
        (asyncpg.DiskFullError, 503),
        (asyncpg.ReadOnlySQLTransactionError, 503),
        (asyncpg.UndefinedTableError, 500),
        (asyncpg.PostgresSyntaxError, 500),
    ],
)
def test_errors_of_postgres_show_no_sql(error: type[Exception], status: int):
    found = answer(error("SELECT password FROM users"))

    assert found.status == status
    assert b"SELECT" not in found.body()
    assert ("retry-after" in found.headers) is (status == 503)


@pytest.mark.parametrize("error", [asyncpg.DeadlockDetectedError, asyncpg.SerializationError])
def test_a_clash_of_requests_does_not_blame_the_connection(error: type[Exception]):
    found = answer(error("SELECT"))

    assert found.problem.message == "Another request changed the same thing at the same moment. Try again."
    assert found.headers == {"retry-after": "1"}


def test_an_error_of_decoding_elsewhere_is_500():
    with pytest.raises(UnicodeDecodeError) as caught:
        b"\xff".decode()

    assert answer(caught.value).status == 500
    assert answer(RecursionError()).status == 500


def test_a_lost_connection_is_503_and_misuse_is_500():
    assert answer(asyncpg.InterfaceError("connection is closed")).status == 503
    assert answer(asyncpg.InterfaceError("cannot perform operation: another operation is in progress")).status == 500


async def test_a_database_that_can_not_be_reached_is_503():
    with pytest.raises(ConnectionRefusedError) as caught:
        await asyncpg.connect("postgresql://nobody@127.0.0.1:1/nothing", timeout=5)

    assert answer(caught.value).status == 503


async def test_other_errors_of_the_system_are_500():
    with pytest.raises(ConnectionRefusedError) as caught:
        await asyncio.open_connection("127.0.0.1", 1)

    assert answer(caught.value).status == 500
    assert answer(FileNotFoundError("/etc/secret")).status == 500


def test_what_is_unknown_shows_only_the_request_id():
    found = answer(RuntimeError("internals"))

    assert (found.status, found.problem.detail, found.expected) == (500, "r1", False)
    assert b"internals" not in found.body()
