"""`chatd login`: sign in to a server and keep the session, or an API token, for the other commands."""

import asyncio
import sys
from typing import Annotated

import typer

from chatd.cli.stored_login import StoredLogin, is_in_the_open, read_login, server_url, store_login
from chatd.client import Client
from chatd.core.errors import ChatdError
from chatd.core.secret import Secret

_LONGEST = 4096  # characters of a line with a password or token


def login(
    url: Annotated[str | None, typer.Argument(help="The server, like https://chat.example.com.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="Your username or email address.")] = None,
    token: Annotated[
        bool, typer.Option("--token", help="Give an API token instead of a password; it is asked for.")
    ] = False,
) -> None:
    """Sign in. What is missing is asked for; off a terminal, standard input is the password or token."""
    at_terminal = sys.stdin.isatty()
    if url is None:
        if not at_terminal:
            raise ChatdError("Name the server.", detail="As in `chatd login https://chat.example.com`.")
        stored = read_login()
        url = str(typer.prompt("Server", default=stored.url if stored else "http://localhost:7080"))
    address = server_url(url)
    if is_in_the_open(address):
        print("chatd: This address is not https: what you send can be read on its way.", file=sys.stderr)
    if not token and user is None:
        if not at_terminal:
            raise ChatdError("Say who you are with --user, or give a token with --token.")
        user = typer.prompt("Username or email address")
    secret = _ask("Token" if token else "Password")
    made = asyncio.run(_sign_in(address, secret, None if token else user))
    path = store_login(made)
    print(f"Signed in to {made.url} as {made.username}. The login is kept in {path}.")


def _ask(what: str) -> Secret:
    """Without showing it."""
    if sys.stdin.isatty():
        return Secret(typer.prompt(what, hide_input=True))
    given = Secret(sys.stdin.readline(_LONGEST).rstrip("\r\n"))
    if not given.reveal():
        raise ChatdError(f"{what} is missing: standard input is empty.")
    return given


async def _sign_in(url: str, secret: Secret, user: str | None) -> StoredLogin:
    """With a password, or with a token when no user is named. What is stored has worked once."""
    if user is None:
        async with Client(url, secret) as client:
            return StoredLogin(url, secret, (await client.me()).username)
    async with Client(url) as client:
        signed_in = await client.log_in(user, secret)
    return StoredLogin(url, Secret(signed_in.session_token), signed_in.user.username)


def register(root: typer.Typer) -> None:
    root.command()(login)
