"""Who may do what: one pure decision for a row, and its twin for a list (a filter that SQL can apply).

`may` and `reach` agree: `reach(actor, action, kind)` admits exactly the rows for which `may(actor, action, row)` holds.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, assert_never
from uuid import UUID

import msgspec


class Action(StrEnum):
    CREATE = "create"
    READ = "read"
    UPDATE = "update"
    UPDATE_PERSONAL = "update_personal"  # one's own profile and password, as opposed to role and status
    DELETE = "delete"
    # Make the agent of a chat work, which it does with the rights and at the cost of the chat's owner; reach into a
    # workspace: run commands, read and write files.
    RUN = "run"


class Kind(StrEnum):
    """What can be acted on."""

    USER = "user"
    GROUP = "group"
    TOKEN = "token"
    ORGANIZATION = "organization"
    SETTING = "setting"
    LOGIN = "login"
    SECRET = "secret"
    ENCRYPTION_KEY = "encryption_key"
    CHAT = "chat"
    FILE = "file"
    PROVIDER = "provider"  # of models: addresses, keys, options, and how its models are called
    MODEL = "model"  # what everyone may choose from
    REPLICA = "replica"
    USAGE_LIMIT = "usage_limit"  # how much someone may spend, and how much of it they have
    AUDIT = "audit"  # who changed what
    PUSH_SUBSCRIPTION = "push_subscription"  # a browser that is told of what happens in someone's chats
    TEMPLATE = "template"  # what workspaces are made of
    WORKSPACE = "workspace"
    GIT_PROVIDER = "git_provider"  # where pull requests are: addresses and tokens


class Role(StrEnum):
    OWNER = "owner"
    AUDITOR = "auditor"
    MEMBER = "member"


class Resource(msgspec.Struct, frozen=True):
    """The thing acted on: `owner` is the user it belongs to (a user belongs to itself), `members` who shares it."""

    kind: Kind
    owner: UUID | None = None
    members: frozenset[UUID] = frozenset()


ALL_SCOPES: Final = frozenset({"*:*"})


class Person(msgspec.Struct, frozen=True):
    """A signed-in user, through a session (all scopes) or an API token that may do less."""

    user_id: UUID
    role: Role
    username: str
    scopes: frozenset[str] = ALL_SCOPES
    token_id: UUID | None = None
    # When an API token ends: what it makes can't last longer. None for a session.
    expires_at: datetime | None = None

    @property
    def is_unlimited(self) -> bool:
        """Whether nothing that the user may do is kept from this token. Giving rights away takes all of one's own."""
        return not self.scopes.isdisjoint(ALL_SCOPES)


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
    """Rows that belong to this user, or that this user is a member of."""

    user_id: UUID


Filter = Everything | Nothing | OwnedBy
EVERYTHING: Final = Everything()
NOTHING: Final = Nothing()

_ALL: Final = frozenset(Action)
_READ: Final = frozenset({Action.READ})
_NONE: Final[frozenset[Action]] = frozenset()

