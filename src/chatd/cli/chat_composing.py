"""What the next message goes out with: files, and another model or effort from then on."""

import asyncio
import sys
from pathlib import Path
from uuid import UUID

from chatd.cli.terminal_text import one_line
from chatd.client import Client
from chatd.core import file_types
from chatd.core.errors import ChatdError
from chatd.core.reasoning import ReasoningEffort
from chatd.wire.chat_requests import InputPart
from chatd.wire.models import ModelConfig

STANDARD_INPUT = "-"
_NAME_LONGEST = 60  # characters of a model's name on a line


class Composing:
    """`taken` when a message with all of it was taken by the server."""

    def __init__(self, client: Client) -> None:
        self.model: ModelConfig | None = None
        self.effort: ReasoningEffort | None = None
        self.files: list[tuple[str, InputPart]] = []
        self._client = client
        self._models: list[ModelConfig] | None = None

    async def models(self) -> list[ModelConfig]:
        """Those that can be chosen."""
        if self._models is None:
            self._models = [model for model in await self._client.models() if model.enabled]
        return self._models

    async def model_of(self, id: UUID) -> ModelConfig | None:
        return next((model for model in await self.models() if model.id == id), None)

    async def choose_model(self, name: str) -> ModelConfig:
        """By its name, the vendor's name, or a part of either that no other one has."""
        models, wanted = await self.models(), name.strip().lower()
        exact = [model for model in models if wanted in (str(model.id), *_names(model))]
        alike = [model for model in models if any(wanted in known for known in _names(model))]
        found = exact[:1] or alike
        if len(found) != 1:
            what = "There is no model" if not found else "There are several models like"
            known = ", ".join(model_name(model) for model in found or models)
            raise ChatdError(f"{what} {one_line(name, _NAME_LONGEST)}.", detail=f"You can choose: {known}.")
        self.model = found[0]
        return found[0]

    def choose_effort(self, word: str) -> ReasoningEffort:
        try:
            self.effort = ReasoningEffort(word.strip().lower())
        except ValueError:
            efforts = ", ".join(ReasoningEffort)
            raise ChatdError(f"{one_line(word, 20)} is no effort.", detail=f"There are: {efforts}.") from None
        return self.effort

    async def attach(self, path: str) -> str:
        """Upload a file for the next message. Gives its name."""
        name, content = await asyncio.to_thread(_read, path)
        self.files.append((name, await self._client.upload(name, content)))
        return name

    def content(self, text: str) -> list[InputPart]:
        said = [InputPart(type="text", text=text)] if text else []
        return [*said, *(file for _, file in self.files)]

    def taken(self) -> None:
        self.model, self.effort = None, None
        self.files.clear()


def model_name(model: ModelConfig) -> str:
    return one_line(model.display_name or model.model, _NAME_LONGEST)


def _names(model: ModelConfig) -> tuple[str, str]:
    return model.display_name.lower(), model.model.lower()


def _read(path: str) -> tuple[str, bytes]:
    """At most one byte more than a file may have, so that the server says that it is too large."""
    most = file_types.MOST_BYTES + 1
    if path == STANDARD_INPUT:
        return "input.txt", sys.stdin.buffer.read(most)
    try:
        with Path(path).expanduser().open("rb") as file:
            return Path(path).name, file.read(most)
    except (OSError, RuntimeError) as error:  # RuntimeError: nobody knows whose home `~somebody` is
        why = error.strerror if isinstance(error, OSError) else None
        raise ChatdError(f"{path} can't be read: {why or error}.") from error
