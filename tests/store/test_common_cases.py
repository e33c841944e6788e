"""The common cases of send_message and commit_step, written out in place, come to the same as the general way."""

import random
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
import pytest
import pytest_asyncio

from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.reasoning import ReasoningEffort
from chatd.core.roles import Role, Visibility
from chatd.core.stored_parts import encode_parts
from chatd.core.usage import Usage
from chatd.store.queries import ChatChange, MessageRow
from chatd.store.transitions import Applied, Fence
from chatd.testing.postgres import Database
from store.stored_change import assert_stored
from store.transition_driver import Chats, answer, applied, fence, open_chats
from store.world import new_id

NOBODY = UUID(int=0)
MODEL = UUID(int=21)
ROOM = 1000  # a pool so large changes nothing, but asks for the general way
CASES = 60  # of some thousand, each option of each field several times
Options = dict[str, Any]
KEY = UUID(int=77)
SEND: dict[str, list[Any]] = {
    "model": [None, NOBODY, MODEL],
    "effort": [None, ReasoningEffort.LOW],
    "author": [UUID(int=31), NOBODY],
    "visibility": [None, Visibility.USER, Visibility.MODEL],
    "takes": [True, False],
    "child": [True, False],
    "owned by": [True, False],
    "held": [0, 1],
    "effort before": [None, ReasoningEffort.HIGH],
    "retried": [True, False],
    "from the future": [True, False, False],
    "key": [None, KEY],
    "planning": [None, True, False],
}
COMMIT: dict[str, list[Any]] = {
    "model": [None, NOBODY, MODEL],
    "effort": [None, ReasoningEffort.LOW],
    "author": [None, NOBODY, UUID(int=31)],
    "visibility": [Visibility.BOTH, Visibility.USER],
    "compressed": [True, False],
    "usage": [Usage(), Usage(input_tokens=0, output_tokens=0, total_tokens=0), Usage(input_tokens=3, output_tokens=2)],
    "more usage": [Usage(), Usage(output_tokens=9, reasoning_tokens=4, cache_creation_tokens=5, cache_read_tokens=6)],
    "context": [None, 0, 8000],
    "cost": [None, 0, 17],
    "runtime": [None, 0, 250],
    "compacted": [True, False],
    "wish": [True, False],
    "takeovers": [0, 2],
    "attempts": [1, 3],
    "child": [True, False],
    "held": [0, 1],
    "effort before": [None, ReasoningEffort.HIGH],
    "from the future": [True, False, False],
}
_FROM_THE_FUTURE = "UPDATE chat_state SET updated_at = '2100-01-01' WHERE chat_id = $1"


@pytest_asyncio.fixture
async def chats(database: Database) -> AsyncIterator[Chats]:
    async with open_chats(database.dsn) as opened:
        yield opened


def drawn(options: dict[str, list[Any]]) -> list[Options]:
    """The same cases every time."""
    source = random.Random(3)
    return [{name: source.choice(values) for name, values in options.items()} for _ in range(CASES)]


async def born(chats: Chats, case: Options, root: UUID, runner: UUID) -> Applied:
    """A chat that runs, with what the case wants it to have been through."""
    do = chats.transitions
    new = msgspec.structs.replace(
        chats.new_chat(parent=root if case["child"] else None), reasoning_effort=case["effort before"]
    )
    take = msgspec.structs.replace(chats.take(), runner_id=runner)
    made = applied(await do.create_chat(new, [chats.user("first")], take=take))
    for _ in range(case["held"]):
        queued = applied(await do.send_message(new.id, chats.user("held"))).change.queued_id or 0
        applied(await do.hold_queued(new.id, queued, holder=UUID(int=1)))
    return made


async def finished(chats: Chats, now: Fence, case: Options) -> None:
    if case.get("retried"):
        applied(await chats.transitions.record_retry(now, retry='{"a": 1}'))
    applied(await chats.transitions.commit_step(now, [answer("done")], finish=True))


async def both(
    chats: Chats, case: Options, root: UUID, change: Callable[[UUID, UUID, bool], Any]
) -> tuple[dict[str, object], dict[str, object]]:
    """What it comes to by the common and by the general way."""
    runner = new_id()
    told: list[dict[str, object]] = []
    for general in (False, True):
        made = await born(chats, case, root, runner)
        told.append(await comparable(chats, await change(made.change.chat_id, runner, general)))
    return told[0], told[1]


async def comparable(chats: Chats, change: ChatChange) -> dict[str, object]:
    """All of a chat and of the change, with names in place of ids and times that no two chats share."""
    view = await chats.look(change.chat_id)
    assert_stored(Applied(change, ()), {**view, "messages": []})
    ids = {row["id"]: f"message {at}" for at, row in enumerate(view["messages"])}
    here = {str(change.chat_id): "this chat", change.happened_at: "now"}

    def plain(name: str, value: Any) -> object:
        if isinstance(value, str) and name.endswith("_at"):
            value = datetime.fromisoformat(value)
        if isinstance(value, UUID):
            value = str(value)
        if name in ("id", "inserted_ids", "message_id"):
            return [ids[id] for id in value] if isinstance(value, list) else ids[value]
        return here.get(value, value) if isinstance(value, str | datetime) else value

    last = view["messages"][-1]
    sent = await chats.sql.get_send(chat_id=change.chat_id, key=KEY)
    return {
        "row": {name: plain(name, value) for name, value in view["state"].items()},
        "message": {name: plain(name, value) for name, value in last.items()},
        "change": {name: plain(name, getattr(change, name)) for name in change.__struct_fields__},
        "messages": len(view["messages"]),
        "held": len(view["queue"]),
        "planning": view["chat"]["plan_mode"],
        "sent": sent and {name: plain(name, getattr(sent, name)) for name in sent.__struct_fields__},
    }


