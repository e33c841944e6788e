"""The scripted vendors are as strict as the real ones: what those accepted once is accepted here, and no more."""

import re
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from chatd.testing.vendors.anthropic_check import check_anthropic
from chatd.testing.vendors.chat_check import check_chat
from chatd.testing.vendors.gemini_check import check_gemini
from chatd.testing.vendors.issued import Issued
from chatd.testing.vendors.refusal import Refusal
from chatd.testing.vendors.responses_check import check_responses
from providers.recordings import Recording, recordings


def accepted(protocol: str, *vendors: str) -> list[Any]:
    """Recorded requests that these vendors answered; their names begin the file's."""
    return [
        found
        for found in recordings(protocol)
        if found.values[0] is None
        or (found.values[0].is_stream and found.values[0].request.body and str(found.id).startswith(vendors))
    ]


@pytest.mark.parametrize("recording", accepted("anthropic-messages", "anthropic"))
def test_what_anthropic_accepted_is_accepted(recording: Recording):
    check_anthropic(recording.request.body, Issued(), host="own")


@pytest.mark.parametrize("recording", accepted("openai-responses", "openai"))
def test_what_the_responses_api_accepted_is_accepted(recording: Recording):
    check_responses(recording.request.body, known(recording))


REFUSED_ITEMS = [
    found
    for found in recordings("openai-responses")
    if found.values[0] is None or "of type 'reasoning'" in found.values[0].response.body
]


@pytest.mark.parametrize("recording", REFUSED_ITEMS)
def test_reasoning_that_the_responses_api_refused_is_refused_in_its_words(recording: Recording):
    said = msgspec.json.decode(recording.response.body)["error"]["message"]

    with pytest.raises(Refusal, match=re.escape(said)):
        check_responses(recording.request.body | {"stream": True}, known(recording))


def known(recording: Recording) -> Issued:
    """What the vendor knew of the reasoning in this request."""
    issued = Issued()
    given = recording.request.body["input"]
    for item, following in pairwise(given if isinstance(given, list) else []):
        if item.get("type") == "reasoning":
            issued.signed[item["encrypted_content"]] = ("reasoning", item["id"])
            issued.items[item["id"]] = item
            issued.follower_of[item["id"]] = following.get("id", "another item")
    return issued


@pytest.mark.parametrize("recording", accepted("openai-chat", "openai--", "groq", "deepseek"))
def test_what_chat_completions_accepted_is_accepted(recording: Recording):
    check_chat(recording.request.body, Issued())


@pytest.mark.parametrize("recording", accepted("google-gemini", "google"))
def test_what_gemini_accepted_is_accepted(recording: Recording):
    issued = Issued()
    for content in recording.request.body["contents"]:
        for part in content["parts"]:
            if signature := part.get("thoughtSignature"):
                kind = next(name for name in part if name != "thoughtSignature")
                issued.signed[signature] = (kind, part[kind])
    model = recording.request.path.rsplit("/", 1)[1].partition(":")[0]

    check_gemini(recording.request.body, model, issued)
