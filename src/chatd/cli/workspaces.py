"""`chatd workspaces`: where commands of chats run."""

import asyncio
import os
import shlex
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path, PurePosixPath
from typing import Annotated, TypeVar
from uuid import UUID

import msgspec
import typer

from chatd.cli.saved_file import save
from chatd.cli.stored_login import current_login
from chatd.cli.tables import json_text, show
from chatd.cli.templates import find_template, milliseconds
from chatd.cli.terminal_text import harmless
from chatd.client import Client
from chatd.core.errors import ChatdError
from chatd.core.workspaces.kinds import BuildStatus, BuildTransition
from chatd.wire.agent.files import Entry, EntryKind
from chatd.wire.workspaces import BuildLogLine, Workspace, WorkspaceBuild

T = TypeVar("T")

app = typer.Typer(name="workspaces", help="Where commands of chats run.", rich_markup_mode=None, no_args_is_help=True)
files_app = typer.Typer(name="files", help="Files of a workspace.", rich_markup_mode=None, no_args_is_help=True)
app.add_typer(files_app)
Which = Annotated[str, typer.Argument(metavar="WORKSPACE", help="The name of one of yours, or the id of any.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, with all there is to know.")]
InWorkspace = Annotated[str, typer.Argument(help="A path in the workspace, absolute or from its home on.")]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not wait until it is done.")]
Values = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="A value that the template asks for; again for more."),
]


@app.command("list")
def list_workspaces(
    owner: Annotated[str, typer.Option(help="A user's name or id, or `all` that you may see.")] = "me",
    as_json: AsJson = False,
) -> None:
    """List your workspaces."""
    found = _run(lambda client: client.workspaces.all(owner=owner))
    whole: list[dict[str, object]] = [msgspec.to_builtins(each) for each in found]
    rows = [
        {
            "name": each.name,
            "state": each.state.value,
            "template": each.template_name,
            "owner": each.owner_name,
            "last_used": each.last_used_at,
            "stops": each.deadline,
        }
        for each in found
    ]
    columns = ["name", "state", "template", *(["owner"] if owner != "me" else []), "last_used", "stops"]
    empty = "No workspaces. Make one: chatd workspaces create TEMPLATE"
    show(whole if as_json else rows, columns=columns, as_json=as_json, empty=empty)


@app.command("show")
def show_workspace(workspace: Which, as_json: AsJson = False) -> None:
    """Show a workspace, its last build, and the chats that work in it."""
    found = _run(lambda client: _found(client, workspace))
    if as_json:
        print(json_text(found))
        return
    build = found.latest_build
    said = [
        f"{found.name}  {found.state.value}",
        f"id:         {found.id}",
        f"owner:      {found.owner_name}",
        f"template:   {found.template_name}",
        f"last used:  {found.last_used_at:%Y-%m-%d %H:%M}",
        f"stops:      {f'{found.deadline:%Y-%m-%d %H:%M}, unless it is used' if found.deadline else 'when told to'}",
        f"last build: {build.number}, {build.transition.value}, {build.status.value}  {build.error}".rstrip(),
        *(f"parameter:  {name}={value}" for name, value in found.parameters.items()),
        *(f"chat:       {chat.id}  {chat.title}" for chat in found.chats or ()),
    ]
    print(harmless("\n".join(said)))


@app.command("create")
def create_workspace(
    template: Annotated[str, typer.Argument(metavar="TEMPLATE", help="The name or id of a template.")],
    name: Annotated[str | None, typer.Option("--name", "-n", help="Else it is given one.")] = None,
    parameter: Values = None,
    ttl: Annotated[
        str | None, typer.Option(metavar="TIME", help="Stop it when nobody uses it for so long: 8h; 0: never.")
    ] = None,
    no_wait: NoWait = False,
    as_json: AsJson = False,
) -> None:
    """Make a workspace, and wait until it runs."""
    values = _values(parameter)

    async def act(client: Client) -> Workspace:
        chosen = await find_template(client, template)
        ttl_ms = None if ttl is None else milliseconds(ttl)
        made = await client.workspaces.create(chosen.id, name=name, parameters=values, ttl_ms=ttl_ms)
        if not no_wait:
            await _followed(client, made.id, made.latest_build.id)
        return await client.workspaces.get(made.id)

    made = _run(act)
    print(json_text(made) if as_json else f"{made.id}  {made.name}")
    if not as_json:
        print(f"Open it: chatd workspaces terminal {made.name}", file=sys.stderr)


