"""What is asked of models beside the turns of a chat."""

from enum import StrEnum


class SideKind(StrEnum):
    TITLE = "title"
    LABEL = "label"  # of a turn, for the sidebar
    SUMMARY = "summary"  # of a chat
