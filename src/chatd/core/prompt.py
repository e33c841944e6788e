"""From messages to a prompt: the same for a history that was read from the database and for one still in flight."""

from collections.abc import Callable, Sequence
from typing import TypeGuard
from uuid import UUID

import msgspec

from chatd.core.messages import Message, NewMessage
from chatd.core.model import PromptMessage
from chatd.core.parts import AnyPart, Part, UnknownPart, is_known, unknown_type
from chatd.core.roles import Visibility


class Prompt(msgspec.Struct, frozen=True):
    """`left_out` are parts that nobody can read, for a warning: (the message's place, what it calls its type)."""

    messages: tuple[PromptMessage, ...]
    left_out: tuple[tuple[int, str], ...]


def prompt_of(history: Sequence[Message | NewMessage], origin_of: Callable[[UUID | None], str]) -> Prompt:
    """In order, without what is hidden from models or deleted. `origin_of` gives the provider of a model config."""
    messages: list[PromptMessage] = []
    left_out: list[tuple[int, str]] = []
    for place, message in enumerate(history):
        if message.visibility is Visibility.USER or (isinstance(message, Message) and message.deleted):
            continue
        known = message.parts
        if not _are_known(known):
            left_out += [(place, unknown_type(part)) for part in message.parts if isinstance(part, UnknownPart)]
            known = tuple(part for part in message.parts if is_known(part))
        messages.append(PromptMessage(message.role, known, origin_of(message.model_config_id)))
    return Prompt(tuple(messages), tuple(left_out))


def _are_known(parts: tuple[AnyPart, ...]) -> TypeGuard[tuple[Part, ...]]:
    return all(map(is_known, parts))