@pytest.mark.behaviour("STATE-8")
async def test_a_message_to_an_idle_chat_comes_to_the_same_by_both_ways(chats: Chats):
    root = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user()], take=chats.take()))
    for case in drawn(SEND):
        taker = (chats.replica_id, new_id()) if case["takes"] else (None, None)

        async def send(id: UUID, runner: UUID, general: bool, case: Options = case, taker: Any = taker) -> ChatChange:
            state = (await chats.look(id))["state"]
            await finished(chats, Fence(id, runner, state["history_version"]), case)
            if case["from the future"]:
                await chats.raw(_FROM_THE_FUTURE, id)
            sent = await chats.sql.send_message(
                chat_id=id,
                only_owner=chats.owner.id if case["owned by"] else None,
                message=MessageRow(
                    Role.USER,
                    encode_parts([TextPart(text="sent")]),
                    1,
                    visibility=case["visibility"],
                    created_by=case["author"],
                    model_config_id=case["model"],
                    reasoning_effort=case["effort"],
                ),
                interrupts=False,
                file_ids=(),
                most_queued=20,
                most_files=50,
                send_key=case["key"],
                fingerprint=case["key"],
                planning=case["planning"],
                taker=taker[0],
                taker_runner=taker[1],
                root_capacity=ROOM if general else None,
                child_capacity=ROOM if general else None,
            )
            assert sent is not None
            return sent

        common, general = await both(chats, case, root.change.chat_id, send)

        assert common == general, case
        row = common["row"]
        assert isinstance(row, dict)
        model = MODEL if case["model"] == MODEL else chats.model_id
        assert (row["status"], row["last_model_config_id"]) == ("running", str(model))
        assert row["last_reasoning_effort"] == (case["effort"] or case["effort before"])
        assert row["generation_attempt"] == int(case["takes"])
        assert common["planning"] == bool(case["planning"])
        assert (common["sent"] is None) == (case["key"] is None)


@pytest.mark.behaviour("STATE-8")
async def test_an_answer_that_ends_the_turn_comes_to_the_same_by_both_ways(chats: Chats):
    root = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user()], take=chats.take()))
    for case in drawn(COMMIT):
        more = {name: count for name, count in msgspec.structs.asdict(case["more usage"]).items() if count}
        message = NewMessage(
            role=Role.ASSISTANT,
            parts=(TextPart(text="the end"),),
            visibility=case["visibility"],
            compressed=case["compressed"],
            created_by=case["author"],
            model_config_id=case["model"],
            reasoning_effort=case["effort"],
            usage=msgspec.structs.replace(case["usage"], **more),
            context_limit=case["context"],
            cost_microdollars=case["cost"],
            runtime_ms=case["runtime"],
        )

        async def commit(
            id: UUID, runner: UUID, general: bool, case: Options = case, message: NewMessage = message
        ) -> ChatChange:
            for _ in range(case["attempts"]):
                state = (await chats.look(id))["state"]
                applied(await chats.transitions.record_attempt(Fence(id, runner, state["history_version"])))
            # A draft that is said to be there is looked for, which only the general way does, and then it is gone.
            await chats.raw(
                "UPDATE chat_state SET has_draft = $2, takeovers = $3,"
                " compaction_requested_at = CASE WHEN $4 THEN updated_at END WHERE chat_id = $1",
                *(id, general, case["takeovers"], case["wish"]),
            )
            if case["from the future"]:
                await chats.raw(_FROM_THE_FUTURE, id)
            state = (await chats.look(id))["state"]
            now = Fence(id, runner, state["history_version"])
            return applied(
                await chats.transitions.commit_step(now, [message], finish=True, compacted=case["compacted"])
            ).change

        common, general = await both(chats, case, root.change.chat_id, commit)

        assert common == general, case
        row = common["row"]
        assert isinstance(row, dict)
        assert (row["status"], row["takeovers"], row["compaction_requested_at"]) == ("waiting", 0, None)
        assert row["last_reasoning_effort"] == (case["effort"] or case["effort before"])


@pytest.mark.behaviour("STATE-8")
async def test_a_turn_that_ends_ends_the_wait_for_its_retry(chats: Chats):
    made = applied(await chats.transitions.create_chat(chats.new_chat(), [chats.user()], take=chats.take()))
    applied(await chats.transitions.record_retry(fence(made), retry='{"a": 1}'))

    ended = applied(await chats.transitions.commit_step(fence(made), [answer("done")], finish=True))

    assert_stored(ended, await chats.look(ended.change.chat_id))
    assert (ended.change.retry_state, ended.change.retry_version) == (None, ended.change.snapshot_version)
