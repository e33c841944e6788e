"""The instruction files and skills that a chat was given, as they were then."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.system_prompt import InstructionFile, Skill, Workspace
from chatd.wire.agent.context import ContextKind, ContextResource, ContextStatus, WorkspaceContext


class PinnedContext(msgspec.Struct, frozen=True, kw_only=True):
    """Stored as JSON. `hash` is the agent's, of all but MCP configurations."""

    workspace_id: UUID
    hash: str
    os: str
    directory: str
    resources: tuple[ContextResource, ...]

    @property
    def size(self) -> int:
        """Of its texts; all but nothing else."""
        return sum(len(resource.content) for resource in self.resources)

    def workspace(self) -> Workspace:
        """For the prompt."""
        files = tuple(
            InstructionFile(resource.source, resource.content) for resource in self._good(ContextKind.INSTRUCTION_FILE)
        )
        return Workspace(os=self.os, directory=self.directory, files=files)

    def skills(self) -> Mapping[str, ContextResource]:
        """By name, in the order in which they were found; the first of a name counts."""
        found: dict[str, ContextResource] = {}
        for resource in self._good(ContextKind.SKILL):
            found.setdefault(resource.name, resource)
        return found

    def _good(self, kind: ContextKind) -> list[ContextResource]:
        return [each for each in self.resources if each.kind is kind and each.status is ContextStatus.OK]


def told_skills(skills: Mapping[str, ContextResource]) -> tuple[Skill, ...]:
    return tuple(Skill(name, resource.description) for name, resource in skills.items())


def pin_of(workspace_id: UUID, context: WorkspaceContext) -> PinnedContext:
    return PinnedContext(
        workspace_id=workspace_id,
        hash=context.hash,
        os=context.os,
        directory=context.directory,
        resources=context.resources,
    )


def encoded(pinned: PinnedContext) -> str:
    return msgspec.json.encode(pinned).decode()


def decoded(snapshot: str) -> PinnedContext | None:
    """None when it can't be read: another version of chatd has stored it."""
    try:
        return _DECODER.decode(snapshot)
    except msgspec.MsgspecError:
        return None


_DECODER: Final = msgspec.json.Decoder(PinnedContext)
