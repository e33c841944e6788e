"""Text by others on a terminal: what would move the cursor, change colours or turn text around is taken out."""

from typing import Final

_KEPT: Final = (0x09, 0x0A)  # tab and line feed
_CONTROLS: Final = (*range(0x20), *range(0x7F, 0xA0))  # C0, delete, C1
_TURNS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # embeddings, overrides and isolates of directions
_TAKEN_OUT: Final = {code: None for code in (*_CONTROLS, *_TURNS) if code not in _KEPT}


def harmless(text: str) -> str:
    return text.translate(_TAKEN_OUT)


def one_line(text: str, most: int) -> str:
    """Harmless, on one line of at most so many characters."""
    words = " ".join(harmless(text).split())
    return words if len(words) <= most else f"{words[: most - 1]}…"
