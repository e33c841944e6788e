"""A turn: the model is asked, its tools are run, and all of it is stored step by step."""

import asyncio
from typing import Any

import asyncpg
import msgspec
import pytest

from chatd.core.cost import Prices, cost_microdollars
from chatd.core.model import FinishReason
from chatd.core.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatd.core.provider_kind import ProviderKind
from chatd.core.roles import Role
from chatd.core.states import Status
from chatd.core.usage import Usage
from chatd.engine.runner import MOST_STUMBLES
from chatd.engine.tools.tool import ToolCall, ToolOutput, Traits, said
from chatd.store.store import SqlStore
from chatd.testing.vendors.script import Call, Cut, Hold, Refuse, Say, Search, Source, Think, Turn
from engine.chatting import CONTEXT, chatting
from engine.scripted_tools import ScriptedTool

VENDORS = [ProviderKind.ANTHROPIC, ProviderKind.OPENAI, ProviderKind.OPENAI_COMPAT, ProviderKind.GOOGLE]


@pytest.mark.behaviour("LOOP-1")
@pytest.mark.parametrize("kind", VENDORS)
async def test_the_model_is_asked_and_its_tools_are_run_until_it_calls_none(database: Any, kind: ProviderKind):
    look, note = ScriptedTool("look"), ScriptedTool("note")
    script = [
        Turn(Think("Hm."), Say("I look."), Call("look", '{"path": ', '"a"}'), Call("note", "{}")),
        Turn(Call("look", '{"path": "b"}')),
        Turn(Say("Hello", " there.")),
    ]
    async with chatting(database.dsn, script, kind=kind, tools=[look, note]) as chats:
        chat = await chats.begin("hello")
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

        assert state["status"] == Status.WAITING, state
        assert [line for line in shown if "Reasoning" not in line] == [
            "user: hello",
            "assistant: I look.",
            'assistant calls look {"path": "a"}',
            "assistant calls note {}",
            'look says {"output":"saw {\\"path\\": \\"a\\"}"}',
            'note says {"output":"saw {}"}',
            'assistant calls look {"path": "b"}',
            'look says {"output":"saw {\\"path\\": \\"b\\"}"}',
            "assistant: Hello there.",
        ]
        assert [len(tool.calls) for tool in (look, note)] == [2, 1]
        assert len({call.key for call in look.calls + note.calls}) == 3


@pytest.mark.behaviour("LOOP-2")
async def test_a_step_is_stored_at_once_after_its_tools_have_run(database: Any):
    going, go = asyncio.Event(), asyncio.Event()

    async def slowly(call: ToolCall) -> ToolOutput:
        going.set()
        await go.wait()
        return said("done")

    script = [Turn(Say("I look."), Call("slow", "{}"), Call("quick", "{}")), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=[ScriptedTool("slow", slowly), ScriptedTool("quick")]) as chats:
        chat = await chats.begin()
        await going.wait()
        meanwhile = await chats.shown(chat)
        go.set()
        await chats.resting(chat)
        stored = await chats.messages(chat)

    assert meanwhile == ["user: hello"]
    step = stored[1:4]
    assert [message.role for message in step] == [Role.ASSISTANT, Role.TOOL, Role.TOOL]
    assert len({message.revision for message in step}) == 1
    # In the order of the calls, whatever was done first.
    assert [part.tool_name for message in step[1:] for part in message.parts if isinstance(part, ToolResultPart)] == [
        "slow",
        "quick",
    ]


@pytest.mark.behaviour("LOOP-9", "LOOP-14")
async def test_an_answer_records_its_usage_its_cost_and_the_time_of_its_whole_step(database: Any):
    used = Usage(input_tokens=100, output_tokens=50, cache_read_tokens=20, cache_creation_tokens=10)

    async def in_ten_seconds(call: ToolCall) -> ToolOutput:
        await chats.clock.sleep(10, timer="tool")
        return said("done")

    script = [Turn(Call("slow", "{}"), usage=used), Turn(Say("Done."), usage=used)]
    async with chatting(database.dsn, script, tools=[ScriptedTool("slow", in_ten_seconds)]) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("tool")
        await chats.fake_clock.advance(10)
        await chats.resting(chat)
        stored = await chats.messages(chat)
        owner = chats.deployment.user_id
        total = await chats.deployment.pool.fetchval(
            "SELECT sum(m.runtime_ms) FROM messages m JOIN chats c ON c.id = m.chat_id WHERE c.owner_id = $1", owner
        )

    first, last = [message for message in stored if message.role is Role.ASSISTANT]
    assert first.runtime_ms == 10_000
    assert last.runtime_ms is not None
    assert total == first.runtime_ms + last.runtime_ms
    assert [message.runtime_ms for message in stored if message.role is not Role.ASSISTANT] == [None, None]
    prices = Prices.parse(input="1", output="2", cache_read="0.5", cache_write="1")
    for message in (first, last):
        assert msgspec.structs.replace(message.usage, total_tokens=None) == used
        assert message.context_limit == CONTEXT
        assert message.cost_microdollars == cost_microdollars(used, prices) == 220


