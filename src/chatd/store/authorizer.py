"""The decision of `core.access` as AuthorizedStore asks for it; tests put a recorder or a refuser in its place."""

from typing import Protocol

from chatd.core import access
from chatd.core.access import Action, Actor, Filter, Kind, Resource
from chatd.core.errors import NotAuthorized


class Authorizer(Protocol):
    def check(self, actor: Actor, action: Action, resource: Resource) -> None:
        """Raise NotAuthorized unless the actor may."""
        ...

    def filter(self, actor: Actor, kind: Kind, action: Action = Action.READ) -> Filter:
        """What of this kind the actor may read, or do this to."""
        ...


class RoleAuthorizer:
    def check(self, actor: Actor, action: Action, resource: Resource) -> None:
        if not access.may(actor, action, resource):
            raise NotAuthorized(action=action, resource=resource.kind)

    def filter(self, actor: Actor, kind: Kind, action: Action = Action.READ) -> Filter:
        return access.reach(actor, action, kind)
