"""Workspaces and builds as clients see them."""

from collections.abc import Sequence

import msgspec

from chatd.core.workspaces.states import state_of
from chatd.store import queries
from chatd.wire import workspaces as wire

WorkspaceRow = queries.GetWorkspaceRow | queries.ListWorkspacesRow


def shown_workspace(
    row: WorkspaceRow,
    *,
    chats: Sequence[queries.ListChatsInWorkspaceRow] | None = None,
    agent: wire.WorkspaceAgent | None = None,
) -> wire.Workspace:
    return wire.Workspace(
        id=row.id,
        organization_id=row.organization_id,
        owner_id=row.owner_id,
        owner_name=row.owner_name,
        template_id=row.template_id,
        template_name=row.template_name,
        name=row.name,
        state=state_of(row.transition, row.build_status, deleted=row.deleted),
        parameters=msgspec.json.decode(row.parameters, type=dict[str, str]),
        ttl_ms=row.ttl_ms,
        latest_build=wire.LatestBuild(
            id=row.build_id,
            number=row.build_number,
            transition=row.transition,
            status=row.build_status,
            created_at=row.build_created_at,
            finished_at=row.build_finished_at,
            error=row.build_error,
            error_code=row.build_error_code,
        ),
        last_used_at=row.last_used_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
        deadline=row.deadline,
        max_deadline=row.max_deadline,
        host_id=row.host_id,
        chats=None if chats is None else [shown_chat_in(chat) for chat in chats],
        agent=agent,
    )


def shown_chat_in(row: queries.ListChatsInWorkspaceRow) -> wire.WorkspaceChat:
    return wire.WorkspaceChat(row.id, row.title, row.status, row.updated_at)


def shown_summary(row: queries.GetWorkspaceRow) -> wire.WorkspaceSummary:
    state = state_of(row.transition, row.build_status, deleted=row.deleted)
    return wire.WorkspaceSummary(row.id, row.name, state, row.template_name)


def shown_build(row: queries.WorkspaceBuild) -> wire.WorkspaceBuild:
    return wire.WorkspaceBuild(
        id=row.id,
        workspace_id=row.workspace_id,
        number=row.number,
        transition=row.transition,
        status=row.status,
        reason=row.reason,
        created_at=row.created_at,
        initiator_id=row.initiator_id,
        started_at=row.started_at,
        finished_at=row.finished_at,
        error=row.error,
        error_code=row.error_code,
        cancelling=row.cancelled_by is not None and not row.status.is_over,
    )


def shown_line(row: queries.WorkspaceBuildLog) -> wire.BuildLogLine:
    return wire.BuildLogLine(row.id, row.created_at, row.level, row.stage, row.line)
