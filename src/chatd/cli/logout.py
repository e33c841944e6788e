"""`chatd logout`: end the session, and forget it."""

import asyncio

import typer

from chatd.cli.stored_login import StoredLogin, forget_login, read_login
from chatd.client import Client, SignInNeeded
from chatd.core.errors import ChatdError


def logout() -> None:
    """Sign out: the stored session ends, a stored API token is revoked."""
    stored = read_login()
    if stored is None:
        print("You are not signed in.")
        return
    try:
        asyncio.run(_sign_out(stored))
    except ChatdError as error:
        forget_login()
        raise ChatdError(
            f"The login is forgotten here, but the server could not be told: {error.message}",
            detail="The session ends there by itself.",
        ) from error
    forget_login()
    print(f"Signed out of {stored.url}.")


async def _sign_out(stored: StoredLogin) -> None:
    async with Client(stored.url, stored.token) as client:
        try:
            await client.log_out()
        except SignInNeeded:
            return  # it has ended already


def register(root: typer.Typer) -> None:
    root.command()(logout)
