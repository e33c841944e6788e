"""Hints that go nowhere and are remembered, for tests of what is published."""

from chatd.store.hints import Receive, Subscription


class SilentHints:
    def __init__(self) -> None:
        self.published: list[tuple[str, bytes]] = []

    def publish(self, topic: str, payload: bytes = b"") -> None:
        self.published.append((topic, payload))

    def subscribe(self, topic: str, receive: Receive) -> Subscription:
        raise NotImplementedError("nobody listens to silence")

    @property
    def connected(self) -> bool:
        return True

    async def wait_connected(self) -> None:
        return
