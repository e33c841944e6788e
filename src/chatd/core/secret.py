"""A string that must not be seen: it prints as dots and no encoder takes it."""

from typing import final


@final
class Secret:
    """Wraps a secret text. `reveal()` is the only way out, so that every use can be found by name."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(•••)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a Secret is not pickled")
