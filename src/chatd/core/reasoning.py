"""How hard a model should think."""

from enum import StrEnum


class ReasoningEffort(StrEnum):
    """From least to most. The database has the same names as an enum type."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"
