"""What calls beside the turns of chats cost, stored for whoever pays for the chat."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol
from uuid import UUID

from chatd.core.access import WORKER
from chatd.core.side_kind import SideKind
from chatd.core.usage import Usage
from chatd.engine.commits import committed
from chatd.engine.flight import cost_of
from chatd.engine.models import ResolvedModel
from chatd.observe.logs import get_logger
from chatd.store.actor import acting_as

_log = get_logger("chatd.side-costs")


class SideCostStore(Protocol):
    """None when the chat is gone, and its costs with it."""

    def insert_side_cost(
        self,
        *,
        kind: SideKind,
        model_config_id: UUID,
        input_tokens: int | None,
        output_tokens: int | None,
        reasoning_tokens: int | None,
        cache_creation_tokens: int | None,
        cache_read_tokens: int | None,
        cost_microdollars: int | None,
        chat_id: UUID,
    ) -> Coroutine[Any, Any, int | None]: ...


class SideCosts:
    def __init__(self, store: SideCostStore) -> None:
        self._store = store

    async def paid(self, chat_id: UUID, kind: SideKind, model: ResolvedModel, usage: Usage) -> None:
        """One call has taken this. Never raises but when cancelled, and then not before it is stored: what can't be is
        in the log."""
        cost = _cost(usage, model)
        # Not as who asked: that it was paid for does not depend on their rights.
        with acting_as(WORKER):
            work = self._store.insert_side_cost(
                kind=kind,
                model_config_id=model.config_id,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                reasoning_tokens=usage.reasoning_tokens,
                cache_creation_tokens=usage.cache_creation_tokens,
                cache_read_tokens=usage.cache_read_tokens,
                cost_microdollars=cost,
                chat_id=chat_id,
            )
            async with asyncio.TaskGroup() as tasks:
                try:
                    await committed(tasks, work)
                except Exception as error:  # noqa: BLE001 - the answer is there and is not thrown away for this
                    _log.warning(
                        "the cost of a side job can't be stored",
                        chat_id=str(chat_id),
                        kind=str(kind),
                        model_config_id=str(model.config_id),
                        cost_microdollars=cost,
                        error=str(error) or type(error).__name__,
                    )


def _cost(usage: Usage, model: ResolvedModel) -> int | None:
    try:
        return cost_of([usage], model)
    except ValueError as error:  # no number of dollars
        _log.warning("the cost of a side job is not known", model_config_id=str(model.config_id), error=str(error))
        return None
