"""What all runners of a replica share."""

import asyncio

import msgspec

from chatd.clock import Clock
from chatd.engine.around import NO_VISITS, Around, Nobody, Visits
from chatd.engine.checkpoints import Checkpoints
from chatd.engine.drop_warnings import DropWarnings
from chatd.engine.episodes import Episodes
from chatd.engine.histories import Histories
from chatd.engine.meter import NO_METER, EngineMeter
from chatd.engine.model_calls import ModelCalls
from chatd.engine.preparing import Preparing
from chatd.engine.recent_messages import RecentMessages
from chatd.store.chat_watch import ChatWatch
from chatd.store.store import Store
from chatd.store.transitions import Transitions
from chatd.workspaces.resolving import NoWorkspaces, Resolver


class EngineParts(msgspec.Struct, frozen=True, kw_only=True):
    store: Store
    transitions: Transitions
    watch: ChatWatch
    histories: Histories
    episodes: Episodes
    checkpoints: Checkpoints
    preparing: Preparing
    calls: ModelCalls
    clock: Clock
    around: Around = Nobody()
    draining: asyncio.Event  # set: let go after the step under way
    meter: EngineMeter = NO_METER
    recent: RecentMessages = msgspec.field(default_factory=RecentMessages)
    drops: DropWarnings | None = None
    workspaces: Resolver = NoWorkspaces()
    visits: Visits = NO_VISITS
