"""The deployment's settings of turns, read from what is stored."""

from uuid import UUID

import msgspec
import pytest

from chatd.core.reasoning import ReasoningEffort
from chatd.core.turn_settings import KEYS, ModelContext, ModelOverride, TurnSettings, read_turn_settings

MODEL = UUID(int=5)


def test_what_is_stored_is_read_back():
    override = ModelOverride(MODEL, ReasoningEffort.LOW)
    stored = {
        "system_prompt": '"Be brief."',
        "include_default_system_prompt": "true",
        "plan_mode_instructions": '"Plan."',
        "model_override:compaction": msgspec.json.encode(override).decode(),
        "model_override:explore": f'{{"model_config_id": "{MODEL}"}}',
    }

    assert read_turn_settings(stored) == TurnSettings(
        system_prompt="Be brief.",
        include_default=True,
        plan_mode_instructions="Plan.",
        overrides={ModelContext.COMPACTION: override, ModelContext.EXPLORE: ModelOverride(MODEL)},
    )
    assert set(stored) <= set(KEYS)


def test_nothing_stored_is_the_default():
    assert read_turn_settings({}) == TurnSettings()


@pytest.mark.parametrize("value", ["null", "7", '""', '{"model_config_id": "x"}', "[", "[" * 100_000])
def test_what_can_not_be_read_counts_as_not_set_and_is_named(value: str):
    settings = read_turn_settings({"model_override:general": value, "include_default_system_prompt": value})

    assert settings.overrides == {}
    assert settings.include_default is None
    assert settings.unreadable == {"model_override:general", "include_default_system_prompt"}


@pytest.mark.parametrize(
    ("prompt", "flag", "includes"),
    [("", None, True), ("Ours.", None, False), ("Ours.", True, True), ("", False, False)],
)
def test_the_default_prompt_is_included_unless_there_is_another(prompt: str, flag: bool | None, includes: bool):
    assert TurnSettings(system_prompt=prompt, include_default=flag).includes_default is includes
