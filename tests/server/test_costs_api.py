"""What chats have cost: by model, chat and day, for who pays and for who looks after it."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.core.usage import Usage
from chatd.testing.vendors.script import Say, Turn
from server.chat_api import CHATS, chat_api

USED = Usage(input_tokens=1000, output_tokens=100)
TURN = Turn(Say("Hello."), usage=USED)


async def price_of(chats: Any) -> int:
    """Of one answer, as the first chat shows it. Titles and labels come on top, whenever they are made."""
    prices = {"input": "1", "output": "10", "cache_read": "0", "cache_write": "0"}
    models = "/api/experimental/chats/model-configs"
    changed = await chats.running.owner.call("PATCH", f"{models}/{chats.model_id}", {"prices": prices})
    assert changed.status == 200, changed
    return 1000 + 10 * 100


@pytest.mark.behaviour("COST-3")
async def test_a_summary_adds_up_what_was_paid_for_also_what_an_edit_has_hidden(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [TURN]) as chats:
        price = await price_of(chats)
        chat = await chats.create()
        await chats.resting(chat)
        first = (await chats.mia.get(f"{CHATS}/{chat['id']}/messages")).body["messages"][-1]
        edited = await chats.mia.call(
            "PATCH", f"{CHATS}/{chat['id']}/messages/{first['id']}", {"content": [{"type": "text", "text": "again"}]}
        )
        assert edited.status == 200, edited
        await chats.resting(chat)
        other = await chats.create()
        await chats.resting(other)
        summary = (await chats.mia.get(f"{CHATS}/cost/me/summary")).body
        alone = (await chats.mia.get(f"{CHATS}/{chat['id']}/cost")).body

    assert summary["total_cost_micros"] >= 3 * price
    assert summary["total_cost_micros"] == sum(one["total_cost_micros"] for one in summary["by_chat"])
    assert summary["total_cost_micros"] == sum(one["total_cost_micros"] for one in summary["by_day"])
    assert [one["model_config_id"] for one in summary["by_model"]] == [chats.model_id]
    assert summary["by_model"][0]["model"]
    assert {one["chat_id"] for one in summary["by_chat"]} == {chat["id"], other["id"]}
    assert all(one["title"] for one in summary["by_chat"])
    models_of_days = [model for day in summary["by_day"] for model in day["by_model"]]
    assert sum(one["total_cost_micros"] for one in models_of_days) == summary["total_cost_micros"]
    assert {one["model"] for one in models_of_days} == {summary["by_model"][0]["model"]}
    assert alone["total_cost_micros"] >= 2 * price, "also the answer that the edit has hidden"
    assert summary["unpriced_request_count"] == 0
    assert summary["runtime_ms"] > 0


@pytest.mark.behaviour("COST-3")
async def test_owners_and_auditors_see_what_everyone_has_spent_and_others_themselves(database: Any, tmp_path: Path):
    async with chat_api(database.dsn, tmp_path, [TURN]) as chats:
        price = await price_of(chats)
        chat = await chats.create()
        await chats.resting(chat)
        auditor, max_ = await chats.running.add_user("aud", role="auditor"), await chats.running.add_user("max")
        people = (chats.running.owner, auditor, chats.mia, max_, chats.running.api)
        rolled_up = [await api.get(f"{CHATS}/cost/users") for api in people]
        paged = await chats.running.owner.get(f"{CHATS}/cost/users?limit=1")
        summaries = [(await api.get(f"{CHATS}/cost/mia/summary")).status for api in people]
        alone = [(await api.get(f"{CHATS}/{chat['id']}/cost")).status for api in people]
        unknown = await chats.mia.get(f"{CHATS}/{UUID(int=7)}/cost")

    assert [answer.status for answer in rolled_up] == [200, 200, 200, 200, 401]
    spent = {user["username"]: user["total_cost_micros"] for user in rolled_up[0].body["users"]}
    assert set(spent) == {"olga", "mia", "aud", "max"}
    assert spent["mia"] >= price
    assert spent["max"] == 0
    assert [{user["username"] for user in answer.body["users"]} for answer in rolled_up[1:4]] == [
        set(spent),
        {"mia"},
        {"max"},
    ]
    assert len(paged.body["users"]) == 1
    assert paged.body["next_after"] == paged.body["users"][0]["user_id"]
    assert summaries == [200, 200, 200, 404, 401]
    assert alone == [200, 200, 200, 404, 401]
    assert unknown.status == 404


@pytest.mark.parametrize(
    "query",
    [
        "start_date=2026-02-01T00:00:00Z&end_date=2026-01-01T00:00:00Z",
        "start_date=2020-01-01T00:00:00Z&end_date=2026-01-01T00:00:00Z",
        "start_date=yesterday",
        "end_date=0001-01-01T00:00:00%2B14:00",
    ],
)
async def test_a_time_that_makes_no_sense_is_refused(serving: Any, query: str):
    async with serving() as running:
        answer = await running.owner.get(f"{CHATS}/cost/me/summary?{query}")

    assert answer.status == 400
