"""Our own memory closed to other processes of the same user, as ssh-agent's is."""

from __future__ import annotations

import ctypes
import resource
import sys

_PR_SET_DUMPABLE = 4  # from <sys/prctl.h>


def close_memory() -> bool:
    """Leaves no core file, and on Linux lets no process of this user trace or read us.

    What is started gets its memory opened again by exec; only the soft limit on core files stays.
    Returns whether other processes are kept out. Where they are, `/proc/PID/environ`, `exe`, `fd`
    and `mem` of this process belong to root.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
