"""The admission to one socket: lets connections in, and gives the others the reason."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from watchgate.service.admission.descriptors import Limits
from watchgate.service.admission.shares import Full, Shares

FIRST_BYTE_S = 10.0
"""So long a connection may say nothing at all."""

LAST_BYTE_S = 30.0
"""So long a frame, or a long line, may take from its first byte to its last."""

UNFINISHED_BYTES = 64 * 1024 * 1024
UNFINISHED_SHARE = 16 * 1024 * 1024
"""Of payloads that have begun and not ended, all together and from one asking process."""

AskerOf = Callable[[int], Hashable]


class Door:
    """One socket's connections and the unfinished bytes that come over them, both by process."""

    def __init__(self, limits: Limits, asker_of: AskerOf) -> None:
        self.connections = Shares(limits.total, limits.share, asker_of)
        self.unfinished = Shares(UNFINISHED_BYTES, UNFINISHED_SHARE, asker_of)

    def refusal(self, full: Full) -> str:
        """Returns why a connection is not accepted, and the mend."""
        if full == "share":
            return (
                f"the process that asks has {self.connections.share:,} connections open already, "
                "and one may have no more: end what opens them"
            )
        return (
            f"{self.connections.total:,} connections are open, which is all that the core takes: "
            "end what opens them, or raise the limit on open files (`ulimit -n`)"
        )


SLOW_FIRST = f"nothing came within {FIRST_BYTE_S:g} s of connecting"
SLOW_LAST = f"the frame was not whole within {LAST_BYTE_S:g} s"
NO_ROOM = (
    f"for {LAST_BYTE_S:g} s there was no room for so long a payload: unfinished ones may hold "
    f"{UNFINISHED_SHARE // 1_048_576} MiB of one asking process and "
    f"{UNFINISHED_BYTES // 1_048_576} MiB in all, end what leaves them unfinished"
)