async def test_what_the_vendor_did_itself_stays_in_its_message_and_the_next_turn_is_taken(database: Any):
    hit = Source("https://example.com", "Example")
    script = [Turn(Search("news", hit), Say("Found.")), Turn(Say("Again."))]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        await chats.send(chat, "more")
        state = await chats.resting(chat)
        first = (await chats.messages(chat))[1]

    assert state["status"] == Status.WAITING, state
    kinds = [type(part) for part in first.parts]
    assert kinds[:2] == [ToolCallPart, ToolResultPart]


async def test_a_pause_of_the_vendor_goes_on_in_the_same_step(database: Any):
    script = [Turn(Say("First, "), finish=FinishReason.PAUSE), Turn(Say("then."))]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)
        answers = [message for message in await chats.messages(chat) if message.role is Role.ASSISTANT]

    assert state["status"] == Status.WAITING, state
    assert [part for message in answers for part in message.parts] == [TextPart(text="First, "), TextPart(text="then.")]
    assert len(answers) == 1
    assert answers[0].usage.output_tokens == 20  # both calls are paid for


async def test_an_empty_answer_ends_the_turn_and_is_paid_for(database: Any):
    async with chatting(database.dsn, [Turn()]) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)
        stored = await chats.messages(chat)

        assert state["status"] == Status.WAITING
        assert await chats.shown(chat) == ["user: hello"]
        assert stored[1].cost_microdollars


async def test_thoughts_without_an_answer_before_a_filter_are_an_error_but_a_text_is_kept(database: Any):
    script = [
        Turn(Think("Hm."), finish=FinishReason.CONTENT_FILTER),
        Turn(Say("Well, "), finish=FinishReason.CONTENT_FILTER),
    ]
    async with chatting(database.dsn, script) as chats:
        refused, kept = await chats.begin(), None
        error = await chats.resting(refused)
        kept = await chats.begin()
        fine = await chats.resting(kept)
        thoughts = (await chats.messages(refused))[1].parts

        assert (error["status"], fine["status"]) == (Status.ERROR, Status.WAITING)
        assert '"content_filter"' in error["last_error"]
        assert isinstance(thoughts[0], ReasoningPart)
        assert await chats.shown(kept) == ["user: hello", "assistant: Well, "]


async def test_messages_that_waited_are_answered_one_after_the_other(database: Any):
    begun, go = asyncio.Event(), asyncio.Event()

    async def hold(call: ToolCall) -> ToolOutput:
        begun.set()
        await go.wait()
        return said("done")

    script = [Turn(Call("hold", "{}")), Turn(Say("One.")), Turn(Say("Two.")), Turn(Say("Three."))]
    async with chatting(database.dsn, script, tools=[ScriptedTool("hold", hold)]) as chats:
        chat = await chats.begin("first")
        await begun.wait()
        await chats.send(chat, "second")
        await chats.send(chat, "third")
        go.set()
        await chats.resting(chat)

        assert [line for line in await chats.shown(chat) if line.startswith(("user:", "assistant:"))] == [
            "user: first",
            "assistant: One.",
            "user: second",
            "assistant: Two.",
            "user: third",
            "assistant: Three.",
        ]


async def test_tools_of_one_step_run_at_once_and_serial_ones_after_them(database: Any):
    order: list[str] = []
    both = asyncio.Barrier(2)

    async def together(call: ToolCall) -> ToolOutput:
        async with asyncio.timeout(20):
            await both.wait()
        order.append(call.name)
        return said("done")

    async def alone(call: ToolCall) -> ToolOutput:
        order.append(call.name)
        return said("done")

    tools = [
        ScriptedTool("last", alone, Traits(is_serial=True)),
        ScriptedTool("one", together),
        ScriptedTool("two", together),
    ]
    script = [Turn(Call("last", "{}"), Call("one", "{}"), Call("two", "{}")), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=tools) as chats:
        chat = await chats.begin()
        await chats.resting(chat)

    assert order[-1] == "last"
    assert sorted(order) == ["last", "one", "two"]


