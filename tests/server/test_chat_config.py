"""What admins set for all chats and users for their own, over the API, and that it counts."""

from typing import Any
from uuid import UUID

import pytest

from chatd.core.custom_prompt import MOST_BYTES
from server.configured_models import model, provider, wrong

CONFIG = "/api/experimental/chats/config"
LIMITS = "/api/experimental/chats/usage-limits"
MINUTE = 60_000
NOBODY = str(UUID(int=7))

# The name, what it is at first, what it is set to, and whether everyone may read it.
SETTINGS: list[tuple[str, dict[str, Any], dict[str, Any], bool]] = [
    ("workspace-ttl", {"workspace_ttl_ms": 0}, {"workspace_ttl_ms": 5 * MINUTE}, True),
    ("desktop-enabled", {"enable_desktop": False}, {"enable_desktop": True}, True),
    (
        "advisor",
        {
            "enabled": False,
            "max_uses_per_run": 0,
            "max_output_tokens": 0,
            "model_config_id": None,
            "reasoning_effort": None,
        },
        {
            "enabled": True,
            "max_uses_per_run": 3,
            "max_output_tokens": 1000,
            "model_config_id": None,
            "reasoning_effort": None,
        },
        True,
    ),
    ("plan-mode-instructions", {"plan_mode_instructions": ""}, {"plan_mode_instructions": "Draw first."}, False),
]


@pytest.mark.behaviour("API-5")
@pytest.mark.parametrize(("name", "first", "later", "is_public"), SETTINGS)
async def test_a_setting_is_read_by_whom_it_concerns_and_set_by_owners(
    serving: Any, name: str, first: dict[str, Any], later: dict[str, Any], is_public: bool
):
    async with serving() as running:
        member, auditor = await running.add_user("mia"), await running.add_user("aud", role="auditor")
        before = await running.owner.get(f"{CONFIG}/{name}")
        refused = [await api.call("PUT", f"{CONFIG}/{name}", later) for api in (running.api, member, auditor)]
        saved = await running.owner.call("PUT", f"{CONFIG}/{name}", later)
        after = [await api.get(f"{CONFIG}/{name}") for api in (running.owner, member, auditor, running.api)]

    assert (before.status, before.body) == (200, first)
    assert [answer.status for answer in refused] == [401, 404, 404]
    assert saved.status == 204
    assert [answer.status for answer in after] == ([200, 200, 200, 401] if is_public else [200, 404, 404, 401])
    assert after[0].body == later


@pytest.mark.behaviour("API-5")
async def test_the_system_prompt_is_for_owners_and_stands_alone_unless_they_say_otherwise(serving: Any):
    path = f"{CONFIG}/system-prompt"
    async with serving() as running:
        member = await running.add_user("mia")
        first = (await running.owner.get(path)).body
        await running.owner.call("PUT", path, {"system_prompt": "  Be\u202e brief.\r\n"})
        custom = (await running.owner.get(path)).body
        body = {"system_prompt": "Be brief.", "include_default_system_prompt": True}
        await running.owner.call("PUT", path, body)
        await running.owner.call("PUT", path, {"system_prompt": "Be very brief."})
        both = (await running.owner.get(path)).body
        too_long = await running.owner.call("PUT", path, {"system_prompt": "x" * (MOST_BYTES + 1)})
        unchanged = (await running.owner.get(path)).body
        settings = await running.replica.engine.deployment.load()
        refused = [(await member.get(path)).status, (await member.call("PUT", path, body)).status]

    assert (first["system_prompt"], first["include_default_system_prompt"]) == ("", True)
    assert first["default_system_prompt"]
    assert (custom["system_prompt"], custom["include_default_system_prompt"]) == ("Be brief.", False)
    assert (both["system_prompt"], both["include_default_system_prompt"]) == ("Be very brief.", True)
    assert wrong(too_long) == ["system_prompt"]
    assert unchanged == both
    assert settings.system_prompt == "Be very brief.", "the next turn has it"
    assert refused == [404, 404]


