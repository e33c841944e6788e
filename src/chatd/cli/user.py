"""`chatd user`: accounts, without signing in. For whoever runs the server."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from chatd.cli.offline import CLIENT, ConfigOption, DataDirOption, JsonOption, Offline, find_user, run_offline
from chatd.cli.tables import show
from chatd.core.access import Role
from chatd.core.secret import Secret
from chatd.store.queries import User, UserStatus

app = typer.Typer(name="user", help="Create, list and repair accounts.", no_args_is_help=True)
Login = Annotated[str, typer.Argument(help="A username or email address.")]
_PAGE = 100


def ask_password() -> Secret:
    """Twice from a terminal, without showing it; otherwise one line of standard input."""
    if sys.stdin.isatty():
        return Secret(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    return Secret(sys.stdin.readline().rstrip("\n"))


def _row(user: User) -> dict[str, object]:
    return {
        "id": str(user.id),
        "username": user.username,
        "email": user.email,
        "role": str(user.role),
        "status": str(user.status),
        "last_seen": user.last_seen_at,
    }


@app.command()
def create(
    email: Annotated[str, typer.Option(help="The email address.")],
    username: Annotated[str, typer.Option(help="The name to sign in with.")],
    role: Annotated[Role, typer.Option(help="What the user may do.")] = Role.MEMBER,
    display_name: Annotated[str, typer.Option(help="The name to show.")] = "",
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Create an account. The password is asked for, or read from standard input. The very first user is an owner."""
    password = ask_password()

    async def act(offline: Offline) -> User:
        if not await offline.accounts.has_any_user():
            return await offline.accounts.create_first_user(
                code=None,
                email=email,
                username=username,
                display_name=display_name,
                password=password,
                client=CLIENT,
            )
        return await offline.accounts.create_user(
            email=email, username=username, display_name=display_name, password=password, role=role
        )

    user = run_offline(act, config=config, data_dir=data_dir)
    print(f"Created {user.username} ({user.role}).")


@app.command("list")
def list_(as_json: JsonOption = False, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """List all accounts."""

    async def act(offline: Offline) -> list[User]:
        users: list[User] = []
        while page := await offline.store.list_users(
            after_id=users[-1].id if users else None, search=None, max_rows=_PAGE
        ):
            users += page
        return users

    rows = [_row(user) for user in run_offline(act, config=config, data_dir=data_dir)]
    columns = ["username", "email", "role", "status", "last_seen"]
    show(rows, columns=columns, as_json=as_json, empty="No users yet. Create one: chatd user create --help")


@app.command()
def password(login: Login, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Set a new password; it is asked for, or read from standard input. Ends the user's sessions."""
    new = ask_password()

    async def act(offline: Offline) -> User:
        user = await find_user(offline.store, login)
        await offline.accounts.reset_password(user.id, new)
        return user

    print(f"Changed the password of {run_offline(act, config=config, data_dir=data_dir).username}.")


@app.command()
def role(
    login: Login,
    to: Annotated[Role, typer.Argument(help="owner, auditor or member.")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Change what a user may do."""

    async def act(offline: Offline) -> User:
        return await offline.accounts.set_role((await find_user(offline.store, login)).id, to)

    user = run_offline(act, config=config, data_dir=data_dir)
    print(f"{user.username} is now {user.role}.")


def _set_status(login: str, status: UserStatus, config: Path | None, data_dir: Path | None) -> None:
    async def act(offline: Offline) -> User:
        return await offline.accounts.set_status((await find_user(offline.store, login)).id, status)

    user = run_offline(act, config=config, data_dir=data_dir)
    print(f"{user.username} is now {user.status}.")


@app.command()
def suspend(login: Login, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Keep a user from signing in."""
    _set_status(login, UserStatus.SUSPENDED, config, data_dir)


@app.command()
def activate(login: Login, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Let a suspended user sign in again."""
    _set_status(login, UserStatus.ACTIVE, config, data_dir)


def register(root: typer.Typer) -> None:
    root.add_typer(app)
