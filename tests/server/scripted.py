"""A whole replica whose model is a scripted vendor, and what a client of it does to a chat."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from chatd.clock import Clock
from chatd.core.messages import NewMessage
from chatd.core.outcomes import Refused
from chatd.core.parts import TextPart
from chatd.core.roles import Role
from chatd.store.actor import acting_as
from chatd.store.transitions import Applied, Outcome
from chatd.testing.vendors.script import Script
from chatd.testing.vendors.server import vendor_server
from server.configured_models import model, provider
from server.running import Running, running_server

MODEL = "scripted-model"


@asynccontextmanager
async def scripted_server(
    dsn: str, data_dir: Path, script: Script, *, clock: Clock | None = None, **more: Any
) -> AsyncIterator[Running]:
    """Titles are asked for in the background: the script is a function, or the first of them is for the first turn."""
    async with (
        vendor_server(script, clock=clock, models=[MODEL]) as vendor,
        running_server(dsn, data_dir, clock=clock, **more) as running,
    ):
        id = await provider(running.owner, "scripted", base_url=f"{vendor.url}/v1")
        await model(running.owner, id, MODEL, context_limit=100_000)
        yield running


async def send(running: Running, chat: UUID, text: str) -> Applied:
    """As the route does."""
    person = await running.replica.identity.authenticate(running.owner.token)
    assert person is not None
    engine = running.replica.engine
    message = NewMessage(role=Role.USER, parts=(TextPart(text=text),), created_by=person.user_id)
    with acting_as(person):
        sent = applied(await engine.transitions.send_message(chat, message, take=engine.worker.new_take()))
    engine.worker.adopt(sent)
    return sent


async def edit(running: Running, chat: UUID, message_id: int, text: str) -> Applied:
    person = await running.replica.identity.authenticate(running.owner.token)
    assert person is not None
    engine = running.replica.engine
    message = NewMessage(role=Role.USER, parts=(TextPart(text=text),), created_by=person.user_id)
    with acting_as(person):
        edited = applied(
            await engine.transitions.edit_message(chat, message_id, message, take=engine.worker.new_take())
        )
    engine.worker.adopt(edited)
    return edited


def applied(outcome: Outcome) -> Applied:
    assert not isinstance(outcome, Refused), outcome
    return outcome
