"""`chatd agent`: the daemon of a workspace."""

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("agent", context_settings={"ignore_unknown_options": True, "help_option_names": []})(_agent)


def _agent(arguments: Annotated[list[str] | None, typer.Argument(metavar="...")] = None) -> None:
    """The daemon of a workspace: runs commands and edits files for a server. `chatd agent --help` says how."""
    from chatd.agent.main import main

    raise typer.Exit(main(arguments or []))
