"""What a client has of a chat after the events of its stream: the other half of `core/stream`.

Events are JSON objects as they come over the wire. Applied in order, from the first picture or from a resumed place,
they lead to the same picture however they were cut.
"""

from typing import Any

Json = dict[str, Any]


class Picture:
    """`parts` are those of the answer that comes, pieces of one text joined; `live` is what running tools say."""

    def __init__(self) -> None:
        self.last_id: str | None = None
        self.messages: dict[int, Json] = {}
        self.queue: list[Json] = []
        self.status: str | None = None
        self.error: Json | None = None
        self.action: list[Json] | None = None
        self.retry: Json | None = None
        self.parts: list[Json] = []
        self.live: dict[str, str] = {}
        self._retried: tuple[int, int] | None = None  # which attempt failed

    def apply(self, event: Json) -> None:
        """Unknown kinds are left alone: a newer server may have more."""
        self.last_id = event.get("id", self.last_id)
        match event["type"]:
            case "history_reset":
                self.messages = {}
            case "message":
                self.messages[event["message"]["id"]] = event["message"]
            case "queue_update":
                self.queue = event.get("queued_messages", [])
            case "status":
                self._set_status(event["status"]["status"])
            case "error":
                self.error = event["error"]
            case "action_required":
                self.action = event["action_required"]["tool_calls"]
            case "retry":
                self.retry, self._retried = event["retry"], _attempt(event)
            case "preview_reset":
                self.parts, self.live = [], {}
                self._attempt_is(_attempt(event))
            case "message_part":
                self._add(event["message_part"])
            case _:
                pass

    def shown(self) -> Json:
        """All of it as plain values, to be compared."""
        return {
            "messages": [self.messages[id] for id in sorted(self.messages)],
            "queue": self.queue,
            "status": self.status,
            "error": self.error,
            "action": self.action,
            "retry": self.retry,
            "parts": self.parts,
        }

    def _set_status(self, status: str) -> None:
        self.status = status
        self.error = self.error if status == "error" else None
        self.action = self.action if status == "requires_action" else None
        self.retry = self.retry if status == "running" else None

    def _attempt_is(self, attempt: tuple[int, int]) -> None:
        """A retry that was waited for is over when another attempt has begun."""
        if attempt != self._retried:
            self.retry = None

    def _add(self, message_part: Json) -> None:
        part = message_part["part"]
        if "seq" not in message_part:
            self.live[part["tool_call_id"]] = part["result_delta"]  # `result_reset`: it replaces
            return
        self._attempt_is(_attempt(message_part))
        if part["type"] == "tool-result":
            self.live.pop(part["tool_call_id"], None)
        entry = {"role": message_part["role"], **part}
        if self.parts and (joined := _joined(self.parts[-1], entry)):
            self.parts[-1] = joined
        else:
            self.parts.append(entry)


def _attempt(of: Json) -> tuple[int, int]:
    return of["history_version"], of["generation_attempt"]


def _joined(last: Json, part: Json) -> Json | None:
    """One text of two pieces; None when they are not neighbours in one."""
    for field in ("text", "args_delta"):
        if field in last and field in part:
            rest = {name: value for name, value in last.items() if name != field}
            same = rest == {name: value for name, value in part.items() if name != field}
            return {**last, field: last[field] + part[field]} if same else None
    return None
