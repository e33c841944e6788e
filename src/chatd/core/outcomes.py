"""Why a transition was refused: a value with fields, and the error that a person gets for it."""

from enum import StrEnum

import msgspec

from chatd.core.errors import (
    ChatdError,
    Conflict,
    InvalidRequest,
    NotFound,
    QueueFull,
    TransitionNotAllowed,
    Validation,
)
from chatd.core.states import State
from chatd.core.transitions import Transition


class Refusal(StrEnum):
    """Named as the SQL functions name their outcomes."""

    NOT_FOUND = "not_found"  # no such chat, or not this owner's
    NOT_ALLOWED = "not_allowed"  # not in the table for this state
    INVALID_STATE = "invalid_state"  # a state that no transition leads to
    # A runner's fence
    NOT_OWNER = "not_owner"  # another runner has the chat, or none: the only one that ends a runner
    HISTORY_MOVED = "history_moved"
    # What was asked for does not fit
    QUEUE_FULL = "queue_full"
    FILE_NOT_FOUND = "file_not_found"
    TOO_MANY_FILES = "too_many_files"
    MESSAGE_NOT_FOUND = "message_not_found"
    MESSAGE_NOT_USERS = "message_not_users"
    QUEUED_NOT_FOUND = "queued_not_found"
    QUEUED_HELD = "queued_held"
    QUEUED_NOT_HELD = "queued_not_held"
    QUEUE_CHANGED = "queue_changed"
    RESULT_REPEATED = "result_repeated"
    RESULT_MISSING = "result_missing"
    RESULT_UNEXPECTED = "result_unexpected"
    NOTHING_TO_WAIT_FOR = "nothing_to_wait_for"
    NOTHING_TO_SUMMARISE = "nothing_to_summarise"
    NOT_ROOT = "not_root"
    PARENT_NOT_OPEN = "parent_not_open"
    ID_TAKEN = "id_taken"
    WORKSPACE_NOT_FOUND = "workspace_not_found"  # no such workspace, or not of the chat's owner and organization
    RUNS_ELSEWHERE = "runs_elsewhere"  # on a machine that can't reach the workspace
    REPEATED = "repeated"  # it was sent with this key before
    KEY_REUSED = "key_reused"  # another message was sent with this key


class Refused(msgspec.Struct, frozen=True):
    """Nothing was changed. `subject` is the id of what stands in the way, `limit` the number that would be exceeded."""

    transition: Transition
    reason: Refusal
    state: State
    subject: str = ""
    limit: int = 0

    def error(self) -> ChatdError:
        """What to raise when a person asked."""
        match self.reason:
            case Refusal.NOT_FOUND:
                return NotFound("Chat")
            case Refusal.NOT_ALLOWED:
                return TransitionNotAllowed(transition=self.transition, state=self.state)
            case Refusal.INVALID_STATE:
                return Conflict("The chat is in a state that it can't go on from.", detail="Repair it first.")
            case Refusal.NOT_OWNER | Refusal.HISTORY_MOVED:
                return Conflict("The chat has changed meanwhile.")
            case Refusal.QUEUE_FULL:
                return QueueFull(limit=self.limit)
            case Refusal.FILE_NOT_FOUND:
                return _wrong("A file is not there, or not yours.", "file_id", self.subject)
            case Refusal.TOO_MANY_FILES:
                return InvalidRequest(f"A chat can have at most {self.limit} files.")
            case Refusal.MESSAGE_NOT_FOUND:
                return NotFound("Message")
            case Refusal.MESSAGE_NOT_USERS:
                return InvalidRequest("Only a user's message can be edited.")
            case Refusal.QUEUED_NOT_FOUND:
                return NotFound("Queued message")
            case Refusal.QUEUED_HELD:
                return Conflict("Someone else is editing this message.")
            case Refusal.QUEUED_NOT_HELD:
                return Conflict("This message is not being edited, or the time for it was up.")
            case Refusal.QUEUE_CHANGED:
                return Conflict("The queue has changed meanwhile.", detail="Look at it again, then order it.")
            case Refusal.RESULT_REPEATED:
                return _wrong("A call has two results.", "tool_call_id", self.subject)
            case Refusal.RESULT_MISSING:
                return _wrong("A call has no result.", "tool_call_id", self.subject)
            case Refusal.RESULT_UNEXPECTED:
                return _wrong("There is a result of a call that nobody waits for.", "tool_call_id", self.subject)
            case Refusal.NOTHING_TO_WAIT_FOR:
                return Conflict("No call waits for the client.")
            case Refusal.NOTHING_TO_SUMMARISE:
                return Conflict("There is nothing to summarise yet.")
            case Refusal.NOT_ROOT:
                return InvalidRequest("A child is archived with its root.", detail="Archive the root.")
            case Refusal.WORKSPACE_NOT_FOUND:
                return _wrong("The workspace is not there, or not yours.", "workspace_id", self.subject)
            case Refusal.RUNS_ELSEWHERE:
                return Conflict(
                    "The chat runs on a machine that can't reach this workspace.",
                    detail="Wait until it rests, or interrupt it, then try again.",
                )
            case Refusal.ID_TAKEN:
                return Conflict("There is a chat with this id already.")
            case Refusal.REPEATED:
                return Conflict("This message was sent already.")
            case Refusal.KEY_REUSED:
                return Conflict(
                    "Another message was sent with this key.", detail="Take a new key for each message that is new."
                )
            case Refusal.PARENT_NOT_OPEN:
                return Conflict("The parent chat is not there or is archived.")


def _wrong(message: str, field: str, subject: str) -> InvalidRequest:
    return InvalidRequest(message, validations=[Validation(field, subject)])
