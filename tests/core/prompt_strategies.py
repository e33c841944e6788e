"""Histories of every kind, most of them illegal: few ids, so that they repeat, and parts in any message."""

from hypothesis import strategies as st

from chatd.core.model import PromptMessage
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from core.part_strategies import PARTS

IDS = st.sampled_from(("call_0", "call_1", "call.0", "call_0_2", "", "x" * 70, "é"))
METADATA = st.dictionaries(
    st.sampled_from(("anthropic-messages", "google-gemini", "openai-chat", "acme")),
    st.sampled_from(("", '{"a":1}')),
    max_size=2,
)
ODD_TEXTS = st.sampled_from(("", " \n", "hello", "[", '{"a":1}', '{"a":1,"a":2}', "null", "\ud800"))
CALLS = st.builds(
    ToolCallPart,
    tool_call_id=IDS,
    tool_name=st.sampled_from(("", "ls", "search", "fs.read", "n" * 70)),
    args=ODD_TEXTS,
    provider_executed=st.booleans(),
    provider_metadata=METADATA,
)
RESULTS = st.builds(
    ToolResultPart,
    tool_call_id=IDS,
    tool_name=st.sampled_from(("", "ls", "search")),
    result=ODD_TEXTS,
    is_error=st.booleans(),
    is_media=st.booleans(),
    provider_executed=st.booleans(),
    provider_metadata=METADATA,
)
TEXTS = st.builds(TextPart, text=ODD_TEXTS, provider_metadata=METADATA)
REASONING = st.builds(ReasoningPart, text=ODD_TEXTS, provider_metadata=METADATA)
MESSAGES = st.builds(
    PromptMessage,
    role=st.sampled_from((*Role, Role.ASSISTANT, Role.TOOL)),
    parts=st.lists(CALLS | RESULTS | TEXTS | REASONING | PARTS, max_size=6).map(tuple),
    origin=st.sampled_from(("", "one", "other")),
)
HISTORIES = st.lists(MESSAGES, max_size=8)
