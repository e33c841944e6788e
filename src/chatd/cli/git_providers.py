"""`chatd git-providers`: hosts of repositories, without signing in. For whoever runs the server."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from msgspec import UNSET

from chatd.cli.offline import ConfigOption, DataDirOption, JsonOption, Offline, run_offline
from chatd.cli.tables import show
from chatd.clock import SystemClock
from chatd.core.access import OPERATOR
from chatd.core.errors import ChatdError
from chatd.core.git_host_kind import HostKind
from chatd.git_hosts.asking import open_session
from chatd.server.git_providers import GitProviders
from chatd.wire import git_providers as wire

app = typer.Typer(
    name="git-providers", help="Hosts of repositories that are asked about pull requests.", no_args_is_help=True
)
Host = Annotated[str, typer.Argument(help="As remotes name it, such as github.com.")]
ApiUrl = Annotated[str | None, typer.Option("--api-url", help="Where its API is, if not at the usual place.")]
Result = TypeVar("Result")


def _ask_token() -> str:
    """From a terminal without showing it; otherwise one line of standard input. Never an argument, which others see."""
    if sys.stdin.isatty():
        return typer.prompt("Token", hide_input=True)
    return sys.stdin.readline().rstrip("\n")


def _run(
    act: Callable[[GitProviders], Awaitable[Result]], *, config: Path | None = None, data_dir: Path | None = None
) -> Result:
    async def run(offline: Offline) -> Result:
        settings, clock = offline.loaded.settings, SystemClock()
        no_proxy = ",".join(settings.outbound_no_proxy)
        async with open_session(
            clock, proxy=settings.outbound_proxy, no_proxy=no_proxy, ca=settings.outbound_ca
        ) as session:
            return await act(GitProviders(offline.store, session, clock, lambda: None))

    return run_offline(run, config=config, data_dir=data_dir)


async def _named(providers: GitProviders, host: str) -> wire.GitProvider:
    found = next((each for each in await providers.all() if each.host == host.lower()), None)
    if found is None:
        raise ChatdError(f"{host} is not configured.", detail="Add it: chatd git-providers add --help")
    return found


@app.command("list")
def list_(as_json: JsonOption = False, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """List the configured hosts."""
    found = _run(lambda providers: providers.all(), config=config, data_dir=data_dir)
    rows: list[dict[str, object]] = [
        {
            "host": each.host,
            "kind": each.kind.value,
            "api_url": each.api_url,
            "token": "yes" if each.has_token else "no",
            "updated": each.updated_at,
        }
        for each in found
    ]
    columns = ["host", "kind", "api_url", "token", "updated"]
    show(rows, columns=columns, as_json=as_json, empty="No git providers. Add one: chatd git-providers add --help")


@app.command()
def add(
    host: Host,
    kind: Annotated[HostKind, typer.Option(help="Which API it speaks.")] = HostKind.GITHUB,
    api_url: ApiUrl = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Add a host. Its token is asked for, or read from standard input."""
    asked = wire.CreateGitProvider(kind=kind, host=host, token=_ask_token(), api_url=api_url)
    made = _run(lambda providers: providers.create(asked), config=config, data_dir=data_dir)
    print(f"Added {made.host} ({made.kind}, {made.api_url}).")


@app.command()
def change(
    host: Host,
    kind: Annotated[HostKind | None, typer.Option(help="Which API it speaks.")] = None,
    api_url: ApiUrl = None,
    token: Annotated[bool, typer.Option("--token", help="Ask for another token.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Change a host. What is not given stays."""
    asked = wire.UpdateGitProvider(
        kind=UNSET if kind is None else kind,
        api_url=UNSET if api_url is None else api_url,
        token=_ask_token() if token else UNSET,
    )

    async def act(providers: GitProviders) -> wire.GitProvider:
        return await providers.change((await _named(providers, host)).id, asked)

    changed = _run(act, config=config, data_dir=data_dir)
    print(f"Changed {changed.host} ({changed.kind}, {changed.api_url}).")


@app.command()
def remove(host: Host, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Remove a host; its token is forgotten."""

    async def act(providers: GitProviders) -> None:
        await providers.delete((await _named(providers, host)).id)

    _run(act, config=config, data_dir=data_dir)
    print(f"Removed {host}.")


@app.command("test")
def ask_host(host: Host, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Ask the host whose the stored token is. Exit code 1 when it does not take it."""

    async def act(providers: GitProviders) -> wire.GitProviderTest:
        return await providers.test((await _named(providers, host)).id, OPERATOR)

    result = _run(act, config=config, data_dir=data_dir)
    if not result.ok:
        raise ChatdError(result.message)
    print(result.message)


def register(root: typer.Typer) -> None:
    root.add_typer(app)
