"""/api/v2/audit: who changed what."""

from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

import msgspec
from litestar import Router, get
from litestar.params import QueryParameter

from chatd.server.routes.asking import Ask, PageLimit, TheAsk, find_user_id, problems
from chatd.store.queries import AuditLog
from chatd.wire import audit as wire

_LAST: Final = 2**63 - 1  # past every entry
Before = Annotated[int | None, QueryParameter(ge=1, le=_LAST, description="`next_before` of the page before.")]
ByActor = Annotated[
    str | None, QueryParameter(max_length=64, description="What this user did: an id, a username, or `me`.")
]
OfAction = Annotated[wire.AuditAction | None, QueryParameter(description="Only this.")]
OfOutcome = Annotated[wire.AuditOutcome | None, QueryParameter(description="Only what was done, or what was refused.")]
OfTargetKind = Annotated[
    str | None, QueryParameter(max_length=64, description="Only changes of this kind, such as `user` or `provider`.")
]
OfTarget = Annotated[str | None, QueryParameter(max_length=256, description="Only changes of what has this id.")]
From = Annotated[datetime | None, QueryParameter(description="From when on.")]
To = Annotated[datetime | None, QueryParameter(description="Until before when.")]


@get("/", tags=["audit"], responses=problems(400, 401, 404))
async def list_audit_entries(
    ask: TheAsk,
    actor: ByActor = None,
    action: OfAction = None,
    target_kind: OfTargetKind = None,
    target_id: OfTarget = None,
    outcome: OfOutcome = None,
    since: From = None,
    until: To = None,
    before: Before = None,
    limit: PageLimit = 25,
) -> wire.AuditPage:
    """Who changed what about users, groups, tokens, providers, models, settings, limits and keys, newest first. For
    owners and auditors."""
    rows = await ask.store.list_audit_entries(
        before_id=before,
        actor_id=None if actor is None else await _actor_id(ask, actor),
        action=action,
        target_kind=target_kind,
        target_id=target_id,
        outcome=outcome,
        since=since,
        until=until,
        max_rows=limit + 1,
    )
    page = rows[:limit]
    return wire.AuditPage([_shown(row) for row in page], page[-1].id if len(rows) > limit else None)


async def _actor_id(ask: Ask, ref: str) -> UUID:
    """An id may be that of a user who is gone."""
    try:
        return UUID(ref)
    except ValueError:
        return await find_user_id(ask, ref)


def _shown(row: AuditLog) -> wire.AuditEntry:
    return wire.AuditEntry(
        id=row.id,
        at=row.at,
        actor=wire.AuditActor(row.actor_kind, row.actor_name, row.actor_id),
        action=row.action,
        target=wire.AuditTarget(row.target_kind, row.target_id, row.target_name),
        changes=msgspec.json.decode(row.changes),
        outcome=row.outcome,
        request_id=row.request_id,
        client_address=row.client_address,
    )


audit_router = Router("/api/v2/audit", route_handlers=[list_audit_entries])