async def test_a_side_of_the_work_gets_a_model_that_can_be_used(serving: Any):
    path = f"{CONFIG}/model-override/title_generation"
    async with serving() as running:
        owner, member = running.owner, await running.add_user("mia")
        made = await model(owner, await provider(owner))
        nothing = (await owner.get(path)).body
        saved = await owner.call("PUT", path, {"model_config_id": made["id"], "reasoning_effort": "low"})
        stored = (await owner.get(path)).body
        unknown = await owner.call("PUT", path, {"model_config_id": NOBODY})
        effort_alone = await owner.call("PUT", path, {"reasoning_effort": "low"})
        nonsense = await owner.call("PUT", f"{CONFIG}/model-override/lunch", {})
        masked = await member.get(path)
        cleared = await owner.call("PUT", path, {})
        after = (await owner.get(path)).body

    assert nothing == {
        "context": "title_generation",
        "model_config_id": None,
        "reasoning_effort": None,
        "is_malformed": False,
    }
    assert (saved.status, cleared.status, masked.status) == (204, 204, 404)
    assert (stored["model_config_id"], stored["reasoning_effort"]) == (made["id"], "low")
    assert wrong(unknown) == ["model_config_id"]
    assert wrong(effort_alone) == ["reasoning_effort"]
    assert nonsense.status in (400, 404)
    assert after == nothing


@pytest.mark.parametrize("milliseconds", [1, MINUTE - 1, 30 * 24 * 60 * MINUTE + 1, -1])
async def test_a_lifetime_of_workspaces_that_makes_no_sense_is_refused(serving: Any, milliseconds: int):
    async with serving() as running:
        answer = await running.owner.call("PUT", f"{CONFIG}/workspace-ttl", {"workspace_ttl_ms": milliseconds})

    assert wrong(answer) == ["workspace_ttl_ms"]


async def test_users_set_a_prompt_and_thresholds_of_their_own(serving: Any):
    async with serving() as running:
        made = await model(running.owner, await provider(running.owner))
        mia, max_ = await running.add_user("mia"), await running.add_user("max")
        saved = await mia.call("PUT", f"{CONFIG}/user-prompt", {"custom_prompt": " I like tea. "})
        prompts = [(await api.get(f"{CONFIG}/user-prompt")).body for api in (mia, max_)]
        path = f"{CONFIG}/user-compaction-thresholds"
        threshold = await mia.call("PUT", f"{path}/{made['id']}", {"threshold_percent": 40})
        thresholds = [(await api.get(path)).body["thresholds"] for api in (mia, max_)]
        too_much = await mia.call("PUT", f"{path}/{made['id']}", {"threshold_percent": 101})
        no_model = await mia.call("PUT", f"{path}/{NOBODY}", {"threshold_percent": 40})
        deleted = [(await mia.call("DELETE", f"{path}/{made['id']}")).status for _ in range(2)]
        left = (await mia.get(path)).body["thresholds"]

    assert (saved.status, saved.body) == (200, {"custom_prompt": "I like tea."})
    assert prompts == [{"custom_prompt": "I like tea."}, {"custom_prompt": ""}]
    assert threshold.body == {"model_config_id": made["id"], "threshold_percent": 40}
    assert thresholds == [[threshold.body], []]
    assert wrong(too_much) == ["threshold_percent"]
    assert no_model.status == 404
    assert (deleted, left) == ([204, 204], [])


@pytest.mark.behaviour("COST-4")
async def test_limits_are_set_by_owners_and_refuse_on_the_next_message(serving: Any):
    async with serving() as running:
        member, auditor = await running.add_user("mia"), await running.add_user("aud", role="auditor")
        mia = (await member.get("/api/v2/users/me")).body["id"]
        everyone = await running.owner.call("PUT", LIMITS, {"period": "month", "limit_micros": 0})
        own = await running.owner.call("PUT", LIMITS, {"period": "day", "limit_micros": None, "user_id": mia})
        both = {"period": "day", "limit_micros": 1, "user_id": mia, "group_id": NOBODY}
        refused = await running.owner.call("PUT", LIMITS, both)
        nobody = await running.owner.call("PUT", LIMITS, {"period": "day", "limit_micros": 1, "user_id": NOBODY})
        seen = [await api.get(LIMITS) for api in (running.owner, auditor, member)]
        strangers = await member.call("PUT", LIMITS, {"period": "day", "limit_micros": None})
        removed = [(await running.owner.call("DELETE", f"{LIMITS}/day?user_id={mia}")).status for _ in range(2)]

    assert (everyone.status, own.status) == (204, 204)
    assert wrong(refused) == ["group_id"]
    assert (nobody.status, strangers.status) == (404, 404)
    assert [answer.status for answer in seen] == [200, 200, 404]
    assert {(limit["user_id"], limit["period"], limit["limit_micros"]) for limit in seen[0].body["limits"]} == {
        (None, "month", 0),
        (mia, "day", None),
    }
    assert removed == [204, 404]
