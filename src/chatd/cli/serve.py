"""`chatd serve`: one replica in this process, or a parent that keeps several."""

import os
import shutil
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final, Literal, NoReturn

import msgspec
import typer

import chatd
from chatd.cli.flags import settings_without_flags, takes_settings
from chatd.cli.same_database import SameDatabase, same_database
from chatd.clock import SystemClock
from chatd.core.errors import StartRefused
from chatd.core.secret import Secret
from chatd.observe.logs import configure_logs
from chatd.server.settings import LoadedSettings, Settings

if TYPE_CHECKING:
    from chatd.server.accounts import Accounts
    from chatd.server.compose import Replica
    from chatd.server.replicas import Seat

# How a parent tells a child its number and descriptors. Not CHATD_…: it is no setting.
_SEAT: Final = "_CHATD_SEAT"


def register(app: typer.Typer) -> None:
    app.command("serve", epilog=settings_without_flags())(takes_settings(serve))


def serve(loaded: LoadedSettings) -> None:
    """Start the server. Every setting can also stand in the environment or in a TOML file; flags win."""
    from chatd.server.serving import run

    settings = loaded.settings
    seat = os.environ.pop(_SEAT, None)
    text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    format: Literal["text", "json"] = "text" if text else "json"
    if seat is not None:
        _import_routes_meanwhile()
        sys.exit(run(lambda: _serve_seat(settings, seat, format)))
    configure_logs(format=format, level=settings.log_level)
    sock = _open_socket(settings)
    same = same_database(loaded, cwd=Path.cwd())
    if settings.replicas > 1:
        _end(run(lambda: _serve_many(settings, sock, same)))
    _import_routes_meanwhile()
    _end(run(lambda: _serve_one(settings, sock, same)))


def _end(code: int) -> NoReturn:
    print("\nchatd has stopped.", flush=True)
    sys.exit(code)


def _import_routes_meanwhile() -> None:
    """The web framework takes half a second to import: time enough for Postgres to start. Its import below waits."""
    import_module("chatd.server.compose")  # first, so that the two threads do not import the same things
    Thread(target=import_module, args=("chatd.server.replica_app",), name="imports", daemon=True).start()


async def _serve_one(settings: Settings, sock: socket.socket, same: SameDatabase) -> int:
    from chatd.server.compose import running_replica
    from chatd.server.discovery import has_only_demo

    async with running_replica(settings, clock=SystemClock()) as replica:
        code = await _setup_code(replica.accounts)
        only_demo = await has_only_demo(replica.opened.store)
        _say((*replica.opened.notes, *replica.workspaces.notes))
        greet = partial(_greet, settings, same=same, code=code, only_demo=only_demo)
        return await _serve_replica(settings, sock, replica, greet, on_stop=partial(_say_stopping, settings))


async def _serve_many(settings: Settings, sock: socket.socket, same: SameDatabase) -> int:
    """The parent: it holds the socket and the database open, and speaks to the terminal for all."""
    from chatd.providers.catalogue import load_catalogue
    from chatd.server.compose import bootstrap_admin, expire_replica, open_accounts, open_store
    from chatd.server.discovery import discover_models, has_only_demo
    from chatd.server.replicas import ReplicaOptions, keep_replicas

    clock = SystemClock()
    async with open_store(settings, clock=clock) as opened:
        with open_accounts(opened, settings, clock=clock) as accounts:
            await bootstrap_admin(settings, accounts)
            code = await _setup_code(accounts)
        await discover_models(opened.store, settings, load_catalogue(settings.model_catalogue), clock)
        only_demo = await has_only_demo(opened.store)
        _say(opened.notes)
        options = ReplicaOptions(
            count=settings.replicas,
            argv=_child_command,
            drain_seconds=settings.drain_seconds,
            on_death=lambda death: expire_replica(opened, death.replica_id, clock=clock),
            on_ready=partial(_greet, settings, same=same, code=code, only_demo=only_demo),
            on_stop=partial(_say_stopping, settings),
        )
        return await keep_replicas(sock, clock=clock, options=options)


def _child_command(seat: "Seat") -> list[str]:
    """This very command again, with its seat in the environment."""
    return ["env", f"{_SEAT}={msgspec.json.encode(seat).decode()}", sys.executable, "-P", "-m", "chatd", *sys.argv[1:]]


