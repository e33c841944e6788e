"""What a vendor said is stored, goes back with the next request, and is accepted by a server as strict as it."""

import asyncio
import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatd.core.accumulate import Answer
from chatd.core.failure import FailureKind
from chatd.core.model import FinishReason, ProtocolName
from chatd.core.parts import FilePart, ReasoningPart, SourcePart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.core.usage import Usage
from chatd.providers.stream import ModelCallFailed
from chatd.testing.vendors.script import Call, Cut, Refuse, RunCode, Say, Script, Search, Source, Step, Think, Turn
from chatd.testing.vendors.server import VendorServer
from providers.round_trip_chat import CHAT, RESPONSES, VENDORS, Chat, Vendor, play, signatures

# The smallest picture there is: one pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
HIT = Source("https://example.com/a", "A page")
CALL = Call("read_file", '{"path":', ' "a b"}')
SIGNING = {name: vendor for name, vendor in VENDORS.items() if name not in ("responses", "chat")}
RUNNING_CODE = {name: vendor for name, vendor in VENDORS.items() if name != "chat"}


def each(vendors: Mapping[str, Vendor]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("vendor", vendors.values(), ids=vendors.keys())


def sent(server: VendorServer, number: int) -> str:
    return json.dumps(server.asked[number].body)


@each(VENDORS)
async def test_a_turn_with_thinking_and_calls_is_accepted_when_it_goes_back(vendor: Vendor):
    script = [
        Turn(Think("Let me ", "look."), Say("I look."), CALL, Call("now")),
        Turn(Think("And ", "again."), CALL),
        Turn(Say("Done", ".")),
        Turn(Think("Hm."), Say("You are welcome.")),
        Turn(Say("Bye.")),
    ]
    said: list[str] = []

    async def scene(chat: Chat) -> None:
        answer = await chat.ask(vendor, "hello")
        assert answer.finish is FinishReason.TOOL_CALLS
        answer = await chat.run(vendor, answer)
        answer = await chat.run(vendor, answer, "plain words")
        said.extend(part.text for part in answer.parts if isinstance(part, TextPart))
        await chat.ask(vendor, "thanks")
        await chat.ask(vendor, "bye")

    await play(script, scene)

    assert said == ["Done."]


@each(SIGNING)
async def test_what_the_vendor_signed_goes_back_unchanged(vendor: Vendor):
    async def scene(chat: Chat) -> None:
        await chat.run(vendor, await chat.ask(vendor, "hello"))

    server = await play([Turn(Think("Let me look."), CALL), Turn(Say("Done."))], scene)

    signed = signatures(server)
    assert signed
    assert all(signature in sent(server, 1) for signature in signed)


async def test_stored_reasoning_of_the_responses_api_stays_with_the_vendor():
    async def scene(chat: Chat) -> None:
        await chat.ask(RESPONSES, "hello")
        answer = await chat.ask(RESPONSES, "and?")
        await chat.run(RESPONSES, answer)

    script = [Turn(Think("Hm."), Say("Hello.")), Turn(Think("Hm, hm."), Say("I look."), CALL), Turn(Say("Done."))]
    server = await play(script, scene)

    assert [asked.body["store"] for asked in server.asked] == [True, True, True]
    for asked in server.asked[1:]:
        kinds = [item["type"] for item in asked.body["input"]]
        assert "reasoning" not in kinds
        assert all("id" not in item for item in asked.body["input"])


@each(VENDORS)
async def test_what_the_vendor_ran_itself_stays_in_its_message_and_is_accepted(vendor: Vendor):
    answers: list[Answer] = []

    async def scene(chat: Chat) -> None:
        answers.append(await chat.ask(vendor, "cats?"))
        await chat.ask(vendor, "dogs?")
        answer = await chat.ask(vendor, "birds?")
        await chat.run(vendor, answer)

    script = [
        Turn(Think("Search."), Search("cats", HIT), Say("Cats.", sources=[HIT])),
        Turn(Search("dogs"), Say("None.")),
        Turn(Think("Both."), Search("birds", HIT), Say("I look."), CALL),
        Turn(Say("Birds.")),
    ]
    await play(script, scene)

    parts = answers[0].parts
    assert HIT.url in [part.url for part in parts if isinstance(part, SourcePart)]
    if vendor is not CHAT:
        [place] = [n for n, part in enumerate(parts) if isinstance(part, ToolCallPart) and part.provider_executed]
        call, result = parts[place], parts[place + 1]
        assert isinstance(call, ToolCallPart)
        assert isinstance(result, ToolResultPart)
        assert (result.tool_call_id, result.provider_executed) == (call.tool_call_id, True)


@each(RUNNING_CODE)
async def test_code_that_the_vendor_ran_is_accepted_when_it_goes_back(vendor: Vendor):
    async def scene(chat: Chat) -> None:
        await chat.ask(vendor, "count")
        await chat.ask(vendor, "again")

    await play([Turn(Think("Run."), RunCode("1 + 1", "2"), Say("2.")), Turn(Say("2."))], scene)


@each({name: vendor for name, vendor in VENDORS.items() if vendor.protocol.name is ProtocolName.ANTHROPIC_MESSAGES})
async def test_a_turn_that_the_vendor_paused_goes_on(vendor: Vendor):
    async def scene(chat: Chat) -> None:
        answer = await chat.ask(vendor, "cats?")
        assert answer.finish is FinishReason.PAUSE
        await chat.ask(vendor)
        await chat.ask(vendor, "thanks")

    paused = Turn(Think("Search."), Search("cats", HIT), finish=FinishReason.PAUSE)
    await play([paused, Turn(Think("Ah."), Say("Cats.")), Turn(Say("Bye."))], scene)


@each(VENDORS)
async def test_images_of_people_and_of_tools_are_accepted(vendor: Vendor):
    shown = json.dumps({"data": PNG, "mime_type": "image/png", "text": "a picture"})

    async def scene(chat: Chat) -> None:
        picture = FilePart(media_type="image/png", name="a.png", data=PNG)
        answer = await chat.ask(vendor, "look", picture)
        await chat.run(vendor, answer, shown, is_media=True)
        await chat.ask(vendor, "and this", picture)

    server = await play([Turn(Say("I see."), CALL), Turn(Say("Yes.")), Turn(Say("Yes."))], scene)

    assert b64decode(PNG).startswith(b"\x89PNG")
    assert [sent(server, number).count(PNG) for number in range(3)] == [1, 2, 3]


@each(VENDORS)
async def test_redacted_thinking_is_accepted_when_it_goes_back(vendor: Vendor):
    async def scene(chat: Chat) -> None:
        await chat.run(vendor, await chat.ask(vendor, "hello"))

    await play([Turn(Think("hidden", redacted=True), CALL), Turn(Say("Done."))], scene)


@each(VENDORS)
@pytest.mark.parametrize("after", range(1, 16))
async def test_what_is_left_of_a_stream_that_was_cut_is_accepted(vendor: Vendor, after: int):
    """As when someone stops the turn there."""
    retryable: list[bool] = []

    async def scene(chat: Chat) -> None:
        try:
            answer = await chat.ask(vendor, "hello")
        except ModelCallFailed as failed:
            retryable.append(failed.failure.retryable)
            chat.said(Role.ASSISTANT, *chat.cut_short.parts, origin=vendor.id)
        else:
            assert answer.finish is not None
        await chat.ask(vendor, "go on")

    turn = Turn(Think("Let me ", "look."), Search("a", HIT), Say("I look."), CALL, faults=[Cut(after_events=after)])
    await play([turn, Turn(Say("Yes."))], scene)

    assert retryable in ([], [True])


@pytest.mark.parametrize(("first", "second"), tuple(permutations(VENDORS, 2)), ids=str)
async def test_another_vendor_takes_over_in_mid_chat_and_gives_it_back(first: str, second: str):
    one, other = VENDORS[first], VENDORS[second]

    picture = FilePart(media_type="image/png", name="a.png", data=PNG)
    shown = json.dumps({"data": PNG, "mime_type": "image/png", "text": "a picture"})

    async def scene(chat: Chat) -> None:
        await chat.run(one, await chat.ask(one, "hello", picture), shown, is_media=True)
        answer = await chat.ask(one, "more")
        await chat.run(other, answer)
        await chat.run(one, await chat.ask(other, "again", picture), shown, is_media=True)
        await chat.ask(one, "bye")

    call = Turn(Think("Hm."), Search("a", HIT), Say("I look."), CALL)
    server = await play(
        [call, Turn(Think("Ah."), Say("Done.")), call, Turn(Say("Done.")), call, Turn(Say("Done.")), Turn(Say("Bye."))],
        scene,
    )

    assert sent(server, 6).count(PNG) == 4


@each(VENDORS)
async def test_usage_and_texts_are_those_of_the_script(vendor: Vendor):
    usage = Usage(input_tokens=100, output_tokens=30, reasoning_tokens=10, cache_read_tokens=50)
    answers: list[Answer] = []

    async def scene(chat: Chat) -> None:
        answers.append(await chat.ask(vendor, "hello"))

    await play([Turn(Think("Let me ", "look."), Say("Hello", " ", "wörld"), usage=usage)], scene)

    [answer] = answers
    assert [part.text for part in answer.parts if isinstance(part, ReasoningPart)] == ["Let me look."]
    assert [part.text for part in answer.parts if isinstance(part, TextPart)] == ["Hello wörld"]
    counted = answer.usage
    assert (counted.input_tokens, counted.output_tokens) == (100, 30)
    assert (counted.reasoning_tokens, counted.cache_read_tokens) == (10, 50)


@each(VENDORS)
@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, FailureKind.AUTH), (429, FailureKind.RATE_LIMIT), (503, None), (500, None)],
)
async def test_a_refusal_in_the_vendors_form_is_classified(vendor: Vendor, status: int, kind: FailureKind | None):
    async def scene(chat: Chat) -> None:
        with pytest.raises(ModelCallFailed) as caught:
            await chat.ask(vendor, "hello")
        failure = caught.value.failure
        assert failure.status_code == status
        assert kind is None or failure.kind is kind
        assert failure.retryable is (status != 401)
        assert failure.retry_after_seconds == (7 if status == 429 else None)

    headers = {"retry-after": "7"} if status == 429 else {}
    await play([Refuse(status, "It is so.", headers=headers)], scene)


