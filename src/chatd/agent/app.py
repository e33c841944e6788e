"""The ASGI app around the route table: the token, the caller, the deadline, and errors as problems."""

import hmac
import sys
import traceback
from contextlib import nullcontext, suppress
from typing import Final

from chatd.agent.activity import Activity
from chatd.agent.asgi import Message, Receive, Scope, Send
from chatd.agent.caller import caller_of
from chatd.agent.epochs import Epochs
from chatd.agent.refusals import Refused, refusal
from chatd.agent.request import ClientGone, Request
from chatd.agent.response import Response
from chatd.agent.routes import RouteTable
from chatd.agent.websocket import Socket, refuse
from chatd.clock import Clock
from chatd.core.errors import ChatdError, Unauthenticated
from chatd.core.secret import Secret

_FAILED: Final = 1011  # of RFC 6455: the server can't go on
_MOST_REASON: Final = 60  # characters: the reason of a close has at most 123 bytes
_UNEXPECTED: Final = "The agent failed unexpectedly. Its log says more."
_AUTHORIZATION: Final = b"authorization"


class AgentApp:
    """Nothing is done, and nothing of a body is read, before the token was found right."""

    def __init__(self, table: RouteTable, *, token: Secret, epochs: Epochs, activity: Activity, clock: Clock) -> None:
        self._table = table
        self._expected = f"Bearer {token.reveal()}".encode()
        self._epochs = epochs
        self._activity = activity
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._serve_socket(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"the agent serves HTTP only, not {scope['type']}")
        exchange = _Exchange(send)
        try:
            self._authenticate(scope["headers"])
            with self._activity.request():
                await self._answer(scope, receive, exchange)
        except ClientGone:
            return
        except ChatdError as error:
            await exchange.refuse(refusal(error))
        except OSError:
            if not exchange.client_left:
                await exchange.fail()
        except Exception:  # noqa: BLE001  this is the boundary
            await exchange.fail()

    async def _serve_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """For as long as it lasts: there is no deadline, and it counts as use of the agent."""
        socket: Socket | None = None
        try:
            self._authenticate(scope["headers"])
            route, argument = self._table.find_socket(scope["path"])
            socket = Socket(receive, send, caller=caller_of(scope["headers"]), argument=argument)
            with self._activity.request():
                await route.serve(socket)
        except ClientGone:
            return
        except ChatdError as error:
            if socket is None or not socket.is_accepted:
                await refuse(send, refusal(error))
            else:
                await _close(socket, error.message)
        except Exception:  # noqa: BLE001  this is the boundary
            traceback.print_exc(file=sys.stderr)
            if socket is not None and socket.is_accepted:
                await _close(socket, _UNEXPECTED)
            else:
                await refuse(send, refusal(Refused(_UNEXPECTED, status=500)))

    async def _answer(self, scope: Scope, receive: Receive, exchange: "_Exchange") -> None:
        route, arguments = self._table.find(scope["method"], scope["path"])
        caller = caller_of(scope["headers"])
        if route.fenced:
            self._epochs.check(caller)
        request = Request(scope, receive, caller=caller, arguments=arguments)
        seconds = route.deadline_seconds
        try:
            async with nullcontext() if seconds is None else self._clock.timeout(seconds, timer="exchange"):
                response = await route.answer(request)
                await response.send(exchange.send)
        except TimeoutError:
            raise Refused(
                f"This took longer than {seconds:g} seconds and was given up.", status=503, kind="deadline"
            ) from None

    def _authenticate(self, headers: list[tuple[bytes, bytes]]) -> None:
        given = next((value for name, value in headers if name == _AUTHORIZATION), b"")
        if not hmac.compare_digest(given, self._expected):
            raise Unauthenticated("The token of this workspace's agent is missing or wrong.")


async def _close(socket: Socket, reason: str) -> None:
    with suppress(ClientGone):
        await socket.close(_FAILED, reason[:_MOST_REASON])


class _Exchange:
    """Knows how far the answer has come: a problem can take its place only before it began."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = False
        self.client_left = False

    async def send(self, message: Message) -> None:
        self._started = True
        try:
            await self._send(message)
        except OSError:
            self.client_left = True
            raise

    async def refuse(self, response: Response) -> None:
        if not self._started:
            await response.send(self._send)
        # Else it stays unfinished: the server below closes the connection, and the client sees that it was cut.

    async def fail(self) -> None:
        traceback.print_exc(file=sys.stderr)  # standard error is the agent's log
        await self.refuse(refusal(Refused(_UNEXPECTED, status=500)))
