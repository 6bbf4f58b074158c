"""A warm process that forks cores, one at a time: a core of its own costs 20 ms so, not a second.

Reads a `Birth` as JSON, or `kill`, from each line of its input. Says `warm`, then of each core
`ready` once it serves, `step NAME` when its fate is met at a step, and `dead STATUS` when it is
gone. It ends with its input.
"""

from __future__ import annotations

import os
import select
import signal
import sys

import msgspec

from tests.crash import steps
from tests.crash.fates import KILL, Birth


def main() -> None:
    """Fork for every line."""
    # Before any of it is imported, which may keep the functions that it finds.
    steps.install()
    from tests.crash import serving

    lines = sys.stdin.buffer
    serving.warm_up(msgspec.json.decode(lines.readline(), type=Birth))
    serving.say("warm")
    for line in lines:
        if line.strip() == KILL:
            continue  # it was dead by then
        birth = msgspec.json.decode(line, type=Birth)
        pid = os.fork()
        if pid == 0:
            serving.meet(birth)
        serving.say(f"dead {_end_of(pid, birth.fate.after_s)}")


def _end_of(pid: int, after_s: float | None) -> int:
    """How the core ended: by its fate, by the word of its test or of the clock."""
    gone = os.pidfd_open(pid)
    ready, _, _ = select.select([gone, sys.stdin], [], [], after_s)
    if gone not in ready:
        os.kill(pid, signal.SIGKILL)
    os.close(gone)
    return os.waitpid(pid, 0)[1]


if __name__ == "__main__":
    main()