# What a role may do to anything of a kind, and what everyone may do to what is their own. A kind that is missing is for
# machines only: logins, stored secrets and encryption keys are nobody's to touch over the API.
_BY_ROLE: Final[Mapping[Role, Mapping[Kind, frozenset[Action]]]] = {
    Role.OWNER: {
        Kind.USER: _ALL,
        Kind.GROUP: _ALL,
        Kind.TOKEN: frozenset({Action.READ, Action.DELETE}),  # revoke anyone's, but sign in as nobody else
        Kind.ORGANIZATION: _ALL,
        Kind.SETTING: _ALL,
        Kind.PROVIDER: _ALL,
        Kind.MODEL: _ALL,
        Kind.CHAT: frozenset({Action.READ, Action.UPDATE, Action.DELETE}),  # stop and archive, but not run
        Kind.FILE: _READ,
        Kind.USAGE_LIMIT: _ALL,
        Kind.AUDIT: _READ,
        Kind.PUSH_SUBSCRIPTION: frozenset({Action.DELETE}),  # stop anyone's, but listen to nobody else
        Kind.TEMPLATE: _ALL,
        Kind.WORKSPACE: frozenset({Action.READ, Action.UPDATE, Action.DELETE}),  # stop and delete, but not reach into
        Kind.GIT_PROVIDER: _ALL,
    },
    Role.AUDITOR: {
        Kind.USER: _READ,
        Kind.GROUP: _READ,
        Kind.TOKEN: _READ,
        Kind.ORGANIZATION: _READ,
        Kind.SETTING: _READ,
        Kind.PROVIDER: _READ,
        Kind.MODEL: _READ,
        Kind.CHAT: _READ,
        Kind.FILE: _READ,
        Kind.USAGE_LIMIT: _READ,
        Kind.AUDIT: _READ,
        Kind.TEMPLATE: _READ,
        Kind.WORKSPACE: _READ,
        Kind.GIT_PROVIDER: _READ,
    },
    Role.MEMBER: {Kind.ORGANIZATION: _READ, Kind.SETTING: _READ, Kind.MODEL: _READ, Kind.TEMPLATE: _READ},
}
_ON_OWN: Final[Mapping[Kind, frozenset[Action]]] = {
    Kind.USER: frozenset({Action.READ, Action.UPDATE_PERSONAL}),
    Kind.TOKEN: frozenset({Action.CREATE, Action.READ, Action.DELETE}),
    Kind.CHAT: frozenset({Action.CREATE, Action.READ, Action.UPDATE, Action.DELETE, Action.RUN}),
    Kind.FILE: frozenset({Action.CREATE, Action.READ, Action.DELETE}),
    Kind.USAGE_LIMIT: _READ,
    Kind.PUSH_SUBSCRIPTION: frozenset({Action.CREATE, Action.READ, Action.DELETE}),
    Kind.WORKSPACE: frozenset({Action.CREATE, Action.READ, Action.UPDATE, Action.DELETE, Action.RUN}),
}
_ON_SHARED: Final[Mapping[Kind, frozenset[Action]]] = {Kind.GROUP: _READ}

SCOPES: Final = frozenset(f"{kind}:{action}" for kind in ("*", *_BY_ROLE[Role.OWNER]) for action in ("*", *Action))


def may(actor: Actor, action: Action, resource: Resource) -> bool:
    """Whether the actor may do this to that."""
    match actor:
        case Machine():
            return action in actor.rights.get(resource.kind, _NONE)
        case Person():
            return _in_scope(actor.scopes, resource.kind, action) and _has_right(actor, action, resource)
        case _:
            assert_never(actor)


def reach(actor: Actor, action: Action, kind: Kind) -> Filter:
    """The filter that leaves exactly those of a kind to which the actor may do this."""
    match actor:
        case Machine():
            return EVERYTHING if action in actor.rights.get(kind, _NONE) else NOTHING
        case Person():
            if not _in_scope(actor.scopes, kind, action):
                return NOTHING
            if action in _BY_ROLE[actor.role].get(kind, _NONE):
                return EVERYTHING
            if action in _ON_OWN.get(kind, _NONE) or action in _ON_SHARED.get(kind, _NONE):
                return OwnedBy(actor.user_id)
            return NOTHING
        case _:
            assert_never(actor)


def scopes_within(held: Iterable[str], asked: Iterable[str]) -> bool:
    """Whether every scope asked for is covered by one that is held: a token can't mint a wider one."""
    pairs = [scope.split(":", 1) for scope in held]
    return all(
        any(kind in ("*", want_kind) and action in ("*", want_action) for kind, action in pairs)
        for want_kind, want_action in (scope.split(":", 1) for scope in asked)
    )


def _in_scope(scopes: frozenset[str], kind: Kind, action: Action) -> bool:
    return not scopes.isdisjoint({"*:*", f"{kind}:*", f"*:{action}", f"{kind}:{action}"})


