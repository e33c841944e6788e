"""What a runner that is gone has left of its step: the answer if it was whole, and what people have seen."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from chatd.core.interrupted import interrupted_messages
from chatd.core.messages import NewMessage
from chatd.core.parts import FilePart, ToolResultPart
from chatd.core.preview import Preview, cut_short
from chatd.core.roles import Role
from chatd.core.step import local_calls


class Leftovers(msgspec.Struct, frozen=True):
    """`draft` is None when the answer was not whole."""

    draft: NewMessage | None
    shown: Sequence[Preview]

    def results(self) -> dict[str, ToolResultPart]:
        """Of the draft's calls, by call. They were shown, so they are what happened, whatever the tools say now."""
        calls = {call.tool_call_id for call in local_calls(self.draft.parts)} if self.draft else set[str]()
        return {
            part.tool_call_id: part
            for preview in self.shown
            if isinstance(part := preview.part, ToolResultPart) and part.tool_call_id in calls
        }

    def files(self) -> tuple[FilePart, ...]:
        """That the draft's tools left."""
        return tuple(preview.part for preview in self.shown if isinstance(preview.part, FilePart)) if self.draft else ()

    def interrupted(self, at: str, model_config_id: UUID) -> list[NewMessage]:
        """As the runner itself would have stored it; `model_config_id` is the model that was speaking."""
        if self.draft is not None:
            answer = msgspec.structs.replace(self.draft, parts=(*self.draft.parts, *self.files()))
            return interrupted_messages(answer, self.results())
        parts = cut_short(self.shown, at)
        return interrupted_messages(NewMessage(role=Role.ASSISTANT, parts=parts, model_config_id=model_config_id), {})
