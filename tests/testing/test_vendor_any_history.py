"""Whatever a chat holds, once it is repaired for a vendor, the strict vendor takes it."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatd.core.model import Capabilities, ModelRequest, PromptMessage, ToolChoice
from chatd.core.parts import (
    ContextFilePart,
    FilePart,
    FileReferencePart,
    ReasoningPart,
    SourcePart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatd.core.reasoning import ReasoningEffort
from chatd.core.repair import repair
from chatd.core.roles import Role
from chatd.testing.vendors.anthropic_check import check_anthropic
from chatd.testing.vendors.chat_check import check_chat
from chatd.testing.vendors.gemini_check import check_gemini
from chatd.testing.vendors.issued import Issued
from chatd.testing.vendors.responses_check import check_responses
from providers.round_trip_chat import NOW, READ, VENDORS, Vendor

PICTURE = "iVBORw0KGgo="
TEXTS = st.sampled_from(["hello", " ", "", "\n", "wörld", "so ", "\x00", "\ud800"])
IDS = st.sampled_from(["c1", "c2", "a b", "", "x" * 70, "ü", "call.1"])
NAMES = st.sampled_from(["read_file", "now", "", " ", "fs.read", "n" * 80])
ARGUMENTS = st.sampled_from(["{}", '{"a":1}', "", "[1]", '{"a":', "null", '{"a":"\ud800"}'])
RESULTS = st.sampled_from(
    ["{}", "ok", "", " ", "null", '{"error":"x"}', "[1]"]
    + [json.dumps({"data": data, "mime_type": kind}) for data in (PICTURE, "") for kind in ("image/png", "image/tiff")]
)
MEDIA = st.sampled_from(["image/png", "image/tiff", "text/plain", "application/pdf", "", "IMAGE/PNG; x=y"])
PARTS = st.one_of(
    st.builds(TextPart, text=TEXTS),
    st.builds(ReasoningPart, text=TEXTS),
    st.builds(ToolCallPart, tool_call_id=IDS, tool_name=NAMES, args=ARGUMENTS, provider_executed=st.booleans()),
    st.builds(
        ToolResultPart,
        tool_call_id=IDS,
        tool_name=NAMES,
        result=RESULTS,
        is_error=st.booleans(),
        is_media=st.booleans(),
        provider_executed=st.booleans(),
    ),
    st.builds(SourcePart, url=st.just("https://example.com")),
    st.builds(FilePart, media_type=MEDIA, name=TEXTS, data=st.sampled_from([PICTURE, "", "!!", "aGVsbG8="])),
    st.builds(FileReferencePart, file_name=TEXTS, start_line=st.just(1), end_line=st.just(2), content=TEXTS),
    st.builds(ContextFilePart, context_file_path=TEXTS, context_file_content=TEXTS),
)
MESSAGES = st.lists(
    st.builds(
        PromptMessage,
        role=st.sampled_from(list(Role)),
        parts=st.lists(PARTS, max_size=5).map(tuple),
        origin=st.sampled_from(["me", "other", ""]),
    ),
    max_size=7,
)
CAPABILITIES = st.builds(
    Capabilities,
    images=st.booleans(),
    pdfs=st.booleans(),
    text_files=st.booleans(),
    tools=st.booleans(),
    reasoning=st.booleans(),
    temperature=st.booleans(),
    system_messages=st.booleans(),
)
SETTINGS = st.fixed_dictionaries(
    {
        "capabilities": CAPABILITIES,
        "reasoning_effort": st.sampled_from([None, *ReasoningEffort]),
        "temperature": st.sampled_from([None, 0.5]),
        "top_p": st.sampled_from([None, 0.5]),
        "tool_choice": st.sampled_from(list(ToolChoice)),
        "parallel_tool_calls": st.sampled_from([None, True, False]),
    }
)
SPEAKS = PromptMessage(Role.USER, (TextPart(text="hello"),))


@pytest.mark.parametrize("name", VENDORS)
@settings(max_examples=60, deadline=None)
@given(messages=MESSAGES, said=SETTINGS, begins=st.booleans())
def test_any_repaired_history_is_accepted(name: str, messages: list[PromptMessage], said: dict[str, Any], begins: bool):
    vendor = VENDORS[name]
    history = [SPEAKS, *messages, SPEAKS] if begins else [*messages, SPEAKS]
    repaired = repair(history, protocol=vendor.protocol.name, provider="me", capabilities=said["capabilities"])
    request = ModelRequest(
        model=vendor.model,
        messages=repaired.messages,
        provider="me",
        tools=(READ, NOW),
        max_output_tokens=8000,
        options=vendor.options,
        **said,
    )
    check(name, vendor, json.loads(vendor.change(vendor.protocol.body(request))))


def check(name: str, vendor: Vendor, body: dict[str, Any]) -> None:
    if name.startswith("anthropic"):
        check_anthropic(body, Issued(), host="own")
    elif name == "bedrock":
        check_anthropic(body, Issued(), host="bedrock")
    elif name.startswith("responses"):
        check_responses(body, Issued())
    elif name == "chat":
        check_chat(body, Issued())
    else:
        check_gemini(body, vendor.model, Issued())
