"""A replica that stops lets go of everything, a bounded number of chats at a time."""

from typing import Any
from uuid import UUID

import pytest

from chatd.store.transitions import Applied, Take, Transitions
from engine.deployment import Deployment, new_id, open_deployment, replica


class CountedTransitions(Transitions):
    """Remembers how many chats each call of hand_over let go of."""

    def __init__(self, deployment: Deployment) -> None:
        super().__init__(deployment.guarded, deployment.hints)
        self.batches: list[tuple[int, int]] = []

    async def hand_over(self, replica_id: UUID, *, most_chats: int) -> list[Applied]:
        let_go = await super().hand_over(replica_id, most_chats=most_chats)
        self.batches.append((most_chats, len(let_go)))
        return let_go


async def test_all_chats_are_handed_over_in_batches(database: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("chatd.engine.worker.MOST_AT_ONCE", 2)
    async with open_deployment(database.dsn) as deployment:
        counted = CountedTransitions(deployment)
        async with replica(deployment, transitions=counted) as one:
            chats = [await deployment.new_chat(take=Take(one.id, new_id())) for _ in range(5)]
            await one.pass_time(2)
            assert set(one.script.running) == set(chats)

            await one.worker.drain(0)

        assert counted.batches == [(2, 2), (2, 2), (2, 1), (2, 0)]
        assert [await deployment.owner(chat) for chat in chats] == [None] * 5


async def test_one_statement_lets_go_of_a_thousand_at_most(database: Any):
    async with open_deployment(database.dsn) as deployment:
        counted = CountedTransitions(deployment)
        async with replica(deployment, transitions=counted) as one:
            await one.worker.drain(0)

        assert counted.batches == [(1000, 0)]
