"""What a replica committed itself is at hand for its readers: bounded, and never more than is known to be whole."""

from typing import Any
from uuid import UUID

import msgspec
import pytest

from chatd.core.messages import Message
from chatd.core.parts import TextPart
from chatd.core.roles import Role, Visibility
from chatd.engine.recent_messages import MOST_BYTES_OF_CHAT, MOST_MESSAGES, RecentMessages
from chatd.store.queries import AddedMessage, ChatChange
from chatd.store.transitions import Applied
from chatd.testing.fake_clock import START

CHAT = UUID(int=7)


def change(snapshot: int, *, before: int, history: int | None = None, **fields: Any) -> ChatChange:
    nothing: dict[str, Any] = {field.name: None for field in msgspec.structs.fields(ChatChange)}
    known: dict[str, Any] = {
        "chat_id": CHAT,
        "snapshot_version": snapshot,
        "history_version": snapshot if history is None else history,
        "history_before": before,
    }
    return ChatChange(**(nothing | known | fields))


def commit(
    snapshot: int,
    *ids: int,
    before: int,
    visibility: Visibility = Visibility.BOTH,
    text: str = "",
    chat_id: UUID = CHAT,
    **fields: Any,
) -> Applied:
    messages = tuple(
        Message(
            id=id,
            chat_id=chat_id,
            created_at=START,
            revision=snapshot,
            role=Role.USER,
            parts=(TextPart(text=text),),
            visibility=visibility,
        )
        for id in ids
    )
    fields["chat_id"] = chat_id
    return Applied(change(snapshot, before=before, **fields), messages)


@pytest.fixture
def recent() -> RecentMessages:
    recent = RecentMessages()
    recent.listen(CHAT, lambda _: None)
    return recent


def after(recent: RecentMessages, history: int) -> list[int] | None:
    chat = recent.get(CHAT)
    found = chat and chat.after(history)
    return None if found is None else [one.message.id for one in found]


@pytest.mark.behaviour("STREAM-2")
def test_what_followed_a_version_is_known_from_the_first_commit_on(recent: RecentMessages):
    recent.note(commit(5, 50, before=4))
    recent.note(commit(6, before=5, history=5))
    recent.note(commit(7, 70, 71, before=5))

    assert after(recent, 4) == [50, 70, 71]
    assert after(recent, 5) == [70, 71]
    assert after(recent, 7) == []
    assert after(recent, 3) is None, "what came before is not known"
    assert after(recent, 8) is None, "others have gone on"


@pytest.mark.behaviour("STREAM-2")
def test_readers_are_told_when_it_is_there_already():
    recent, told = RecentMessages(), list[tuple[int, list[int] | None]]()
    stop = recent.listen(CHAT, lambda snapshot: told.append((snapshot, after(recent, 4))))
    recent.note(commit(5, 50, before=4))
    stop()
    recent.note(commit(6, 60, before=5))

    assert told == [(5, [50])]
    assert recent.get(CHAT) is None, "nobody follows it"


@pytest.mark.behaviour("STREAM-2")
def test_it_holds_256_messages_of_a_chat(recent: RecentMessages):
    for number in range(1, MOST_MESSAGES + 11):
        recent.note(commit(number, number, before=number - 1))

    assert after(recent, 9) is None
    assert after(recent, 10) == list(range(11, MOST_MESSAGES + 11))


@pytest.mark.behaviour("STREAM-2")
def test_an_edit_leaves_nothing_but_the_edited_message(recent: RecentMessages):
    recent.note(commit(5, 50, before=4))
    recent.note(commit(6, 60, before=5, deleted_ids=[50]))
    chat = recent.get(CHAT)

    assert chat is not None
    assert [one.message.id for one in chat.messages] == [60]
    assert after(recent, 5) is None, "who has the hidden ones reads anew"
    recent.note(commit(7, 70, before=6))
    assert after(recent, 6) == [70]


def test_what_others_changed_meanwhile_is_not_passed_over(recent: RecentMessages):
    recent.note(commit(5, 50, before=4))
    recent.note(commit(8, 80, before=7))

    assert after(recent, 5) is None
    assert after(recent, 7) == [80]


def test_an_answer_that_was_overtaken_changes_nothing(recent: RecentMessages):
    recent.note(commit(5, 50, before=4))
    recent.note(commit(7, 70, before=6))
    recent.note(commit(6, 60, before=5))

    assert after(recent, 6) == [70]
    assert after(recent, 5) is None


def test_what_only_models_see_is_left_out(recent: RecentMessages):
    recent.note(commit(5, 50, before=4, visibility=Visibility.MODEL))

    assert after(recent, 4) == []


def test_a_draft_that_the_database_stored_is_read(recent: RecentMessages):
    draft = AddedMessage(60, Role.ASSISTANT, Visibility.BOTH, "[]", 1, None, None, None, None)
    recent.note(commit(5, 50, before=4))
    recent.note(commit(6, 60, before=5, added=[draft]))

    assert after(recent, 5) is None, "its usage is known to the database alone"
    assert after(recent, 6) == []


@pytest.mark.behaviour("STREAM-2")
def test_long_messages_leave_room_for_fewer(recent: RecentMessages):
    text = "x" * (MOST_BYTES_OF_CHAT // 10)
    for number in range(1, 21):
        recent.note(commit(number, number, before=number - 1, text=text))
    chat = recent.get(CHAT)

    assert chat is not None
    assert chat.size <= MOST_BYTES_OF_CHAT
    assert after(recent, 20 - len(chat.messages)) == [one.message.id for one in chat.messages]
    assert after(recent, 19 - len(chat.messages)) is None, "what is gone is read"


@pytest.mark.behaviour("STREAM-2")
def test_a_message_that_is_too_long_is_read_and_what_follows_it_is_at_hand(recent: RecentMessages):
    recent.note(commit(5, 50, before=4))
    recent.note(commit(6, 60, before=5, text="x" * MOST_BYTES_OF_CHAT))
    recent.note(commit(7, 70, before=6))

    assert after(recent, 5) is None
    assert after(recent, 6) == [70]


@pytest.mark.behaviour("STREAM-2")
def test_when_all_chats_are_too_much_those_that_rest_for_longest_go():
    recent, chats = RecentMessages(most_bytes=100_000), [UUID(int=number) for number in range(1, 7)]
    stops = [recent.listen(chat, lambda _: None) for chat in chats]
    for chat in (*chats[:5], chats[0], chats[5]):
        snapshot = 2 if recent.get(chat) else 1
        recent.note(commit(snapshot, snapshot, before=snapshot - 1, text="x" * 7_500, chat_id=chat))
    kept = [recent.get(chat) is not None for chat in chats]
    recent.note(commit(3, 3, before=2, chat_id=chats[1]))
    back = recent.get(chats[1])

    assert kept == [True, False, True, True, True, True]
    assert sum(found.size for chat in chats if (found := recent.get(chat))) <= 100_000
    assert back is not None, "it is kept again from its next change on"
    assert back.since == 2
    for stop in stops:
        stop()
    assert recent._size == 0
