"""Any history, repaired and written for Gemini, keeps the rules that the vendor checks."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.model import Capabilities, ModelRequest, PromptMessage
from chatd.core.repair import repair
from chatd.providers.protocols.google.gemini import GoogleGemini
from core.prompt_strategies import HISTORIES


def wrong(contents: list[dict[str, Any]]) -> list[str]:
    """As strict as the vendor, and where it only warns, stricter."""
    found: list[str] = []
    if not contents or contents[0]["role"] != "user":
        found.append("a user must speak first")
    if contents and contents[-1]["role"] != "user":
        found.append("a user must speak last")
    for place, content in enumerate(contents):
        parts = content["parts"]
        if not parts:
            found.append(f"{place}: no parts")
        if place and contents[place - 1]["role"] == content["role"]:
            found.append(f"{place}: the same role twice")
        if any(not part.get("text", "x").strip() and "thoughtSignature" not in part for part in parts):
            found.append(f"{place}: an empty text")
        if content["role"] == "model":
            asked = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
            following = contents[place + 1]["parts"] if place + 1 < len(contents) else []
            if asked != [part["functionResponse"]["name"] for part in following if "functionResponse" in part]:
                found.append(f"{place}: calls and responses differ")
        else:
            kinds = ["functionResponse" in part for part in parts]
            if kinds != sorted(kinds, reverse=True):
                found.append(f"{place}: responses must come first")
    return found


@pytest.mark.behaviour("CONTENT-8")
@given(HISTORIES, st.sampled_from(("gemini-2.5-pro", "gemini-3-pro-preview")), st.booleans())
def test_any_history_is_written_as_the_vendor_wants_it(history: list[PromptMessage], model: str, sees: bool) -> None:
    protocol, capabilities = GoogleGemini(), Capabilities(images=sees, system_messages=sees)
    legal = repair(history, protocol=protocol.name, provider="one", capabilities=capabilities).messages
    request = ModelRequest(model=model, provider="one", messages=legal, capabilities=capabilities)
    sent = protocol.body(request)
    assert wrong(json.loads(sent)["contents"]) == []
    grown = msgspec.structs.replace(request, messages=legal)
    assert protocol.body(grown) == sent
