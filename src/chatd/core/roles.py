"""Who a message is from and who may see it."""

from enum import StrEnum


class Role(StrEnum):
    """Who a message is from. The database has the same names as an enum type."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Visibility(StrEnum):
    """Who a message is for: people, prompts, or both."""

    USER = "user"
    MODEL = "model"
    BOTH = "both"
