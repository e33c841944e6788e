"""One message to one browser: encrypted, signed, handed to its push service, and what that said."""

import hashlib
from enum import StrEnum
from typing import Final

import msgspec

from chatd.clock import Clock
from chatd.core.failure import Fault
from chatd.core.push_message import PushMessage
from chatd.core.retry_after import retry_after_seconds
from chatd.providers.guarded import GuardedClient, Reply
from chatd.providers.transport import TransportFault
from chatd.push.encryption import base64url, encrypted
from chatd.push.subscriptions import Subscription
from chatd.push.vapid import PushKey

ATTEMPT_SECONDS: Final = 10.0  # a push service that is there answers in one
_KEPT_SECONDS: Final = 12 * 60 * 60  # for a browser that is off; the next morning nobody asks what has finished
_TOPIC_LONGEST: Final = 32  # characters, by RFC 8030


class Outcome(StrEnum):
    """As metrics have it."""

    SENT = "sent"
    GONE = "gone"  # the browser has unsubscribed
    BUSY = "busy"  # the push service asks us to come again
    UNREACHABLE = "unreachable"
    FORBIDDEN = "forbidden"  # an address that is not public
    REFUSED = "refused"


class Said(msgspec.Struct, frozen=True):
    """`retry_after`: in seconds, if it was told."""

    outcome: Outcome
    status: int | None = None
    retry_after: float | None = None
    text: str = ""


class Sender:
    def __init__(self, client: GuardedClient, key: PushKey, *, clock: Clock, contact: str) -> None:
        self._client = client
        self._key = key
        self._clock = clock
        self._contact = contact

    async def send(self, subscription: Subscription, message: PushMessage) -> Said:
        """Never raises but when cancelled."""
        now = self._clock.now()
        try:
            body = encrypted(message.encode(), subscription.keys)
        except ValueError as error:
            return Said(Outcome.REFUSED, text=str(error))
        headers = {
            "Authorization": self._key.authorization(subscription.endpoint, contact=self._contact, now=now),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(_KEPT_SECONDS),
            "Topic": _topic(message.topic),
            "Urgency": "normal",
        }
        try:
            async with self._clock.timeout(ATTEMPT_SECONDS, timer="push"):
                reply = await self._client.post(subscription.endpoint, body, headers)
        except TransportFault as fault:
            forbidden = fault.fault is Fault.ADDRESS
            return Said(Outcome.FORBIDDEN if forbidden else Outcome.UNREACHABLE, text=str(fault.fault))
        except TimeoutError:
            return Said(Outcome.UNREACHABLE, text=str(Fault.TIMED_OUT))
        return Said(_outcome(reply), reply.status, retry_after_seconds(reply.headers, now))


def _outcome(reply: Reply) -> Outcome:
    match reply.status:
        case status if 200 <= status < 300:
            return Outcome.SENT
        case 404 | 410:
            return Outcome.GONE
        case status if status == 429 or status >= 500:
            return Outcome.BUSY
        case _:
            return Outcome.REFUSED


def _topic(name: str) -> str:
    """Of the letters that a topic may have, and nothing that tells the push service which chat it is."""
    return base64url(hashlib.sha256(name.encode()).digest())[:_TOPIC_LONGEST]
