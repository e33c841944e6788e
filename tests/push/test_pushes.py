"""Messages on their way: retried a little, bounded, counted, and logged without their secret address."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chatd.background import beside
from chatd.core.push_message import trial_message
from chatd.core.secret import Secret
from chatd.observe.tallies import Tallies
from chatd.providers.guarded import Allowed, open_guarded
from chatd.push import pushes as module
from chatd.push.encryption import BrowserKeys, from_base64url
from chatd.push.pushes import Pushes
from chatd.push.sender import ATTEMPT_SECONDS, Sender
from chatd.push.subscriptions import Subscription
from chatd.push.vapid import PushKey
from chatd.testing.fake_clock import FakeClock
from chatd.testing.push_server import Answer, Browser, PushServer, push_server
from store.world import new_id

USER = new_id()
PATIENCE = 20


class Stored:
    """Browsers of a user, as the cache has them, and which of them were removed."""

    def __init__(self, browsers: Sequence[Browser]) -> None:
        self.found = [_subscription(browser) for browser in browsers]
        self.dropped: list[UUID] = []
        self.told = 0

    def known(self, _: UUID) -> Sequence[Subscription] | None:
        return self.found

    async def of(self, _: UUID) -> Sequence[Subscription]:
        return self.found

    async def drop_push_subscription(self, *, id: UUID) -> int:
        self.dropped.append(id)
        return 1

    def note(self) -> None:
        self.told += 1


def _subscription(browser: Browser) -> Subscription:
    given = browser.subscription()
    keys = BrowserKeys(from_base64url(given["p256dh_key"]), Secret(given["auth_key"]))
    return Subscription(new_id(), given["endpoint"], keys)


class Sending:
    def __init__(self, service: PushServer, browser: Browser, stored: Stored, clock: FakeClock, pushes: Pushes):
        self.service = service
        self.browser = browser
        self.stored = stored
        self.clock = clock
        self.pushes = pushes
        self.counted: Tallies = pushes._counted

    def counts(self) -> dict[str, int]:
        return {labels[0]: tally.value for labels, tally in self.counted._children.items()}

    async def idle(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.pushes.alive:
                await asyncio.get_running_loop().run_in_executor(None, lambda: None)


@asynccontextmanager
async def sending(folder: Path) -> AsyncIterator[Sending]:
    clock = FakeClock()
    async with (
        push_server(folder, clock=clock) as service,
        open_guarded(Allowed(["127.0.0.0/8"]), ca=service.ca) as client,
    ):
        browser = service.browser()
        stored: Any = Stored([browser])
        sender = Sender(client, PushKey.new(), clock=clock, contact="mailto:ada@example.com")
        counted = Tallies("x", "x", ("outcome",))
        pushes = Pushes(stored, stored, sender, clock=clock, counted=counted, on_gone=stored.note)
        async with beside({"pushes": pushes.run()}):
            await clock.advance(0)
            yield Sending(service, browser, stored, clock, pushes)


async def test_a_busy_push_server_is_asked_again_after_the_time_that_it_says(tmp_path: Path):
    async with sending(tmp_path) as sent:
        sent.service.answers = [Answer(429, {"retry-after": "7"}), Answer(503)]
        sent.pushes.start(USER, trial_message())
        await sent.clock.wait_for("push retry")
        await sent.clock.advance(6.9)
        assert sent.service.requests == 1
        await sent.clock.advance(0.1)
        await sent.service.until(requests=2)
        await sent.clock.wait_for("push retry")
        await sent.clock.advance(8)
        await sent.idle()

    assert sent.counts() == {"busy": 2, "sent": 1}
    assert len(sent.browser.received) == 1


async def test_it_is_given_up_after_three_tries(tmp_path: Path):
    async with sending(tmp_path) as sent:
        sent.service.answers = [Answer(500)] * 5
        sent.pushes.start(USER, trial_message())
        for attempt, pause in enumerate((2, 8), start=1):
            await sent.clock.wait_for("push retry")
            await sent.clock.advance(pause - 0.1)
            assert (sent.service.requests, "push retry" in sent.clock.parked()) == (attempt, True)
            await sent.clock.advance(0.1)
        await sent.idle()

    assert sent.counts() == {"busy": 3}
    assert sent.pushes._of_origin == {}  # nothing is kept of a push service that nobody waits for


@pytest.mark.parametrize("answer", [Answer(429, {"retry-after": "3600"}), Answer(413), Answer(400), Answer(307)])
async def test_where_waiting_helps_nothing_it_is_given_up_at_once(tmp_path: Path, answer: Answer):
    async with sending(tmp_path) as sent:
        sent.service.answers = [answer]
        sent.pushes.start(USER, trial_message())
        await sent.idle()

    assert sent.service.requests == 1
    assert sent.counts() == {"busy" if answer.status == 429 else "refused": 1}
    assert sent.stored.dropped == []


@pytest.mark.behaviour("SIDE-2")
@pytest.mark.parametrize("status", [404, 410])
async def test_a_browser_that_is_gone_is_removed_and_told_of(tmp_path: Path, status: int):
    async with sending(tmp_path) as sent:
        sent.service.answers = [Answer(status)]
        sent.pushes.start(USER, trial_message())
        await sent.idle()

    assert sent.stored.dropped == [sent.stored.found[0].id]
    assert (sent.stored.told, sent.counts()) == (1, {"gone": 1})


async def test_a_push_server_that_does_not_answer_is_given_up_in_time(tmp_path: Path):
    async with sending(tmp_path) as sent:
        sent.service.answers = [Answer(hold=asyncio.Event())] * 3
        sent.pushes.start(USER, trial_message())
        for pause in (2, 8, 0):
            await sent.clock.wait_for("push")
            await sent.clock.advance(ATTEMPT_SECONDS)
            if pause:
                await sent.clock.wait_for("push retry")
                await sent.clock.advance(pause)
        await sent.idle()

    assert sent.counts() == {"unreachable": 3}


async def test_a_dead_push_server_leaves_room_for_another(tmp_path: Path):
    (tmp_path / "other").mkdir()
    async with sending(tmp_path) as sent, push_server(tmp_path / "other", clock=sent.clock) as other:
        sent.service.answers = [Answer(hold=asyncio.Event())] * 100
        for _ in range(50):
            sent.pushes.start(USER, trial_message())
        await sent.clock.wait_for("push", module._MOST_OF_ORIGIN)
        # Its certificate is another one, so the connection is refused: that it is tried at all is what counts.
        sent.stored.found = [_subscription(other.browser())]
        sent.pushes.start(USER, trial_message())
        async with asyncio.timeout(PATIENCE):
            while "unreachable" not in sent.counts():
                await asyncio.get_running_loop().run_in_executor(None, lambda: None)

        assert sent.clock.parked().count("push") == module._MOST_OF_ORIGIN
        assert sent.pushes.alive == 51


async def test_what_is_too_many_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MOST_ALIVE", 3)
    async with sending(tmp_path) as sent:
        sent.service.answers = [Answer(hold=asyncio.Event())] * 10
        for _ in range(5):
            sent.pushes.start(USER, trial_message())

        assert (sent.pushes.alive, sent.counts()) == (3, {"dropped": 2})


async def test_who_waits_for_a_message_waits_for_seconds_at_most(tmp_path: Path):
    async with sending(tmp_path) as sent, asyncio.TaskGroup() as tasks:
        sent.service.answers = [Answer(hold=asyncio.Event())] * 10
        for _ in range(6):
            sent.pushes.start(USER, trial_message())
        await sent.clock.wait_for("push", module._MOST_OF_ORIGIN)
        waiting = tasks.create_task(sent.pushes.send(USER, trial_message()))
        await sent.clock.wait_for("push trial")
        for _ in range(2):
            await sent.clock.advance(ATTEMPT_SECONDS)
        [said] = await waiting

        assert said.outcome == "unreachable"


async def test_a_database_that_is_away_does_not_matter_when_a_browser_is_gone(tmp_path: Path):
    async def away(**_: Any) -> int:
        raise ConnectionError("away")

    async with sending(tmp_path) as sent:
        sent.stored.drop_push_subscription = away
        sent.service.answers = [Answer(410)]
        [said] = await sent.pushes.send(USER, trial_message())

    assert (said.outcome, sent.stored.told) == ("gone", 0)


async def test_before_and_after_it_runs_nothing_is_sent(tmp_path: Path):
    async with sending(tmp_path) as sent:
        pass
    sent.pushes.start(USER, trial_message())

    assert sent.counts() == {"dropped": 1}


async def test_nobody_can_send_with_what_is_in_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    async with sending(tmp_path) as sent:
        sent.service.answers = [Answer(400), Answer(410)]
        for _ in range(2):
            sent.pushes.start(USER, trial_message())
            await sent.idle()
    told = "".join(capsys.readouterr())

    assert sent.service.url in told
    assert sent.browser.endpoint.rpartition("/")[2] not in told
    assert sent.browser.endpoint not in repr(sent.stored.found)
