"""Why work on a chat ends before it is done. Raised out of it, and caught by the runner."""

import msgspec

from chatd.core.failure import Failure, error_payload


class Changed(Exception):
    """The history, the status or the owner is no longer what the work relied on."""


class NotOurs(Exception):
    """Another runner has the chat, or nobody: this one ends and writes nothing more."""


class LetGo(Exception):
    """The replica stops: whoever takes the chat goes on after the step that was finished."""


class TurnFailed(Exception):
    """The turn ends with this error, which its user sees."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    def payload(self) -> str:
        return msgspec.json.encode(error_payload(self.failure)).decode()
