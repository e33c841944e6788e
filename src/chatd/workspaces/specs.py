"""A stored workspace as provisioners want it."""

import msgspec

from chatd.core.workspaces.lifetime import Lifetime, lifetime
from chatd.store.queries import GetWorkspaceSpecRow
from chatd.workspaces.provisioner import WorkspaceSpec


def spec_of(row: GetWorkspaceSpecRow) -> WorkspaceSpec:
    return WorkspaceSpec(
        workspace_id=row.id,
        name=row.name,
        owner_id=row.owner_id,
        owner_name=row.owner_name,
        config=row.config,
        parameters=msgspec.json.decode(row.parameters, type=dict[str, str]),
        token=row.agent_token,
    )


def lifetime_of(row: GetWorkspaceSpecRow) -> Lifetime:
    return lifetime(
        ttl_ms=row.ttl_ms,
        default_ttl_ms=row.default_ttl_ms,
        allows_user_autostop=row.allows_user_autostop,
        max_lifetime_ms=row.max_lifetime_ms,
    )