async def test_an_exclusive_tool_in_company_runs_nothing(database: Any):
    tools = [ScriptedTool("advisor", traits=Traits(is_exclusive=True)), ScriptedTool("look")]
    script = [Turn(Call("advisor", "{}"), Call("look", "{}")), Turn(Call("advisor", "{}")), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=tools) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        shown = await chats.shown(chat)

    assert [len(tool.calls) for tool in tools] == [1, 0]
    assert sum(" fails " in line for line in shown) == 2
    assert any(line.startswith("advisor says") for line in shown)


@pytest.mark.behaviour("LOOP-4")
async def test_a_tool_that_raises_is_an_error_that_the_model_sees(database: Any):
    async def broken(call: ToolCall) -> ToolOutput:
        raise RuntimeError("out of paper")

    async def gives_up(call: ToolCall) -> ToolOutput:
        raise asyncio.CancelledError

    tools = [ScriptedTool("print", broken), ScriptedTool("quit", gives_up), ScriptedTool("look")]
    script = [
        Turn(
            Call("print", "{}"),
            Call("quit", "{}"),
            Call("nothing", "{}"),
            Call("look", '{"path": '),
            Call("look", '{"path": "a", "path": "b"}'),
            Call("look", '{"Path": "a"}'),
            Call("look", "[]"),
            Call("look", ""),
        ),
        Turn(Say("I see.")),
    ]
    async with chatting(database.dsn, script, tools=tools, kind=ProviderKind.OPENAI) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)
        results = [line for line in await chats.shown(chat) if " fails " in line or " says " in line]

    assert state["status"] == Status.WAITING, state
    assert [line.partition(" ")[2].partition(" ")[0] for line in results] == ["fails"] * 7 + ["says"]
    assert "out of paper" in results[0]
    assert "no tool 'nothing'" in results[2]
    assert "not valid JSON" in results[3]
    assert "twice" in results[4]
    assert "'Path'" in results[5]
    assert "one JSON object" in results[6]
    assert len(tools[2].calls) == 1


@pytest.mark.behaviour("LOOP-4")
async def test_an_exception_in_a_turn_ends_in_an_error_that_is_told(database: Any):
    async with chatting(database.dsn, [Turn(Say("Fine."))]) as chats:
        await chats.deployment.pool.execute('UPDATE model_configs SET options = \'{"temperature": "hot"}\'')
        chat = await chats.begin()
        state = await chats.resting(chat)
        await chats.deployment.pool.execute("UPDATE model_configs SET options = '{}'")
        await chats.send(chat, "again")
        after = await chats.resting(chat)

    assert (state["status"], after["status"]) == (Status.ERROR, Status.WAITING)
    assert "Something went wrong" in state["last_error"]


