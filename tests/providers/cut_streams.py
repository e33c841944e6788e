"""What a stream that ended too early has to be: no answer, no word of the vendor's about it, a reason to ask again."""

from chatd.core.failure import Fault
from core.failing import failure
from providers.reading import Read

CLOSED_EARLY = failure(fault=Fault.STREAM_CLOSED_EARLY)  # which the guarded stream makes of a stream without an end


def assert_asked_again(part: Read) -> None:
    assert not part.finished
    assert part.answer.finish is None
    assert part.failures == ()
    assert CLOSED_EARLY.retryable
