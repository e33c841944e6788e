"""What happens to people: sign-up, sign-in, passwords, roles, tokens. Routes and the command line call the same.

Everything is done with the caller's rights; only signing in borrows some, because nobody is signed in yet.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from chatd.clock import Clock
from chatd.core import people, throttle
from chatd.core.access import ALL_SCOPES, AUTHENTICATOR, SETUP, Role
from chatd.core.errors import Conflict, Forbidden, InvalidRequest, Throttled, Unauthenticated, Validation
from chatd.core.secret import Secret
from chatd.core.tokens import hash_setup_code, hash_token
from chatd.minting import new_setup_code, new_token, uuid7
from chatd.server.passwords import Passwords
from chatd.store.actor import acting_as
from chatd.store.constraints import UniqueConstraint
from chatd.store.queries import Token, TokenKind, User, UserRole, UserStatus
from chatd.store.store import Store

_USER_AGENT_LONGEST: Final = 256  # enough to recognise a browser in the list of sessions
_MOST_SESSIONS: Final = 100  # per user; a script that signs in every minute must not fill the table
_MOST_TOKENS: Final = 100  # per user, likewise

# Which field a taken name belongs to.
_TAKEN: Final = {
    UniqueConstraint.USERS_EMAIL_KEY: Validation("email", "already used by another user"),
    UniqueConstraint.USERS_USERNAME_KEY: Validation("username", "already used by another user"),
    UniqueConstraint.GROUPS_NAME_KEY: Validation("name", "already used by another group"),
    UniqueConstraint.TOKENS_API_NAME_KEY: Validation(
        "name", "already used by another token of this user; revoke that one, or take another name"
    ),
}


class Client(msgspec.Struct, frozen=True):
    """Where a request comes from, for the list of sessions and for throttling."""

    address: str
    user_agent: str = ""


class SignedIn(msgspec.Struct, frozen=True):
    key: Secret
    token: Token
    user: User


class Accounts:
    def __init__(self, store: Store, passwords: Passwords, clock: Clock, *, session_lifetime: timedelta) -> None:
        self._store = store
        self._passwords = passwords
        self._clock = clock
        self._session_lifetime = session_lifetime

    async def create_user(self, *, email: str, username: str, display_name: str, password: Secret, role: Role) -> User:
        people.check_profile(email=email, username=username, display_name=display_name)
        people.check_password(password.reveal())
        password_hash = await self._passwords.hash(password)
        with taken_names_refused():
            return await self._store.insert_user(
                id=uuid7(self._clock.now()),
                email=email,
                username=username,
                display_name=display_name,
                password_hash=password_hash,
                role=UserRole(role),
            )

    async def has_any_user(self) -> bool:
        with acting_as(SETUP):
            return await self._store.has_any_user()

    async def issue_setup_code(self) -> Secret:
        """A code that creates the first user. Every server that starts on an empty deployment issues its own."""
        code = new_setup_code()
        with acting_as(SETUP):
            await self._store.insert_setup_code(hash=hash_setup_code(code.reveal()))
        return code

    async def create_first_user(
        self,
        *,
        code: Secret | None,
        email: str,
        username: str,
        display_name: str,
        password: Secret,
        client: Client,
    ) -> User:
        """The owner of an empty deployment. Without a code only for the operator, who needs none."""
        if await self.has_any_user():
            raise Conflict("The first user exists already. Sign in, or ask an owner for an account.")
        people.check_profile(email=email, username=username, display_name=display_name)
        people.check_password(password.reveal())
        # Nobody guesses the code; only an address that tries is slowed down, or strangers could lock the owner out.
        async with self._counted_attempt([] if code is None else [throttle.by_address(client.address)]):
            password_hash = await self._passwords.hash(password)
            with acting_as(SETUP):
                user = await self._store.insert_first_user(
                    code_hash=None if code is None else hash_setup_code(code.reveal()),
                    id=uuid7(self._clock.now()),
                    email=email,
                    username=username,
                    display_name=display_name,
                    password_hash=password_hash,
                )
            if user is None and await self.has_any_user():
                raise Conflict("The first user exists already. Sign in, or ask an owner for an account.")
            if user is None:
                raise Forbidden(
                    "That is not the one-time code.",
                    detail="`chatd serve` prints it at every start while there is no user.",
                )
        return user

    async def sign_in(self, *, login: str, password: Secret, client: Client) -> SignedIn:
        """Check a password and open a session. What exactly was wrong is not said."""
        async with self._counted_attempt(throttle.by_login(login, client.address)):
            with acting_as(AUTHENTICATOR):
                user = await self._store.get_user_by_login(login=login) if login.isprintable() else None
                verified = await self._passwords.verify(user.password_hash if user else None, password)
                if user is None or not verified:
                    raise Unauthenticated("The email, username or password is wrong.")
                if user.status is not UserStatus.ACTIVE:
                    raise Unauthenticated("This account is suspended. Ask an owner to activate it.")
                signed_in = await self._open_session(user, client)
                if self._passwords.is_outdated(user.password_hash):
                    stronger = await self._passwords.hash(password)
                    await self._store.rehash_password(id=user.id, verified=user.password_hash, stronger=stronger)
                return signed_in

    async def _open_session(self, user: User, client: Client) -> SignedIn:
        """For the password as it was verified: if it was changed meanwhile, whoever knew the old one stays out."""
        key = new_token()
        token = await self._store.insert_session(
            id=uuid7(self._clock.now()),
            user_id=user.id,
            verified=user.password_hash,
            hash=hash_token(key.reveal()),
            scopes=sorted(ALL_SCOPES),
            expires_at=self._clock.now() + self._session_lifetime,
            client_ip=client.address,
            user_agent=_printable(client.user_agent)[:_USER_AGENT_LONGEST],
        )
        if token is None:
            raise Unauthenticated("The email, username or password is wrong.")
        await self._store.delete_oldest_sessions(user_id=user.id, keep=_MOST_SESSIONS)
        return SignedIn(key, token, user)

    async def create_token(
        self, *, user_id: UUID, name: str, scopes: Sequence[str], lifetime: timedelta, client: Client
    ) -> tuple[Secret, Token]:
        people.check_token(name=name, scopes=scopes)
        if await self._store.count_tokens_by_user(user_id=user_id, kind=TokenKind.API) >= _MOST_TOKENS:
            raise Conflict(f"There are {_MOST_TOKENS} API tokens already.", detail="Revoke one that is not used.")
        key = new_token()
        with taken_names_refused():
            token = await self._store.insert_token(
                id=uuid7(self._clock.now()),
                user_id=user_id,
                kind=TokenKind.API,
                name=name,
                hash=hash_token(key.reveal()),
                scopes=sorted(set(scopes)),
                expires_at=self._clock.now() + lifetime,
                client_ip=client.address,
                user_agent=_printable(client.user_agent)[:_USER_AGENT_LONGEST],
            )
        return key, token

    async def change_profile(self, user: User, *, email: str, username: str, display_name: str) -> User:
        people.check_profile(email=email, username=username, display_name=display_name)
        with taken_names_refused():
            return await self._store.update_user_profile(
                id=user.id, email=email, username=username, display_name=display_name
            )

    async def change_own_password(
        self, user: User, *, old: Secret, new: Secret, session_id: UUID | None, client: Client
    ) -> None:
        """Needs the old one, and ends every other session. API tokens stay: they were made on purpose."""
        people.check_password(new.reveal())
        async with self._counted_attempt(throttle.by_login(user.username, client.address)):
            if not await self._passwords.verify(user.password_hash, old):
                raise InvalidRequest(
                    "The current password is wrong.",
                    validations=[Validation("old_password", "this is not your current password")],
                )
        password_hash = await self._passwords.hash(new)
        async with self._store.transaction() as tx:
            await tx.update_user_password(id=user.id, password_hash=password_hash)
            await tx.delete_user_sessions(user_id=user.id, except_id=session_id)

    async def reset_password(self, user_id: UUID, new: Secret) -> None:
        """For another user. Ends their sessions and API tokens: whoever had the account is out."""
        people.check_password(new.reveal())
        password_hash = await self._passwords.hash(new)
        async with self._store.transaction() as tx:
            await tx.update_user_password(id=user_id, password_hash=password_hash)
            await tx.delete_user_tokens(user_id=user_id)

    async def set_role(self, user_id: UUID, role: Role) -> User:
        async with self._store.transaction() as tx:
            if role is not Role.OWNER:
                await _keep_an_owner(tx, losing=user_id)
            return await tx.update_user_role(id=user_id, role=UserRole(role))

    async def set_status(self, user_id: UUID, status: UserStatus) -> User:
        async with self._store.transaction() as tx:
            if status is UserStatus.SUSPENDED:
                await _keep_an_owner(tx, losing=user_id)
            return await tx.update_user_status(id=user_id, status=status)

    async def delete_user(self, user_id: UUID) -> None:
        async with self._store.transaction() as tx:
            await _keep_an_owner(tx, losing=user_id)
            await tx.delete_user(id=user_id)
            await tx.delete_user_tokens(user_id=user_id)

    @asynccontextmanager
    async def _counted_attempt(self, subjects: Sequence[throttle.Subject]) -> AsyncIterator[None]:
        """Counts as a failed login unless the block ends well; raises Throttled when there were too many."""
        with acting_as(AUTHENTICATOR):
            pause = await self._store.admit_login(
                subjects=[subject.name for subject in subjects],
                free_failures=[subject.free_failures for subject in subjects],
                forget_after=throttle.FORGET_AFTER,
                longest=throttle.LONGEST_PAUSE,
            )
        if pause > 0:
            raise Throttled(f"Too many failed attempts. Try again in {pause:.0f} s.", retry_after_seconds=pause)
        yield
        with acting_as(AUTHENTICATOR):
            await self._store.settle_login(
                cleared=[subject.name for subject in subjects if subject.is_cleared],
                refunded=[subject.name for subject in subjects if not subject.is_cleared],
            )


@contextmanager
def taken_names_refused() -> Iterator[None]:
    """A unique constraint that names a field becomes a Conflict that names it too."""
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        for constraint, validation in _TAKEN.items():
            if error.constraint_name == constraint:
                raise Conflict(f"That {validation.field} is taken.", validations=[validation]) from error
        raise


async def _keep_an_owner(tx: Store, *, losing: UUID) -> None:
    owners = await tx.lock_active_owners()
    if owners == [losing]:
        raise Conflict("This is the last active owner.", detail="Make another user an owner first.")


def _printable(text: str) -> str:
    return "".join(char for char in text if char.isprintable())
