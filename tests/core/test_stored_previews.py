"""What was shown is stored and read back as it was."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.parts import ReasoningPart, SourcePart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.preview import CallPiece, Preview
from chatd.core.roles import Role
from chatd.core.stored_previews import decode_previews, encode_previews

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=20)  # NUL and lone surrogates too
PARTS = st.one_of(
    st.builds(TextPart, text=TEXTS),
    st.builds(ReasoningPart, text=TEXTS, created_at=TEXTS),
    st.builds(CallPiece, tool_call_id=TEXTS, tool_name=TEXTS, args_delta=TEXTS, provider_executed=st.booleans()),
    st.builds(ToolCallPart, tool_call_id=TEXTS, tool_name=TEXTS, args=TEXTS),
    st.builds(ToolResultPart, tool_call_id=TEXTS, tool_name=TEXTS, result=TEXTS, is_error=st.booleans()),
    st.builds(SourcePart, url=TEXTS, title=TEXTS),
)


@given(st.lists(st.builds(Preview, st.sampled_from(Role), PARTS), max_size=5))
def test_previews_are_read_back_as_they_were(previews: list[Preview]):
    stored = encode_previews(previews)

    assert decode_previews(stored) == previews
    assert "\0" not in stored
    stored.encode()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"role":"assistant","part":{"type":"new"}}]', '[{"role":"x"}]'])
def test_what_is_none_of_ours_is_refused(text: str):
    with pytest.raises((msgspec.DecodeError, ValueError)):
        decode_previews(text)
