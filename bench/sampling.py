"""Where a process spends its CPU time: looks at the stack every few milliseconds of it, and costs next to nothing."""

import re
import signal
from collections import Counter
from types import FrameType

SECONDS = 0.002  # of CPU time between two looks


class Sampler:
    """In the main thread. Time in C counts for the Python function that called it."""

    def __init__(self) -> None:
        self._alone: Counter[str] = Counter()
        self._with_callees: Counter[str] = Counter()
        self._looks = 0

    def start(self) -> None:
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, SECONDS, SECONDS)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def report(self, most: int) -> str:
        """Percent of the CPU time, of a function with what it calls, and of it alone."""
        lines = [f"{self._looks} looks"]
        packages: Counter[str] = Counter()
        for name, n in self._alone.items():
            packages["/".join(name.split(":")[0].split("/")[:2])] += n
        named = {"by package": packages, "with what it calls": self._with_callees, "alone": self._alone}
        for title, counts in named.items():
            lines += [title, *(f"{n / self._looks:7.1%}  {name}" for name, n in counts.most_common(most))]
        return "\n".join(lines)

    def _look(self, _number: int, frame: FrameType | None) -> None:
        self._looks += 1
        if frame is not None:
            self._alone[_name(frame)] += 1
        seen: set[str] = set()
        while frame is not None:
            seen.add(_name(frame))
            frame = frame.f_back
        self._with_callees.update(seen)


def _name(frame: FrameType) -> str:
    code = frame.f_code
    place = re.sub(r"^.*?/(site-packages|src|python3\.\d+)/", "", code.co_filename)
    return f"{place}:{code.co_qualname}"
