"""The first template of a deployment, so that there is something to make a workspace of."""

from typing import Final

from chatd.clock import Clock
from chatd.core.access import PROVISIONER
from chatd.core.workspaces.kinds import ProvisionerKind
from chatd.minting import uuid7
from chatd.store.actor import acting_as
from chatd.store.store import Store

_README: Final = """\
A folder on the server's machine with a shell, confined by bubblewrap: it sees the system's programs and its own home,
and nothing of the server or of other workspaces. It reaches public addresses of the network only. Files stay when it is
stopped.
"""


async def seed_template(store: Store, clock: Clock) -> None:
    """Once in the life of a deployment, however many servers start at once; not again when someone has deleted it."""
    with acting_as(PROVISIONER):
        await store.seed_template(
            id=uuid7(clock.now()),
            name="local",
            display_name="Local sandbox",
            description="A sandbox on the server's machine with a shell, for running commands and editing files.",
            icon="",
            readme=_README,
            provisioner=ProvisionerKind.LOCAL,
            config="{}",
        )
