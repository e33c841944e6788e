"""The audit log as owners and auditors see it."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

AuditAction = Literal["create", "update", "delete"]
AuditOutcome = Literal["done", "refused"]


class AuditActor(msgspec.Struct):
    """`kind` is `user`; `machine`, a part of chatd, such as the `operator` at the command line; or `database`, someone
    with a connection of their own."""

    kind: str
    name: str
    id: UUID | None = None


class AuditTarget(msgspec.Struct):
    """Of an attempt that was refused, `name` is what was asked for."""

    kind: str
    id: str
    name: str


class AuditEntry(msgspec.Struct):
    """`changes` are by field: `{"before": …, "after": …}`, or `"changed"` for a secret."""

    id: int
    at: datetime
    actor: AuditActor
    action: str
    target: AuditTarget
    changes: dict[str, Any]
    outcome: str
    request_id: str
    client_address: str


class AuditPage(msgspec.Struct):
    """Newest first. `next_before` is the `before` of the next page."""

    entries: list[AuditEntry]
    next_before: int | None = None
