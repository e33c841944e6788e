"""What a chat says when it was given up: its turn ended the process that ran it too often."""

import msgspec

from chatd.core.lease import MOST_TAKEOVERS


def gave_up_error() -> str:
    """The error of such a chat, as JSON."""
    error = {
        "kind": "gave_up",
        "message": (
            f"The server stopped {MOST_TAKEOVERS} times while it was working on this answer and tries no more. "
            "What it had written is kept. Send a message to go on."
        ),
        "retryable": True,
    }
    return msgspec.json.encode(error).decode()