@app.command("start")
def start_workspace(workspace: Which, parameter: Values = None, no_wait: NoWait = False) -> None:
    """Start a workspace that is stopped."""
    _build(workspace, BuildTransition.START, no_wait, _values(parameter) or None)


@app.command("stop")
def stop_workspace(workspace: Which, no_wait: NoWait = False) -> None:
    """Stop a workspace: what runs in it ends, its files stay."""
    _build(workspace, BuildTransition.STOP, no_wait)


@app.command("delete")
def delete_workspace(
    workspace: Which,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    no_wait: NoWait = False,
    orphan: Annotated[
        bool, typer.Option("--orphan", help="Its machine is gone for good: delete it without doing anything there.")
    ] = False,
) -> None:
    """Delete a workspace with its files."""
    if not yes:
        if not sys.stdin.isatty():
            raise ChatdError("The files would be gone for good.", detail="Say --yes if that is meant.")
        typer.confirm(f"Delete {workspace} with all its files?", abort=True)
    if orphan:
        _orphan(workspace)
    else:
        _build(workspace, BuildTransition.DELETE, no_wait)


@app.command("logs")
def show_logs(
    workspace: Which,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the build is over.")] = False,
    number: Annotated[int | None, typer.Option("--build", help="The number of a build; else the last one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a build has said."""

    async def act(client: Client) -> list[BuildLogLine]:
        found = await _found(client, workspace)
        build = found.latest_build.id
        if number is not None:
            build = next(
                (each.id for each in await client.workspaces.builds(found.id, limit=100) if each.number == number), None
            )
        if build is None:
            raise ChatdError(f"There is no build {number} among the last hundred.")
        if follow and not as_json:
            await _followed(client, found.id, build, to=sys.stdout)
            return []
        return await client.workspaces.logs(found.id, build)

    lines = _run(act)
    if as_json:
        print(json_text(lines))
    for line in () if as_json else lines:
        print(_line(line))


@app.command("terminal")
def open_terminal(
    workspace: Which,
    command: Annotated[str | None, typer.Option("--command", "-c", help="Run this instead of a shell.")] = None,
    reconnect: Annotated[
        UUID | None, typer.Option(metavar="ID", help="Come back to one that you have left, within ten minutes.")
    ] = None,
) -> None:
    """Open a terminal in a workspace. Ctrl-] three times leaves it, and says how to come back."""
    from chatd.cli.workspace_terminal import run_terminal

    async def act(client: Client) -> int:
        id = (await _found(client, workspace)).id
        back = f"chatd workspaces terminal {shlex.quote(workspace)} --reconnect"
        return await run_terminal(client, id, command, reconnect=reconnect, back=back)

    raise typer.Exit(_run(act))


@files_app.command("list")
def list_files(
    workspace: Which,
    path: Annotated[str | None, typer.Argument(help="A path, absolute or from the home on; else the home.")] = None,
    as_json: AsJson = False,
) -> None:
    """List a directory."""

    async def act(client: Client) -> tuple[str, list[Entry]]:
        id = (await _found(client, workspace)).id
        folder = None if path is None else await _absolute(client, id, path)
        page = await client.workspaces.files(id, folder)
        entries = list(page.entries)
        while page.next is not None:
            page = await client.workspaces.files(id, folder, offset=page.next)
            entries += page.entries
        return page.path, entries

    folder, found = _run(act)
    rows = [
        {
            "name": each.name + ("/" if each.kind is EntryKind.DIRECTORY else ""),
            "kind": each.kind.value,
            "size": each.size,
        }
        for each in found
    ]
    whole: list[dict[str, object]] = [msgspec.to_builtins(each) for each in found]
    show(whole if as_json else rows, columns=["name", "kind", "size"], as_json=as_json, empty=f"{folder} is empty.")


@files_app.command("get")
def get_file(
    workspace: Which,
    path: InWorkspace,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file or a folder; else standard output.")
    ] = None,
) -> None:
    """Copy a file out of a workspace."""

    async def act(client: Client) -> None:
        id = (await _found(client, workspace)).id
        async with aclosing(client.workspaces.download(id, await _absolute(client, id, path))) as pieces:
            if output is None:
                async for piece in pieces:
                    sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()
                return
            await save(pieces, output / PurePosixPath(path).name if output.is_dir() else output)

    _run(act)


@files_app.command("put")
def put_file(
    workspace: Which,
    source: Annotated[Path, typer.Argument(help="A file here.", exists=True, dir_okay=False)],
    path: InWorkspace,
) -> None:
    """Copy a file into a workspace."""

    async def act(client: Client) -> str:
        id = (await _found(client, workspace)).id
        target = await _absolute(client, id, f"{path}{source.name}" if path.endswith("/") else path)
        with source.open("rb") as file:
            written = await client.workspaces.upload(id, target, file)
        return f"{written.path}  {written.size} bytes"

    print(harmless(_run(act)))


def _build(workspace: str, transition: BuildTransition, no_wait: bool, values: dict[str, str] | None = None) -> None:
    async def act(client: Client) -> WorkspaceBuild:
        found = await _found(client, workspace)
        made = await client.workspaces.build(found.id, transition, parameters=values)
        return made if no_wait else await _followed(client, found.id, made.id)

    build = _run(act)
    print(f"{workspace}: {transition.value} {build.status.value}")


def _orphan(workspace: str) -> None:
    async def act(client: Client) -> WorkspaceBuild:
        return await client.workspaces.orphan((await _found(client, workspace)).id)

    _run(act)
    print(f"{workspace}: deleted. What it has left on its machine is deleted if that comes back.")


async def _followed(client: Client, id: UUID, build_id: UUID, *, to: object = None) -> WorkspaceBuild:
    """Show what it says until it is over. Raises ChatdError when it has failed."""
    async with aclosing(client.workspaces.follow(id, build_id)) as said:
        async for each in said:
            if isinstance(each, BuildLogLine):
                print(_line(each), file=sys.stdout if to is sys.stdout else sys.stderr, flush=True)
                continue
            if each.status is not BuildStatus.SUCCEEDED:
                raise ChatdError(f"The build has {each.status.value}.", detail=each.error or None)
            return each
    raise ChatdError("The server ended the log before the build was over.")


async def _found(client: Client, ref: str) -> Workspace:
    try:
        return await client.workspaces.get(UUID(ref))
    except ValueError:
        pass
    for each in await client.workspaces.all():
        if each.name == ref:
            return await client.workspaces.get(each.id)
    raise ChatdError(f"You have no workspace {ref}.", detail="`chatd workspaces list` shows yours.")


async def _absolute(client: Client, id: UUID, path: str) -> str:
    """From the home on, unless it is absolute already."""
    return path if path.startswith("/") else str(PurePosixPath((await client.workspaces.files(id, None)).path, path))


def _values(given: list[str] | None) -> dict[str, str]:
    pairs = [each.partition("=") for each in given or ()]
    if wrong := [name for name, sign, _ in pairs if not sign]:
        raise ChatdError(f"{wrong[0]} has no value.", detail="Write it like NAME=VALUE.")
    return {name: value for name, _, value in pairs}


def _line(line: BuildLogLine) -> str:
    mark = "" if line.level == "info" else f"{line.level}: "
    return harmless(f"{line.created_at:%H:%M:%S} [{line.stage}] {mark}{line.line}")


def _run(act: Callable[[Client], Awaitable[T]]) -> T:
    async def with_client() -> T:
        login = current_login(os.environ)
        async with Client(login.url, login.token) as client:
            return await act(client)

    return asyncio.run(with_client())


def register(root: typer.Typer) -> None:
    root.add_typer(app)
