"""The `Range` of a download: one range of bytes, as RFC 9110 has it."""

import re
from typing import Final

import msgspec

from chatd.agent.refusals import Refused

_FORM: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


class ByteRange(msgspec.Struct, frozen=True):
    begin: int
    size: int


def range_of(header: str | None, size: int) -> ByteRange | None:
    """None for no header, and for forms that may be passed over (several ranges, other units): then all is sent.

    Raises a refusal (416) for a range of which the file has nothing.
    """
    if header is None or (form := _FORM.fullmatch(header.strip())) is None:
        return None
    first, last = form.groups()
    if not first and not last:
        return None
    if not first:
        wanted = min(int(last), size)
        begin, end = size - wanted, size
    else:
        begin, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < begin:
            return None
    if begin >= end:
        raise Refused(f"The file has {size} bytes, none of them in this range.", status=416, kind="range")
    return ByteRange(begin, end - begin)
