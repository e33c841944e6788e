"""A store that counts which queries it is asked."""

from collections import Counter
from typing import Any

from chatd.store.store import Store


class Counting:
    """Give it as a `Store`. In a transaction nothing is counted."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name == "transaction":
            return method

        def counted(**args: Any) -> Any:
            self.asked[name] += 1
            return method(**args)

        return counted
