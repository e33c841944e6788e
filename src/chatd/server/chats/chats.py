"""All that people do with chats, for the routes."""

from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.engine.models import Models
from chatd.server.chats.creating import Creating
from chatd.server.chats.reading import Reading
from chatd.server.engine_room import Engine
from chatd.store.store import Store


class Chats(msgspec.Struct, frozen=True):
    creating: Creating
    reading: Reading


def chats_of(store: Store, engine: Engine, models: Models, clock: Clock, organization_id: UUID) -> Chats:
    return Chats(
        creating=Creating(store, engine, models, engine.deployment, clock, organization_id),
        reading=Reading(store),
    )