async def _serve_seat(settings: Settings, seat_text: str, format: Literal["text", "json"]) -> int:
    from chatd.server.compose import running_replica
    from chatd.server.replicas import Seat, announce_ready, take_seat

    seat = msgspec.json.decode(seat_text, type=Seat)
    sock = take_seat(seat)
    configure_logs(format=format, level=settings.log_level, fields={"replica": str(seat.index)})
    running = running_replica(
        settings, clock=SystemClock(), replica=str(seat.index), replica_id=seat.replica_id, place=seat.index
    )
    async with running as replica:
        if seat.index == 0:
            _say(replica.workspaces.notes)  # all have the same
        return await _serve_replica(settings, sock, replica, lambda _: announce_ready(seat))


async def _serve_replica(
    settings: Settings,
    sock: socket.socket,
    replica: "Replica",
    on_ready: Callable[[str], None],
    *,
    on_stop: Callable[[], None] | None = None,
) -> int:
    from chatd.server.engine_room import drained
    from chatd.server.replica_app import replica_app
    from chatd.server.serving import Draining, ServingOptions, socket_url, stop_signals
    from chatd.server.serving import serve as serve_app

    draining = Draining()
    if on_stop is not None:
        draining.on_begin(on_stop)
    app = await replica_app(replica, settings, draining=draining, public_url=settings.public_url or socket_url(sock))
    options = ServingOptions(drain_seconds=settings.drain_seconds, on_ready=on_ready)
    code = await serve_app(app, sock, draining=draining, clock=replica.clock, options=options)
    with stop_signals(replica.engine.worker.hurry):  # else another signal would end us with chats in our hands
        await drained(replica.engine, 0 if draining.is_hurried else settings.drain_seconds)
    return code


def _open_socket(settings: Settings) -> socket.socket:
    from chatd.server.serving import open_socket

    try:
        return open_socket(settings.host, settings.port)
    except OSError as error:
        raise StartRefused(
            f"Can't listen on {settings.host}, port {settings.port}: {error.strerror or error}.",
            detail="Stop what uses it, or choose another port: chatd serve --port 7081",
        ) from error


async def _setup_code(accounts: "Accounts") -> Secret | None:
    """A code for the first user, when there is none yet."""
    return None if await accounts.has_any_user() else await accounts.issue_setup_code()


def _say(notes: tuple[str, ...]) -> None:
    for note in notes:
        print(f"chatd: {note}")


def _say_stopping(settings: Settings) -> None:
    with suppress(OSError):  # whoever read along may be gone; the stop goes on
        print(
            f"\nStopping. Turns under way have up to {settings.drain_seconds} s; Ctrl-C again ends it now.", flush=True
        )


def _greet(settings: Settings, url: str, *, same: SameDatabase, code: Secret | None, only_demo: bool) -> None:
    url = settings.public_url or url
    print(f"\nchatd {chatd.__version__} is ready: {url}\n")
    if code is not None:
        create = same.command(f"{_own_command()} user create --email you@example.com --username you")
        print("There is no user yet. Open this in a browser to set it up; the one-time code is in it:\n")
        print(f"  {url}/setup#{code.reveal()}\n")
        print(f"or create the first admin in another terminal on this machine{same.condition}:\n")
        print(f"  {create}\n")
        print(f"or over the API, with the code {code.reveal()} (docs/getting-started.md).\n")
    if only_demo:
        print("No model provider is configured yet: a demo model answers, which says so. For a real one, set")
        print("ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY and start again, or see docs/models.md.\n")
    print("Next:")
    print(f"  look   {url}")
    print(f"  talk   {_own_command()} login {url} && {_own_command()} chat")
    print(f"  read   {url}/api/openapi.json")
    print("  stop   Ctrl-C (everything is kept)\n", flush=True)


def _own_command() -> str:
    """What to type for `chatd`: this very program, as short as it can be said."""
    program = Path(sys.argv[0])
    if shutil.which("chatd") is not None or program.name != "chatd":
        return "chatd"
    return str(program.relative_to(Path.cwd()) if program.is_relative_to(Path.cwd()) else program)