TEXTS = st.sampled_from(["Hello", " ", "\n", "wörld", "x" * 50, ""])
SAYS = st.lists(TEXTS, min_size=1, max_size=3).map(lambda chunks: Say(*chunks))
THINKS = st.builds(
    lambda chunks, redacted: Think(*chunks, redacted=redacted), st.lists(TEXTS, max_size=3), st.booleans()
)
CALLS = st.sampled_from([CALL, Call("now"), Call("now", "{}"), Call("read_file", '{"path": "a", "path": "b"}')])
STEPS: st.SearchStrategy[Step] = st.one_of(SAYS, THINKS, CALLS, st.just(Search("a", HIT)))
TURNS = st.lists(st.lists(STEPS, max_size=5), min_size=1, max_size=4)


@each(VENDORS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=TURNS)
def test_whatever_a_vendor_says_is_accepted_when_it_goes_back(vendor: Vendor, turns: Sequence[Sequence[Step]]):
    async def scene(chat: Chat) -> None:
        answer = await chat.ask(vendor, "hello")
        for _ in turns:
            calls = any(isinstance(part, ToolCallPart) and not part.provider_executed for part in answer.parts)
            answer = await chat.run(vendor, answer) if calls else await chat.ask(vendor, "go on")

    asyncio.run(_played([*(Turn(*steps) for steps in turns), Turn(Say("Done."))], scene))


async def _played(script: Script, scene: Callable[[Chat], Any]) -> None:
    await play(script, scene)
