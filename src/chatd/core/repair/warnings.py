"""What a history loses when it is made legal for a vendor, as values: who repairs does not log."""

from enum import StrEnum

import msgspec


class Loss(StrEnum):
    METADATA = "metadata"  # that another vendor or protocol wants to see again
    REASONING = "reasoning"  # of another vendor
    VENDOR_CALL = "vendor_call"  # a vendor's own call or result: of another vendor, or not a complete pair
    FILE = "file"  # a text stands for it, or it is where no file can be
    ORPHAN_RESULT = "orphan_result"  # a result without a call; kept as text if it has a name
    MISSING_RESULT = "missing_result"  # a call without a result; it got an error
    MISPLACED_PART = "misplaced_part"  # a part that a message of this role can't have


class RepairWarning(msgspec.Struct, frozen=True):
    """`message` is the place in the history that was given."""

    message: int
    loss: Loss
    detail: str
