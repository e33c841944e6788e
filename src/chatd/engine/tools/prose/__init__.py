"""What models are told of each tool: a file per tool, which is read here."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

PROSE: Final[Traversable] = files(__name__)


def prose_of(name: str, folder: Traversable = PROSE) -> str:
    """The description of a tool. Raises ValueError when nobody has written it."""
    file = folder / f"{name}.md"
    text = file.read_text("utf-8").strip() if file.is_file() else ""
    if not text:
        raise ValueError(f"The tool {name} has no prose: write {name}.md.")
    return text
