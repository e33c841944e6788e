"""Who is told which hint.

A receiver is called in the event loop, in the order of arrival, and must return at once. One that raises is
logged and does not keep the hint from the others.
"""

from collections.abc import Callable, Iterator

import msgspec

from chatd.observe.logs import get_logger

_log = get_logger(__name__)


class Hint(msgspec.Struct, frozen=True):
    """Something about `topic` has changed. It may be lost, doubled or late; the database decides."""

    topic: str
    payload: bytes = b""


class Gap(msgspec.Struct, frozen=True):
    """Something may have been missed: read again whatever the subscription is about."""


Receive = Callable[[Hint | Gap], None]


class Subscription:
    """One receiver of one topic, or of every topic with a prefix, until it is closed."""

    def __init__(self, topic: str, receive: Receive, forget: Callable[["Subscription"], None]) -> None:
        self.topic = topic
        self._receive = receive
        self._forget = forget
        self._closed = False

    def close(self) -> None:
        """Receive nothing more, from this moment on. May be called twice."""
        if not self._closed:
            self._closed = True
            self._forget(self)

    def tell(self, what: Hint | Gap) -> None:
        if self._closed:
            return
        try:
            self._receive(what)
        except Exception:  # noqa: BLE001  a receiver's mistake is its own
            _log.exception("a receiver of hints failed", topic=self.topic)


class Subscribers:
    """All subscriptions of one process, found by topic or by prefix."""

    def __init__(self) -> None:
        self._exact: dict[str, list[Subscription]] = {}
        self._prefixes: dict[str, list[Subscription]] = {}

    def add(self, topic: str, receive: Receive) -> Subscription:
        """`topic` is exact, or a prefix followed by `*`."""
        kind, key = self._place(topic)
        if "*" in key:
            raise ValueError(f"subscribe to a topic, or to a prefix followed by one *, not to {topic!r}")
        subscription = Subscription(topic, receive, self._remove)
        kind.setdefault(key, []).append(subscription)
        return subscription

    def deliver(self, hint: Hint) -> None:
        for subscription in list(self._matching(hint.topic)):
            subscription.tell(hint)

    def gap(self, topic: str | None = None) -> None:
        """Tell the subscribers of one topic, or all of them, that something may have been missed."""
        for subscription in list(self._all() if topic is None else self._matching(topic)):
            subscription.tell(Gap())

    def _matching(self, topic: str) -> Iterator[Subscription]:
        yield from self._exact.get(topic, ())
        for prefix, subscriptions in self._prefixes.items():
            if topic.startswith(prefix):
                yield from subscriptions

    def _all(self) -> Iterator[Subscription]:
        for kind in (self._exact, self._prefixes):
            for subscriptions in kind.values():
                yield from subscriptions

    def _remove(self, subscription: Subscription) -> None:
        kind, key = self._place(subscription.topic)
        kind[key].remove(subscription)
        if not kind[key]:
            del kind[key]

    def _place(self, topic: str) -> tuple[dict[str, list[Subscription]], str]:
        return (self._prefixes, topic[:-1]) if topic.endswith("*") else (self._exact, topic)