@pytest.mark.behaviour("LOOP-13")
async def test_a_turn_that_never_ends_is_stopped_with_a_message_that_people_see(
    database: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("chatd.core.turn.MOST_STEPS", 5)
    asked = 0

    def again(_: object) -> Turn:
        nonlocal asked
        asked += 1
        return Turn(Call("look", "{}"))

    async with chatting(database.dsn, again, tools=[ScriptedTool("look")], context_limit=1_000_000) as chats:
        chat = await chats.begin()
        state = await chats.resting(chat)
        last = (await chats.shown(chat))[-1]

    assert state["status"] == Status.WAITING
    assert last == "assistant: This turn was stopped after 5 steps. Send a message to let it go on."
    assert asked == 5


@pytest.mark.behaviour("LOOP-13")
async def test_steps_of_earlier_turns_do_not_count_after_a_compaction(database: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("chatd.core.turn.MOST_STEPS", 4)
    small, full = Usage(input_tokens=20, output_tokens=10), Usage(input_tokens=750, output_tokens=10)
    script = [
        *[Turn(Say("Hi."), usage=small)] * 3,
        Turn(Call("look", "{}"), usage=full),
        Turn(Say("We looked."), usage=small),  # the summary
        Turn(Say("Done."), usage=small),
    ]
    async with chatting(database.dsn, script, tools=[ScriptedTool("look")]) as chats:
        chat = await chats.begin()
        await chats.resting(chat)
        for _ in range(3):
            await chats.send(chat, "more")
            await chats.resting(chat)
        shown = await chats.shown(chat)

    assert shown[-1] == "assistant: Done."


@pytest.mark.behaviour("LOOP-4")
async def test_a_tool_that_returns_nonsense_is_an_error_that_the_model_sees(database: Any):
    async def nothing(call: ToolCall) -> Any:
        return None

    tools = [ScriptedTool("look", nothing), ScriptedTool("read")]
    async with chatting(
        database.dsn, [Turn(Call("look", "{}"), Call("read", "{}")), Turn(Say("Done."))], tools=tools
    ) as (chats):
        chat = await chats.begin()
        state = await chats.resting(chat)
        shown = await chats.shown(chat)

    assert state["status"] == Status.WAITING
    assert [line.split("{")[0] for line in shown[3:]] == ["look fails ", "read says ", "assistant: Done."]


class Failing:
    """A turn's reads fail with what a database that is away would raise, so many times."""

    def __init__(self, patch: pytest.MonkeyPatch, times: int) -> None:
        self.left = times
        read = SqlStore.get_turn_context

        async def away(store: SqlStore, **args: Any) -> Any:
            if self.left:
                self.left -= 1
                raise TimeoutError("no answer")
            return await read(store, **args)

        patch.setattr(SqlStore, "get_turn_context", away)


@pytest.mark.behaviour("LOOP-4")
@pytest.mark.parametrize("times", [MOST_STUMBLES, MOST_STUMBLES + 1])
async def test_a_turn_that_can_not_go_on_is_tried_again_for_a_while_and_then_ends_in_an_error(
    database: Any, monkeypatch: pytest.MonkeyPatch, times: int
):
    async with chatting(database.dsn, [Turn(Say("Fine."))]) as chats:
        failing = Failing(monkeypatch, times)
        chat = await chats.begin()
        for stumble in range(MOST_STUMBLES):
            await chats.fake_clock.wait_for("stumble")
            await chats.fake_clock.advance(0.5 * 2**stumble)
        state = await chats.resting(chat)
        asked = len(chats.vendor.asked)

    assert failing.left == 0
    if times > MOST_STUMBLES:
        assert (state["status"], asked) == (Status.ERROR, 0)
        assert "Something went wrong" in state["last_error"]
    else:
        assert (state["status"], asked) == (Status.WAITING, 1)


@pytest.mark.behaviour("LOOP-4")
async def test_a_tool_that_never_ends_is_stopped_in_the_end_and_one_that_times_out_itself_says_so(database: Any):
    async def hang(call: ToolCall) -> ToolOutput:
        await asyncio.Event().wait()
        return said("never")

    async def time_out(call: ToolCall) -> ToolOutput:
        raise TimeoutError("no answer from the printer")

    tools = [ScriptedTool("hang", hang, Traits(most_seconds=600)), ScriptedTool("print", time_out)]
    script = [Turn(Call("hang", "{}"), Call("print", "{}")), Turn(Say("Done."))]
    async with chatting(database.dsn, script, tools=tools) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("tool limit")
        await chats.fake_clock.advance(600)
        await chats.resting(chat)
        shown = await chats.shown(chat)

    assert shown[3] == 'hang fails {"error":"The tool did not end within 600 seconds and was stopped."}'
    assert "no answer from the printer" in shown[4]
    assert shown[5] == "assistant: Done."


@pytest.mark.behaviour("LOOP-4")
async def test_rows_that_can_not_be_stored_do_not_keep_a_turn_running(database: Any, monkeypatch: pytest.MonkeyPatch):
    finish_error = SqlStore.finish_error
    refused = 0

    async def refuse_rows(self: SqlStore, **args: Any) -> Any:
        nonlocal refused
        if args["rows"]:
            refused += 1
            raise asyncpg.DataError("invalid byte sequence")
        return await finish_error(self, **args)

    half = Turn(Say("Half", " of it"), faults=[Cut(after_events=4)])
    denied = Refuse(401, "invalid x-api-key", type="authentication_error")
    async with chatting(database.dsn, [half, denied]) as chats:
        monkeypatch.setattr(SqlStore, "finish_error", refuse_rows)
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        await chats.fake_clock.advance(1)
        state = await chats.resting(chat)

    assert (state["status"], refused, len(chats.vendor.asked)) == (Status.ERROR, 1, 2)


async def test_what_was_said_before_a_pause_is_shown_again_in_the_attempt_after_a_failure(database: Any):
    go = asyncio.Event()
    script = [
        Turn(Say("First."), finish=FinishReason.PAUSE),
        Refuse(529, "Overloaded.", type="overloaded_error"),
        Turn(Say("Then."), faults=[Hold(go, before_event=4)]),
    ]
    async with chatting(database.dsn, script) as chats:
        chat = await chats.begin()
        await chats.fake_clock.wait_for("retry")
        await chats.fake_clock.advance(1)
        await chats.streamed(chat, "Then.")
        episode = chats.parts.episodes.current(chat)
        assert episode is not None
        live = b"".join(episode.after(0))
        go.set()
        await chats.resting(chat)
        shown = await chats.shown(chat)

    assert (live.count(b"First."), live.count(b"Then.")) == (1, 1)
    assert shown == ["user: hello", "assistant: First.", "assistant: Then."]
