"""What a chat was told by its workspace, as clients see it: without the texts themselves."""

from chatd.store.queries import ChatContext
from chatd.wire import chats as wire
from chatd.workspaces.contexts.pinned import decoded


def shown_context(row: ChatContext) -> wire.ChatContext | None:
    """None for what another version of chatd has stored."""
    pinned = decoded(row.snapshot)
    if pinned is None:
        return None
    resources = [
        wire.ChatContextResource(
            kind=resource.kind,
            source=resource.source,
            status=resource.status,
            size_bytes=resource.size,
            name=resource.name or None,
            description=resource.description or None,
            error=resource.error,
        )
        for resource in pinned.resources
    ]
    return wire.ChatContext(hash=pinned.hash, pinned_at=row.pinned_at, resources=resources)
