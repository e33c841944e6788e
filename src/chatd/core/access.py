"""Who may do what: one pure decision for a row, and its twin for a list (a filter that SQL can apply)."""

from collections.abc import Mapping
from enum import StrEnum
from uuid import UUID

import msgspec


class Action(StrEnum):
    CREATE = "create"
    READ = "read"
    UPDATE = "update"
    DELETE = "delete"


class Kind(StrEnum):
    """What can be acted on. A token's scope names these."""

    USER = "user"
    GROUP = "group"
    TOKEN = "token"
    ORGANIZATION = "organization"
    SETTING = "setting"
    LOGIN = "login"
    SECRET = "secret"
    ENCRYPTION_KEY = "encryption_key"


class Role(StrEnum):
    OWNER = "owner"
    AUDITOR = "auditor"
    MEMBER = "member"


class Resource(msgspec.Struct, frozen=True):
    """The thing acted on. `owner` is the user it belongs to (for a user: that user)."""

    kind: Kind
    id: UUID | None = None
    owner: UUID | None = None
    members: frozenset[UUID] = frozenset()


class Person(msgspec.Struct, frozen=True):
    """A signed-in user, through a session (scope `*:*`) or an API token that may do less."""

    user_id: UUID
    role: Role
    username: str
    scopes: frozenset[str] = frozenset({"*:*"})
    token_id: UUID | None = None


class Machine(msgspec.Struct, frozen=True):
    """A part of chatd acting for itself, with exactly the rights it needs."""

    name: str
    rights: Mapping[Kind, frozenset[Action]]


Actor = Person | Machine


class Everything(msgspec.Struct, frozen=True):
    pass


class Nothing(msgspec.Struct, frozen=True):
    pass


class OwnedBy(msgspec.Struct, frozen=True):
    """Rows whose `owner` (or, where the query names one, `member`) is this user."""

    user_id: UUID


Filter = Everything | Nothing | OwnedBy
EVERYTHING = Everything()
NOTHING = Nothing()