def _has_right(person: Person, action: Action, resource: Resource) -> bool:
    return (
        action in _BY_ROLE[person.role].get(resource.kind, _NONE)
        or (resource.owner == person.user_id and action in _ON_OWN.get(resource.kind, _NONE))
        or (person.user_id in resource.members and action in _ON_SHARED.get(resource.kind, _NONE))
    )


# The machine actors. Each is named in logs; give a new part its own instead of widening one of these.
AUTHENTICATOR: Final = Machine("authenticator", {Kind.LOGIN: _ALL})
SETUP: Final = Machine(
    "setup", {Kind.USER: frozenset({Action.READ, Action.CREATE}), Kind.LOGIN: frozenset({Action.CREATE})}
)
JANITOR: Final = Machine(
    "janitor",
    dict.fromkeys((Kind.TOKEN, Kind.LOGIN, Kind.REPLICA, Kind.CHAT, Kind.FILE, Kind.AUDIT), frozenset({Action.DELETE})),
)
# Writes down what was refused.
RECORDER: Final = Machine("recorder", {Kind.AUDIT: frozenset({Action.CREATE})})
WATCHER: Final = Machine("watcher", {Kind.SETTING: _READ, Kind.ORGANIZATION: _READ})
WORKER: Final = Machine(
    "worker",
    {
        Kind.CHAT: frozenset({Action.READ, Action.UPDATE, Action.RUN}),
        Kind.FILE: _READ,
        Kind.PROVIDER: _READ,
        Kind.MODEL: _READ,
        Kind.SETTING: _READ,
        Kind.TEMPLATE: _READ,
        Kind.REPLICA: _ALL,
    },
)
# Keeps exactly one default model, makes providers of the environment's keys, and asks them with their keys.
MODEL_KEEPER: Final = Machine(
    "model keeper",
    {
        Kind.PROVIDER: frozenset({Action.CREATE, Action.READ}),
        Kind.MODEL: frozenset({Action.CREATE, Action.READ, Action.UPDATE}),
        Kind.SETTING: frozenset({Action.READ, Action.UPDATE}),
    },
)
# Sees what anyone has spent, before anything is begun at their cost.
BOOKKEEPER: Final = Machine("bookkeeper", {Kind.USAGE_LIMIT: _READ})
# Tells browsers that a turn has ended, with a key pair that it keeps.
PUSHER: Final = Machine(
    "pusher",
    {
        Kind.PUSH_SUBSCRIPTION: frozenset({Action.READ, Action.DELETE}),
        Kind.SECRET: frozenset({Action.CREATE, Action.READ}),
    },
)
KEYRING: Final = Machine("keyring", {Kind.SECRET: _ALL, Kind.ENCRYPTION_KEY: _ALL})
# Makes what was said searchable.
INDEXER: Final = Machine("indexer", {Kind.CHAT: frozenset({Action.READ, Action.UPDATE})})
# Builds workspaces, stops those whose time is up, and finds their agents. Whom it does that for is asked of who acts.
PROVISIONER: Final = Machine(
    "provisioner",
    {
        Kind.TEMPLATE: frozenset({Action.CREATE, Action.READ}),
        Kind.WORKSPACE: frozenset({Action.READ, Action.UPDATE, Action.DELETE, Action.RUN}),
        Kind.SETTING: _READ,
        Kind.REPLICA: _READ,
    },
)
# Keeps what is known of chats' repositories and pull requests.
GIT_SYNC: Final = Machine("git sync", {Kind.CHAT: frozenset({Action.READ, Action.UPDATE}), Kind.GIT_PROVIDER: _READ})
# Looks up whose chat a tool works for, to act as them.
STAND_IN: Final = Machine("stand-in", {Kind.USER: _READ})
# Looks up who has made a link, to act as them.
LINKS: Final = Machine("links", {Kind.USER: _READ})
# Whoever can run `chatd` beside the data directory or the database URL already holds everything.
OPERATOR: Final = Machine("operator", dict.fromkeys(Kind, _ALL))
