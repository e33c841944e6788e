"""All that people do with chats, for the routes."""

from uuid import UUID

import msgspec

from chatd.clock import Clock
from chatd.diffs.asking import DiffFinder
from chatd.engine.models import Models
from chatd.server.chats.changing import Changing
from chatd.server.chats.creating import Creating
from chatd.server.chats.diffing import Diffing
from chatd.server.chats.exporting import Exporting
from chatd.server.chats.forking import Forking
from chatd.server.chats.listing import Listing
from chatd.server.chats.queueing import Queueing
from chatd.server.chats.reading import Reading
from chatd.server.chats.refreshing import Refreshing
from chatd.server.chats.retitling import Retitling
from chatd.server.chats.sending import Sending
from chatd.server.chats.steering import Steering
from chatd.server.engine_room import Engine
from chatd.store.hints import Hints
from chatd.store.store import Store


class Chats(msgspec.Struct, frozen=True, kw_only=True):
    creating: Creating
    reading: Reading
    listing: Listing
    sending: Sending
    queueing: Queueing
    steering: Steering
    changing: Changing
    retitling: Retitling
    exporting: Exporting
    forking: Forking
    refreshing: Refreshing
    diffing: Diffing


def chats_of(
    store: Store,
    engine: Engine,
    models: Models,
    hints: Hints,
    clock: Clock,
    organization_id: UUID,
    finder: DiffFinder,
) -> Chats:
    listing = Listing(store)
    reading = Reading(store, listing)
    return Chats(
        creating=Creating(store, engine, models, clock, organization_id),
        reading=reading,
        listing=listing,
        sending=Sending(store, engine, models),
        queueing=Queueing(store, engine, models),
        steering=Steering(store, engine, reading),
        changing=Changing(store, engine, reading, hints),
        retitling=Retitling(store, engine, reading, clock),
        exporting=Exporting(store, reading, clock),
        forking=Forking(store, engine, reading, clock),
        refreshing=Refreshing(store, engine, reading, hints),
        diffing=Diffing(store, reading, finder),
    )
