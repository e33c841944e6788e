"""What a browser is told: short, on one line each, and never empty."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.labels import Ending
from chatd.core.push_message import FINISHED, PushMessage, turn_message
from chatd.minting import uuid7
from chatd.testing.fake_clock import START

CHAT = uuid7(START)
MOST_BYTES = 3993  # of a message, for 4096 encrypted
text = st.text(max_size=2000) | st.text('"\\\U0001f600\n\t\x00', max_size=2000)


def told(**given: str | None) -> PushMessage:
    fields = {"title": "A chat", "label": None, "error": None, **given}
    return turn_message(
        Ending.FAILED if fields["error"] else Ending.FINISHED,
        chat_id=CHAT,
        title=fields["title"] or "",
        history=(),
        label=fields["label"],
        error=fields["error"],
    )


def test_a_message_has_the_shape_of_the_reference():
    assert msgspec.json.decode(told(label="Fixed it").encode()) == {
        "title": "A chat",
        "body": "Fixed it",
        "icon": "/favicon.ico",
        "data": {"url": f"/agents/{CHAT}"},
    }


def test_what_is_not_known_has_fixed_words():
    assert (told(title="").title, told().body) == ("New chat", FINISHED)


@given(text, text, text)
def test_whatever_is_said_a_push_server_takes_it(title: str, label: str, error: str):
    message = told(title=title, label=label, error=msgspec.json.encode({"message": error}).decode())
    plain = told(title=title, label=label)

    for one in (message, plain):
        assert len(one.encode()) <= MOST_BYTES
        assert one.title.strip()
        assert one.body.strip()
        assert "\n" not in one.title + one.body
