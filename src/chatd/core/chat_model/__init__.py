"""The pure model of a chat: what a call makes of it, or why it is refused. The database has to agree with it.

Tests replay through it what Postgres committed, in the order of `snapshot_version`. Time is not in it: that a hold is
overdue or an owner silent is for the caller to know. Ids are minted here, counting up; texts stand for contents.
"""

import msgspec

from chatd.core.chat_model.rules import RULES, add, changed, take
from chatd.core.chat_model.values import Call, ChatModel, Content, Entry, ToolCall, Waiting
from chatd.core.lease import gives_up
from chatd.core.outcomes import Refusal
from chatd.core.states import State
from chatd.core.transitions import Transition, landings

__all__ = ["Call", "ChatModel", "Content", "Effects", "Entry", "ToolCall", "Waiting", "apply"]


class Effects(msgspec.Struct, frozen=True):
    """Ids of messages that were inserted and hidden, and of queued ones that came and went."""

    inserted: tuple[int, ...]
    hidden: tuple[int, ...]
    queued: tuple[int, ...]
    unqueued: tuple[int, ...]


def apply(model: ChatModel | None, call: Call) -> tuple[ChatModel, Effects] | Refusal:
    """What the call makes of the chat, or why it is refused. `model` is None when there is no chat yet."""
    if model is None:
        if call.transition is not Transition.CREATE_CHAT:
            return Refusal.NOT_FOUND
        born = take(add(ChatModel(), *call.rows), call)
        return born, _effects(ChatModel(), born)
    if call.runner is not None and (model.owner is None or model.owner[1] != call.runner):
        return Refusal.NOT_OWNER
    if call.history is not None and call.history != model.history:
        return Refusal.HISTORY_MOVED
    ends = landings(call.transition, model.state)
    if not ends:
        return Refusal.INVALID_STATE if model.state is State.INVALID else Refusal.NOT_ALLOWED
    if call.transition is Transition.ACQUIRE and model.owner is not None and gives_up(model.takeovers):
        return apply(model, Call(transition=Transition.GIVE_UP, text=call.text))
    made = RULES[call.transition](changed(model, snapshot=model.snapshot + 1), call)
    if isinstance(made, Refusal):
        return made
    assert made.state in ends, f"{call.transition} led from {model.state} to {made.state}"
    return made, _effects(model, made)


def _effects(before: ChatModel, after: ChatModel) -> Effects:
    hidden_before = {entry.id for entry in before.messages if entry.deleted}
    was, now = {each.id for each in before.queue}, {each.id for each in after.queue}
    return Effects(
        tuple(entry.id for entry in after.messages[len(before.messages) :]),
        tuple(entry.id for entry in after.messages if entry.deleted and entry.id not in hidden_before),
        tuple(sorted(now - was)),
        tuple(sorted(was - now)),
    )
