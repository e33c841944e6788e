"""What follows when an owner has changed providers or models: every replica notices, and the log says who did it."""

from uuid import UUID

import msgspec

from chatd.observe.logs import get_logger
from chatd.server.routes.asking import Ask

_log = get_logger("chatd.server.models")


def note_change(ask: Ask, what: str, id: UUID, given: msgspec.Struct | None = None) -> None:
    """Of what was given only the names of the fields are logged: one of them may be a key."""
    ask.versions.changed("models")
    fields = [] if given is None else [field.name for field in msgspec.structs.fields(given) if _says(given, field)]
    _log.info(what, id=str(id), by=ask.person.username, user_id=str(ask.person.user_id), fields=fields)


def _says(given: msgspec.Struct, field: msgspec.structs.FieldInfo) -> bool:
    """Whether it is more than what is meant by leaving it out."""
    default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    return getattr(given, field.name) != default
