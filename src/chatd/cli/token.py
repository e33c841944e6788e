"""`chatd token`: API tokens of any user, without signing in. For whoever runs the server."""

from datetime import timedelta
from typing import Annotated

import typer

from chatd.cli.offline import CLIENT, ConfigOption, DataDirOption, JsonOption, Offline, find_user, run_offline
from chatd.cli.tables import show
from chatd.core.errors import ChatdError
from chatd.core.secret import Secret
from chatd.store.queries import Token, TokenKind

app = typer.Typer(name="token", help="Create, list and revoke API tokens.", no_args_is_help=True)
Login = Annotated[str, typer.Argument(help="Whose: a username or email address.")]
_MOST_LISTED = 1000


@app.command()
def create(
    login: Login,
    name: Annotated[str, typer.Option(help="What it is for.")],
    scope: Annotated[list[str] | None, typer.Option(help="kind:action, like user:read; repeat it. [*:*]")] = None,
    hours: Annotated[int, typer.Option(help="How long it is valid.", min=1, max=8760)] = 720,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Create an API token and print it. It is shown this once."""

    async def act(offline: Offline) -> Secret:
        user = await find_user(offline.store, login)
        key, _ = await offline.accounts.create_token(
            user_id=user.id, name=name, scopes=scope or ["*:*"], lifetime=timedelta(hours=hours), client=CLIENT
        )
        return key

    print(run_offline(act, config=config, data_dir=data_dir).reveal())


async def _tokens(offline: Offline, login: str) -> list[Token]:
    user = await find_user(offline.store, login)
    return await offline.store.list_tokens_by_user(
        user_id=user.id, kind=TokenKind.API, before_id=None, max_rows=_MOST_LISTED
    )


@app.command("list")
def list_(
    login: Login, as_json: JsonOption = False, config: ConfigOption = None, data_dir: DataDirOption = None
) -> None:
    """List a user's API tokens."""
    tokens = run_offline(lambda offline: _tokens(offline, login), config=config, data_dir=data_dir)
    rows = [
        {
            "name": token.name,
            "scopes": " ".join(token.scopes),
            "expires": token.expires_at,
            "last_used": token.last_used_at,
        }
        for token in tokens
    ]
    show(rows, columns=["name", "scopes", "expires", "last_used"], as_json=as_json, empty=f"{login} has no API tokens.")


@app.command()
def revoke(
    login: Login,
    name: Annotated[str, typer.Argument(help="The token's name.")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Revoke an API token by its name."""

    async def act(offline: Offline) -> None:
        for token in await _tokens(offline, login):
            if token.name.lower() == name.lower():
                await offline.store.delete_token(id=token.id)
                return
        raise ChatdError(f"{login} has no API token {name}.")

    run_offline(act, config=config, data_dir=data_dir)
    print(f"Revoked {name}.")


def register(root: typer.Typer) -> None:
    root.add_typer(app)
