"""The hook frame: ASCII header lines, a blank line, the payload; and the answer line back."""

from __future__ import annotations

import msgspec

from watchgate.agents.base import Answer
from watchgate.core.events import Lane

MAX_HEADER_BYTES = 16 * 1024
MAX_PAYLOAD_BYTES = 4 * 1024 * 1024
MAGIC = "watchgate/1"


class FrameError(ValueError):
    """The peer broke the framing; the message says how."""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The header of one hook frame.

    `length` counts payload bytes; `dropped` those that the client did not send because there were
    too many; `off` says that the client found the gate switched off and waits for nothing; `proxy`
    that the agent runs below the client, not above it.
    """

    agent: str
    lane: Lane
    length: int
    native: str = ""
    deadline_s: float | None = None
    off: bool = False
    proxy: bool = False
    dropped: int = 0
    env: dict[str, str] = {}


def parse_head(raw: bytes) -> Head:
    """Returns the header from its bytes, without the blank line; raises `FrameError`."""
    try:
        first, *lines = raw.decode("ascii").split("\n")
        magic, agent, lane = first.split(" ")
        fields = dict(line.split(": ", 1) for line in lines if line)
        if magic != MAGIC:
            raise FrameError(f"the first line is not {MAGIC} AGENT LANE")
        deadline_ms = fields.get("deadline_ms")
        head = Head(
            agent=agent,
            lane=Lane(lane),
            length=int(fields["length"]),
            native=fields.get("event", ""),
            deadline_s=None if deadline_ms is None else int(deadline_ms) / 1000,
            off=fields.get("off") == "1",
            proxy=fields.get("proxy") == "1",
            dropped=int(fields.get("dropped", "0")),
            env={name[4:]: value for name, value in fields.items() if name.startswith("env.")},
        )
    except KeyError as missing:
        raise FrameError(f"the header has no {missing.args[0]}") from None
    except (ValueError, OverflowError) as fault:
        raise FrameError(f"unreadable header: {fault}") from None
    if head.length < 0:
        raise FrameError("a negative length")
    return head


def answer_bytes(answer: Answer) -> bytes:
    """Returns one ASCII line with exit code and sizes, then the bytes for stdout and stderr."""
    sizes = f"{answer.exit_code} {len(answer.stdout)} {len(answer.stderr)}\n"
    return sizes.encode() + answer.stdout + answer.stderr
