"""A message with all that belongs to it when it is written down: the results of its calls, its images."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from chatd.core.messages import Message
from chatd.core.parts import FilePart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.wire.chats import Chat


class Step(msgspec.Struct, frozen=True):
    """`results` by the ids of their calls. `strays` are results of calls that are not in this message."""

    message: Message
    results: Mapping[str, ToolResultPart] = {}
    strays: Sequence[ToolResultPart] = ()


class ImageSource(Protocol):
    """Where the bytes of images come from."""

    async def __call__(self, part: FilePart) -> str | None:
        """As a data URL of an image that does nothing; None for what is no such image, or is left out."""
        ...


class Export(msgspec.Struct, frozen=True):
    """What is written: the chat as of `at`, and its messages, oldest first."""

    chat: Chat
    at: datetime
    messages: AsyncIterator[Message]
    image: ImageSource


async def steps_of(messages: AsyncIterator[Message]) -> AsyncIterator[Step]:
    """Each message with the results that follow it. Holds no more than one step."""
    head: Message | None = None
    results: list[ToolResultPart] = []
    async for message in messages:
        if message.role is Role.TOOL and head is not None:
            results += [part for part in message.parts if isinstance(part, ToolResultPart)]
            continue
        if head is not None:
            yield _step(head, results)
        head, results = message, []
    if head is not None:
        yield _step(head, results)


def _step(head: Message, results: list[ToolResultPart]) -> Step:
    called = {part.tool_call_id for part in head.parts if isinstance(part, ToolCallPart)}
    own = [part for part in head.parts if isinstance(part, ToolResultPart)]  # a provider's, or a message of a tool
    answers = {part.tool_call_id: part for part in (*own, *results) if part.tool_call_id in called}
    return Step(head, answers, tuple(part for part in (*own, *results) if part.tool_call_id not in called))
