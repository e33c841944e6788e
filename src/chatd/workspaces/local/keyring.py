"""Keys of the kernel's that a sandbox must not have: those of the session in which the server was started.

Who has a session's keyring may read all keys in it, whoever they are of, and it is inherited by every process.
"""

import ctypes
import errno
import os
from typing import Final

_JOIN: Final = 1  # KEYCTL_JOIN_SESSION_KEYRING of linux/keyctl.h
# The number of keyctl in the system's table of calls: no library that is always there has a function for it.
_NUMBERS: Final = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "loongarch64": 219, "ppc64le": 271, "s390x": 280}
_NO_KEYS: Final = (errno.ENOSYS, errno.EPERM)  # there are none here, or they are out of reach for what we start too


def leave_session_keyring() -> None:
    """This thread, and all that it starts, has an empty one from now on. Raises OSError."""
    number = _NUMBERS.get(os.uname().machine)
    if number is None:
        return
    if ctypes.CDLL(None, use_errno=True).syscall(number, _JOIN, None) < 0:
        failed = ctypes.get_errno()
        if failed not in _NO_KEYS:
            raise OSError(failed, os.strerror(failed), "session keyring")
