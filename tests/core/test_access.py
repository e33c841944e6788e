"""Who may do what; the decision for a row and the filter for a list agree."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.access import (
    AUTHENTICATOR,
    BOOKKEEPER,
    JANITOR,
    KEYRING,
    OPERATOR,
    SCOPES,
    SETUP,
    WATCHER,
    WORKER,
    Action,
    Actor,
    Everything,
    Filter,
    Kind,
    Nothing,
    OwnedBy,
    Person,
    Resource,
    Role,
    may,
    reach,
    scopes_within,
)

ALICE, BOB = UUID(int=1), UUID(int=2)
MACHINES = (AUTHENTICATOR, BOOKKEEPER, JANITOR, KEYRING, OPERATOR, SETUP, WATCHER, WORKER)

people = st.builds(
    Person,
    user_id=st.sampled_from([ALICE, BOB]),
    role=st.sampled_from(Role),
    username=st.just("x"),
    scopes=st.frozensets(st.sampled_from(sorted(SCOPES)), max_size=3),
)
actors = st.one_of(people, st.sampled_from(MACHINES))
resources = st.builds(
    Resource,
    kind=st.sampled_from(Kind),
    owner=st.sampled_from([ALICE, BOB, None]),
    members=st.frozensets(st.sampled_from([ALICE, BOB])),
)


def admits(filter: Filter, resource: Resource) -> bool:
    """What the SQL of a filter does: a query names an owner column or a member column, as its kind has one."""
    match filter:
        case Everything():
            return True
        case Nothing():
            return False
        case OwnedBy(user_id):
            return user_id in resource.members if resource.kind is Kind.GROUP else resource.owner == user_id


@given(actors, st.sampled_from(Action), resources)
def test_a_filter_admits_exactly_what_may_be_acted_on(actor: Actor, action: Action, resource: Resource):
    assert admits(reach(actor, action, resource.kind), resource) == may(actor, action, resource)


@given(people, st.sampled_from(Action), resources)
def test_a_narrower_token_never_allows_more(person: Person, action: Action, resource: Resource):
    full = Person(person.user_id, person.role, person.username)

    assert may(full, action, resource) or not may(person, action, resource)


@given(people, st.sampled_from(Action), st.sampled_from([Kind.LOGIN, Kind.SECRET, Kind.ENCRYPTION_KEY]))
def test_no_person_touches_what_belongs_to_the_machinery(person: Person, action: Action, kind: Kind):
    assert not may(person, action, Resource(kind, owner=person.user_id))


@pytest.mark.parametrize(
    ("role", "action", "owner", "allowed"),
    [
        (Role.OWNER, Action.UPDATE, BOB, True),
        (Role.AUDITOR, Action.READ, BOB, True),
        (Role.AUDITOR, Action.UPDATE, BOB, False),
        (Role.AUDITOR, Action.UPDATE, ALICE, False),
        (Role.MEMBER, Action.READ, ALICE, True),
        (Role.MEMBER, Action.READ, BOB, False),
        (Role.MEMBER, Action.UPDATE_PERSONAL, ALICE, True),
        (Role.MEMBER, Action.UPDATE, ALICE, False),
        (Role.MEMBER, Action.DELETE, ALICE, False),
    ],
)
def test_what_alice_may_do_to_a_user(role: Role, action: Action, owner: UUID, allowed: bool):
    assert may(Person(ALICE, role, "alice"), action, Resource(Kind.USER, owner=owner)) is allowed


def test_an_owner_revokes_others_tokens_but_makes_none_for_them():
    owner, token_of_bob = Person(ALICE, Role.OWNER, "alice"), Resource(Kind.TOKEN, owner=BOB)

    assert may(owner, Action.DELETE, token_of_bob)
    assert not may(owner, Action.CREATE, token_of_bob)


@pytest.mark.parametrize(
    ("role", "owner", "allowed"),
    [
        (Role.OWNER, BOB, {Action.READ, Action.UPDATE, Action.DELETE}),
        (Role.AUDITOR, BOB, {Action.READ}),
        (Role.MEMBER, BOB, set[Action]()),
        (Role.MEMBER, ALICE, {Action.CREATE, Action.READ, Action.UPDATE, Action.DELETE, Action.RUN}),
    ],
)
def test_only_who_owns_a_workspace_reaches_into_it(role: Role, owner: UUID, allowed: set[Action]):
    alice, workspace = Person(ALICE, role, "alice"), Resource(Kind.WORKSPACE, owner=owner)

    assert {action for action in Action if may(alice, action, workspace)} == allowed


@pytest.mark.parametrize(
    ("held", "asked", "within"),
    [
        (["*:*"], ["user:read", "*:*"], True),
        (["user:*"], ["user:read"], True),
        (["*:read"], ["user:read"], True),
        (["*:read"], ["user:*"], False),
        (["user:read"], ["user:read", "group:read"], False),
        ([], ["user:read"], False),
        (["user:read"], [], True),
    ],
)
def test_scopes_cover_only_what_they_name(held: list[str], asked: list[str], within: bool):
    assert scopes_within(held, asked) is within
