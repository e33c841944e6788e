"""Why an agent did not do what it was asked."""

from collections.abc import Sequence

from chatd.core.errors import ChatdError, Validation


class AgentUnreachable(ChatdError):
    """No answer, or only a part of one. Not `was_sent`: the agent has seen nothing of the request, so that it may be
    sent again whatever it asks for."""

    def __init__(self, message: str, *, was_sent: bool, detail: str | None = None) -> None:
        super().__init__(message, detail=detail)
        self.was_sent = was_sent


class AgentRefused(ChatdError):
    """The agent said no, and why. `kind` tells refusals of one status apart: `stale_epoch`, `not_found`, …"""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        kind: str | None = None,
        detail: str | None = None,
        validations: Sequence[Validation] = (),
    ) -> None:
        super().__init__(message, detail=detail)
        self.status = status
        self.kind = kind
        self.validations = tuple(validations)

    def told(self) -> str:
        """All that it said, for people and models."""
        lines = [self.message, *([self.detail] if self.detail else [])]
        return "\n".join([*lines, *(f"{each.field}: {each.detail}" for each in self.validations)])
