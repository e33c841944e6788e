"""Calls of the kernel that a workspace has no use for, refused by a filter that the kernel runs (seccomp).

They reach what is not apart in namespaces (keys, tracing, other kernels, files by their number), or are where attacks
on kernels begin. All else is allowed: what a sandbox may do is decided by its namespaces and rights.
"""

import errno
import struct
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

# Of linux/seccomp.h: where a filter finds what is called, and what it answers.
_NUMBER_AT, _MACHINE_AT, _SECOND_ARGUMENT_AT = 0, 4, 24  # its lower half: these machines are little-endian
_ALLOW: Final = 0x7FFF0000
_FAIL: Final = 0x00050000  # with this error
# Of linux/bpf_common.h.
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
# Of asm-generic/ioctls.h: they put words into a terminal as if they had been typed, also in one outside.
_TYPING: Final = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_X32: Final = 0x40000000  # numbers from here on are calls of another kind, which hardly any kernel has


class _Calls(msgspec.Struct, frozen=True):
    """The numbers of calls for programs of one kind, which `machine` (AUDIT_ARCH_… of linux/audit.h) tells apart."""

    machine: int
    ioctl: int
    refused: tuple[int, ...]
    has_x32: bool = False


# In this order: add_key, request_key, keyctl, kexec_load, kexec_file_load, perf_event_open, open_by_handle_at, bpf,
# userfaultfd. 32-bit programs for Intel's machines have no kexec_file_load.
_X86_64: Final = _Calls(0xC000003E, 16, (248, 249, 250, 246, 320, 298, 304, 321, 323), has_x32=True)
_I386: Final = _Calls(0x40000003, 54, (286, 287, 288, 283, 336, 342, 357, 374))
_AARCH64: Final = _Calls(0xC00000B7, 29, (217, 218, 219, 104, 294, 241, 265, 280, 282))
_ARM: Final = _Calls(0x40000028, 54, (309, 310, 311, 347, 401, 364, 371, 386, 388))
_PROGRAMS_OF: Final[Mapping[str, Sequence[_Calls]]] = {"x86_64": (_X86_64, _I386), "aarch64": (_AARCH64, _ARM)}


def call_filter(machine: str) -> bytes | None:
    """The filter for a machine (`uname -m`) as bubblewrap takes it; None where nobody has written one."""
    kinds = _PROGRAMS_OF.get(machine)
    if kinds is None:
        return None
    steps = [_step(_LOAD, _MACHINE_AT)]
    for calls in kinds:
        judged = _judged(calls)
        steps += [_step(_EQUAL, calls.machine, otherwise=len(judged)), *judged]
    return b"".join([*steps, _failing(errno.ENOSYS)])


def _judged(calls: _Calls) -> list[bytes]:
    steps = [_step(_LOAD, _NUMBER_AT)]
    if calls.has_x32:
        steps += [_step(_AT_LEAST, _X32, otherwise=1), _failing(errno.ENOSYS)]
    for number in calls.refused:
        steps += [_step(_EQUAL, number, otherwise=1), _failing(errno.EPERM)]
    typing = [_step(_LOAD, _SECOND_ARGUMENT_AT)]
    for request in _TYPING:
        typing += [_step(_EQUAL, request, otherwise=1), _failing(errno.EPERM)]
    return [*steps, _step(_EQUAL, calls.ioctl, otherwise=len(typing)), *typing, _step(_RETURN, _ALLOW)]


def _failing(error: int) -> bytes:
    return _step(_RETURN, _FAIL | error)


def _step(code: int, value: int, *, otherwise: int = 0) -> bytes:
    """One instruction. `otherwise`: so many are left out where a comparison does not hold."""
    return struct.pack("<HBBI", code, 0, otherwise, value)
