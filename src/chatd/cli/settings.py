"""`chatd settings`: what is in force and where it comes from."""

import typer

from chatd.cli.flags import takes_settings
from chatd.cli.tables import show
from chatd.server.settings import LoadedSettings


def register(app: typer.Typer) -> None:
    app.command("settings")(takes_settings(print_settings))


def print_settings(loaded: LoadedSettings) -> None:
    """Print the settings in force and where each comes from. Secrets are masked."""
    rows = [{"setting": row.name, "value": row.value, "from": row.origin} for row in loaded.describe()]
    show(rows, columns=["setting", "value", "from"], as_json=False, empty="")
