"""Makes a history legal for the vendor that will get it: pure, for any history, and the same if done twice.

What a vendor would refuse is changed or left out; the stored history stays as it is, so that switching back to the
vendor that wrote a message restores what only it understands. The order of work:

  1. each part on its own (repair_parts): empties, files, what only people see, metadata of others
  2. the vendor's own calls within each message (repair_vendor_calls): complete pairs, before our own calls
  3. our calls and their results across messages (repair_calls): each call has one result, right after its message
  4. ids that are acceptable and used once (repair_ids)

Ids and texts depend on what came before only, so a growing history keeps its beginning, as prompt caches need.
"""

from collections.abc import Sequence

import msgspec

from chatd.core.model import Capabilities, PromptMessage, ProtocolName
from chatd.core.repair.calls import pair_calls
from chatd.core.repair.ids import distinct_ids
from chatd.core.repair.parts import repair_parts
from chatd.core.repair.vendor_calls import pair_vendor_calls
from chatd.core.repair.warnings import RepairWarning

__all__ = ["RepairWarning", "Repaired", "repair"]


class Repaired(msgspec.Struct, frozen=True):
    """`warnings` name what is lost for this vendor, for whoever can log."""

    messages: tuple[PromptMessage, ...]
    warnings: tuple[RepairWarning, ...] = ()


def repair(
    messages: Sequence[PromptMessage], *, protocol: ProtocolName, provider: str, capabilities: Capabilities
) -> Repaired:
    """`provider` is whom the request goes to, as in `PromptMessage.origin`."""
    warnings: list[RepairWarning] = []
    numbered = [
        (place, repair_parts(place, message, protocol, provider, capabilities, warnings))
        for place, message in enumerate(messages)
    ]
    numbered = [(place, pair_vendor_calls(place, message, protocol, warnings)) for place, message in numbered]
    # A message with only files of a tool may stand between calls and results, and is empty by now.
    paired = pair_calls([(place, message) for place, message in numbered if message.parts], warnings)
    return Repaired(distinct_ids(paired), tuple(warnings))
