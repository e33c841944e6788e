"""The `chatd` command: its subcommands, and how a refusal is shown."""

import sys
from importlib import import_module
from typing import Annotated

import typer

import chatd
from chatd.cli.terminal_text import harmless
from chatd.core.errors import ChatdError, InvalidRequest


def _show_version(wanted: bool) -> None:
    if wanted:
        print(chatd.__version__)
        raise typer.Exit


SUBCOMMANDS = (
    "serve",
    "settings",
    "doctor",
    "user",
    "token",
    "keys",
    "git-providers",
    "login",
    "logout",
    "chats",
    "chat",
    "templates",
    "workspaces",
    "agent",
    "llm-mock",
)

app = typer.Typer(
    name="chatd",
    help="A self-hosted server for AI agent chats.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _chatd(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """A self-hosted server for AI agent chats."""


def main() -> None:
    """Run the command. What is refused is said in a sentence or two on standard error, with exit code 1."""
    # A server need not wait for the imports of commands that were not asked for.
    asked = [word for word in sys.argv[1:2] if word in SUBCOMMANDS] or SUBCOMMANDS
    for name in asked:
        import_module(f"chatd.cli.{name.replace('-', '_')}").register(app)
    try:
        app()
    except ChatdError as error:
        print(harmless(f"chatd: {error.message}"), file=sys.stderr)
        for validation in error.validations if isinstance(error, InvalidRequest) else ():
            print(harmless(f"  {validation.field}: {validation.detail}"), file=sys.stderr)
        if error.detail:
            print(harmless(f"  {error.detail}"), file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
