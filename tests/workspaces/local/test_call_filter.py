"""Which calls of the kernel the filter of a sandbox lets through, for all kinds of programs that a machine runs."""

import errno
import struct

import pytest

from chatd.workspaces.local.call_filter import call_filter

X86_64, I386, AARCH64, ARM, OTHER = 0xC000003E, 0x40000003, 0xC00000B7, 0x40000028, 0xC00000F3
ALLOWED = 0x7FFF0000
TIOCSTI, TIOCGWINSZ = 0x5412, 0x5413
KINDS = [
    # keyctl, bpf, ioctl, getpid
    ("x86_64", X86_64, (250, 321, 16, 39)),
    ("x86_64", I386, (288, 357, 54, 20)),
    ("aarch64", AARCH64, (219, 280, 29, 172)),
    ("aarch64", ARM, (311, 386, 54, 20)),
]


def judged(machine: str, kind: int, number: int, argument: int = 0) -> int:
    """What the kernel would make of a call: the filter, run step by step."""
    program = call_filter(machine)
    assert program is not None
    call = struct.pack("<IIQ6Q", number, kind, 0, 0, argument, 0, 0, 0, 0)
    steps = list(struct.iter_unpack("<HBBI", program))
    at, held = 0, 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("<I", call, value)
            case 0x15:
                at += then if held == value else otherwise
            case 0x35:
                at += then if held >= value else otherwise
            case 0x06:
                return value
            case _:
                raise AssertionError(code)


def refused(error: int) -> int:
    return 0x00050000 | error


@pytest.mark.parametrize(("machine", "kind", "numbers"), KINDS)
def test_calls_are_known_by_the_numbers_of_each_kind_of_program(machine: str, kind: int, numbers: tuple[int, ...]):
    keyctl, bpf, ioctl, getpid = numbers

    assert [judged(machine, kind, each) for each in (keyctl, bpf)] == [refused(errno.EPERM)] * 2
    assert [judged(machine, kind, each) for each in (getpid, 0, 1, 435)] == [ALLOWED] * 4
    assert judged(machine, kind, ioctl, TIOCSTI) == refused(errno.EPERM)
    assert judged(machine, kind, ioctl, TIOCSTI | 1 << 32) == refused(errno.EPERM)  # the kernel takes 32 bits of it
    assert judged(machine, kind, ioctl, TIOCGWINSZ) == ALLOWED
    assert judged(machine, kind, getpid, TIOCSTI) == ALLOWED


def test_there_is_no_way_around_by_programs_of_another_kind():
    assert judged("x86_64", X86_64, 0x40000000 | 250) == refused(errno.ENOSYS)
    assert judged("x86_64", AARCH64, 39) == refused(errno.ENOSYS)
    assert judged("aarch64", OTHER, 39) == refused(errno.ENOSYS)


def test_a_machine_that_nobody_has_written_a_filter_for_has_none():
    assert call_filter("riscv64") is None
