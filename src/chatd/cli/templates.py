"""`chatd templates`: what workspaces are made of."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import msgspec
import typer

from chatd.cli.stored_login import current_login
from chatd.cli.tables import json_text, show
from chatd.cli.terminal_text import harmless, one_line
from chatd.client import Client
from chatd.core.durations import seconds_of, shown_seconds
from chatd.core.errors import ChatdError
from chatd.core.workspaces.kinds import ProvisionerKind
from chatd.wire.templates import CreateTemplate, Template, UpdateTemplate

_LONGEST = 60  # characters of a description in a table

app = typer.Typer(name="templates", help="What workspaces are made of.", rich_markup_mode=None, no_args_is_help=True)
Which = Annotated[str, typer.Argument(metavar="TEMPLATE", help="The name or id of a template.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, with all there is to know.")]
DisplayName = Annotated[str | None, typer.Option(help="How it is called in lists.")]
Description = Annotated[str | None, typer.Option(help="What it is for, in a sentence: models choose by it.")]
Readme = Annotated[Path | None, typer.Option(help="A file with more words about it.", exists=True, dir_okay=False)]
Config = Annotated[
    str | None, typer.Option(metavar="JSON|@FILE", help="What the provisioner is told; see docs/workspaces.md.")
]
Parameters = Annotated[
    str | None, typer.Option(metavar="JSON|@FILE", help="A list of what is asked of who makes a workspace.")
]
Ttl = Annotated[
    str | None,
    typer.Option("--default-ttl", metavar="TIME", help="Stop workspaces that nobody uses for so long: 8h; 0: never."),
]
Agents = Annotated[bool | None, typer.Option("--agents/--no-agents", help="Whether models may make workspaces of it.")]
Deprecated = Annotated[
    str | None, typer.Option(help="Why no new workspaces are to be made of it, and what to take instead.")
]


@app.command("list")
def list_templates(as_json: AsJson = False) -> None:
    """List the templates."""

    async def act() -> list[Template]:
        async with _client() as client:
            return await client.templates.all()

    found = asyncio.run(act())
    whole: list[dict[str, object]] = [msgspec.to_builtins(each) for each in found]
    rows = [
        {
            "name": each.name,
            "kind": each.provisioner.value,
            "description": one_line(each.description, _LONGEST),
            "workspaces": each.workspace_count,
            "deprecated": "yes" if each.deprecated else "",
        }
        for each in found
    ]
    columns = ["name", "kind", "description", "workspaces", "deprecated"]
    show(whole if as_json else rows, columns=columns, as_json=as_json, empty="No templates.")


@app.command("show")
def show_template(template: Which, as_json: AsJson = False) -> None:
    """Show a template, and what it asks for."""

    async def act() -> Template:
        async with _client() as client:
            return await find_template(client, template)

    found = asyncio.run(act())
    if as_json:
        print(json_text(found))
        return
    said = [
        f"{found.name}  {found.display_name}".rstrip(),
        found.description,
        f"id:           {found.id}",
        f"made by:      {found.provisioner.value}",
        f"models:       {'may make workspaces of it' if found.agents_allowed else 'may not make workspaces of it'}",
        f"when unused:  {_time(found.default_ttl_ms)}",
        f"workspaces:   {found.workspace_count}",
    ]
    if found.deprecated:
        said.append(f"deprecated:   {found.deprecated}")
    for each in found.parameters:
        default = "must be given" if each.required else f"default {each.default!r}"
        said.append(f"parameter:    {each.name} ({each.type.value}, {default}) {each.description}".rstrip())
    if found.config is not None:
        said.append(f"config:       {msgspec.json.encode(found.config).decode()}")
    print(harmless("\n".join([*said, *(["", found.readme] if found.readme else [])])))


@app.command("create")
def create_template(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and dashes.")],
    provisioner: Annotated[ProvisionerKind, typer.Option(help="What makes its workspaces.")] = ProvisionerKind.LOCAL,
    display_name: DisplayName = None,
    description: Description = None,
    readme: Readme = None,
    config: Config = None,
    parameters: Parameters = None,
    ttl: Ttl = None,
    agents: Agents = None,
    as_json: AsJson = False,
) -> None:
    """Add a template. For admins."""
    given = _given(display_name, description, readme, config, parameters, ttl, agents, None)

    async def act() -> Template:
        async with _client() as client:
            return await client.templates.create(_converted({"name": name, "provisioner": provisioner, **given}))

    made = asyncio.run(act())
    _say(made, as_json, f"Make a workspace of it: chatd workspaces create {made.name}")


@app.command("edit")
def edit_template(
    template: Which,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    display_name: DisplayName = None,
    description: Description = None,
    readme: Readme = None,
    config: Config = None,
    parameters: Parameters = None,
    ttl: Ttl = None,
    agents: Agents = None,
    deprecated: Deprecated = None,
    as_json: AsJson = False,
) -> None:
    """Change a template; what is not given stays. For admins."""
    given = _given(display_name, description, readme, config, parameters, ttl, agents, deprecated)
    if name is not None:
        given["name"] = name
    if not given:
        raise ChatdError("Nothing is to be changed.", detail="Say what: `chatd templates edit --help` lists it.")

    async def act() -> Template:
        async with _client() as client:
            found = await find_template(client, template)
            return await client.templates.update(found.id, _changed(given))

    changed = asyncio.run(act())
    _say(changed, as_json, "Its workspaces have this from their next start on." if changed.workspace_count else "")


@app.command("delete")
def delete_template(template: Which) -> None:
    """Remove a template that has no workspaces. For admins."""

    async def act() -> str:
        async with _client() as client:
            found = await find_template(client, template)
            await client.templates.delete(found.id)
            return found.name

    print(f"Deleted: {asyncio.run(act())}")


async def find_template(client: Client, ref: str) -> Template:
    """By its id, or its name. Raises ChatdError."""
    try:
        return await client.templates.get(UUID(ref))
    except ValueError:
        pass
    for each in await client.templates.all():
        if each.name == ref:
            return each
    raise ChatdError(f"There is no template {ref}.", detail="`chatd templates list` shows those there are.")


def _client() -> Client:
    login = current_login(os.environ)
    return Client(login.url, login.token)


def _given(
    display_name: str | None,
    description: str | None,
    readme: Path | None,
    config: str | None,
    parameters: str | None,
    ttl: str | None,
    agents: bool | None,
    deprecated: str | None,
) -> dict[str, Any]:
    found = {
        "display_name": display_name,
        "description": description,
        "readme": None if readme is None else readme.read_text("utf-8"),
        "config": None if config is None else _json(config, "--config"),
        "parameters": None if parameters is None else _json(parameters, "--parameters"),
        "default_ttl_ms": None if ttl is None else milliseconds(ttl),
        "agents_allowed": agents,
        "deprecated": deprecated,
    }
    return {name: value for name, value in found.items() if value is not None}


def milliseconds(text: str) -> int:
    """Raises ChatdError."""
    try:
        return round(seconds_of(text) * 1000)
    except ValueError as error:
        raise ChatdError(str(error)) from None


def _json(text: str, option: str) -> Any:
    try:
        return msgspec.json.decode(Path(text[1:]).read_bytes() if text.startswith("@") else text.encode())
    except OSError as error:
        raise ChatdError(f"{text[1:]} can't be read.", detail=error.strerror) from None
    except msgspec.DecodeError as error:
        raise ChatdError(f"{option} is not JSON.", detail=str(error)) from None


def _converted(fields: dict[str, Any]) -> CreateTemplate:
    try:
        return msgspec.convert(fields, CreateTemplate)
    except msgspec.ValidationError as error:
        raise ChatdError("This can't be a template.", detail=str(error)) from None


def _changed(fields: dict[str, Any]) -> UpdateTemplate:
    try:
        return msgspec.convert(fields, UpdateTemplate)
    except msgspec.ValidationError as error:
        raise ChatdError("A template can't be changed so.", detail=str(error)) from None


def _say(template: Template, as_json: bool, next: str) -> None:
    """`next` is for people, and may be empty."""
    if as_json:
        print(json_text(template))
        return
    print(f"{template.id}  {template.name}")
    if next:
        print(next, file=sys.stderr)


def _time(span_ms: int) -> str:
    return f"stopped after {shown_seconds(span_ms / 1000)}" if span_ms else "runs on"


def register(root: typer.Typer) -> None:
    root.add_typer(app)
