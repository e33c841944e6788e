"""What is heard of a chat of another replica: parts in their order, each once, whatever is told."""

import pytest

from chatd.core.stored_previews import encode_previews
from chatd.engine import episodes
from chatd.engine.episodes import Episode
from chatd.observe.metrics import Metrics
from chatd.server.relay.frames import Following, FrameRefused, Parts
from chatd.server.relay.remote_chat import RemoteChat
from chatd.testing.fake_clock import FakeClock
from server.relay.relaying import CHAT, text


def remote_chat() -> tuple[RemoteChat, Episode]:
    mirrors = list[Episode]()
    remote = RemoteChat(CHAT, (0, 0), mirrors.append, FakeClock(), Metrics().streams.received, None)
    remote.hear(Following(1, ((1, 1),)))
    return remote, mirrors[0]


def parts(first: int, *words: str) -> Parts:
    return Parts(1, (1, 1), first, encode_previews([text(word) for word in words]))


def test_parts_that_leave_some_out_or_can_not_be_read_are_refused():
    remote, mirror = remote_chat()
    remote.hear(parts(1, "a"))
    for wrong in (parts(3, "c"), Parts(1, (1, 1), 2, "nothing")):
        with pytest.raises(FrameRefused):
            remote.hear(wrong)

    assert mirror.last == 1


def test_parts_that_found_no_room_are_counted_once_however_often_they_come(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(episodes, "MOST_BYTES", 1000)
    remote, mirror = remote_chat()
    for _ in range(2):
        remote.hear(parts(1, "a", "b" * 1000, "c"))
    remote.hear(parts(4, "d"))

    assert (mirror.last, mirror.dropped) == (1, 3)
