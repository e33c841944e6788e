"""What the offline commands share: the database itself, as the operator, whether or not a server runs."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import typer

from chatd.clock import SystemClock
from chatd.core.access import OPERATOR
from chatd.core.errors import ChatdError, StartRefused
from chatd.observe.logs import configure_logs
from chatd.server.accounts import Accounts, Client
from chatd.server.compose import OpenStore, open_accounts, open_store
from chatd.server.settings import LoadedSettings, load_settings
from chatd.store.actor import Origin, acting_as, asking_from
from chatd.store.keeper.paths import DataDirectory
from chatd.store.queries import User
from chatd.store.store import Store

Result = TypeVar("Result")

CLIENT = Client("operator", "chatd command line")
ConfigOption = Annotated[Path | None, typer.Option("--config", help="A TOML file with settings.")]
DataDirOption = Annotated[Path | None, typer.Option("--data-dir", help="The data directory of the server.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Offline(msgspec.Struct, frozen=True):
    opened: OpenStore
    accounts: Accounts
    loaded: LoadedSettings

    @property
    def store(self) -> Store:
        return self.opened.store


def run_offline(
    action: Callable[[Offline], Awaitable[Result]], *, config: Path | None = None, data_dir: Path | None = None
) -> Result:
    """Open the store with the server's settings and act as the operator. Running servers notice within seconds."""
    flags = {"config": config, "data_dir": data_dir}
    loaded = load_settings(
        environ=os.environ,
        flags={name: str(value) for name, value in flags.items() if value is not None},
        cwd=Path.cwd(),
    )
    configure_logs(format="text", level="warning")
    settings = loaded.settings
    if settings.database_url is None and not DataDirectory.of(settings.data_dir).password.exists():
        raise StartRefused(
            f"There is no chatd in {settings.data_dir}.",
            detail="Go to the folder where the server was started, or name its data directory with --data-dir.",
        )

    async def run() -> Result:
        async with _open(loaded) as offline:
            with acting_as(OPERATOR), asking_from(Origin(client_address="command line")):
                return await action(offline)

    return asyncio.run(run())


@asynccontextmanager
async def _open(loaded: LoadedSettings) -> AsyncIterator[Offline]:
    settings, clock = loaded.settings, SystemClock()
    async with open_store(settings, clock=clock) as opened:
        with open_accounts(opened, settings, clock=clock) as accounts:
            yield Offline(opened, accounts, loaded)


async def find_user(store: Store, login: str) -> User:
    """By username or email address."""
    user = await store.get_user_by_login(login=login)
    if user is None:
        raise ChatdError(f"There is no user {login}.")
    return user
