"""The hook frame: ASCII header lines, a blank line, the payload; and the answer line back.

- The doctor's probe call, which a core tells from an agent's call: it belongs to no session. It is
  always denied. A payload that somebody makes look like it gains nothing but that denial, and hides
  nothing: every word of it is fixed.
"""

from __future__ import annotations

import msgspec

from watchgate.agents.base import HookAnswer
from watchgate.core.model.events import Event, Lane, ToolCall

PROBE_SESSION = "watchgate-doctor"
PROBE_NATIVE = "doctor.probe"
PROBE_DENIAL = "The core answers. This was the probe of watchgate doctor: nothing was to run"

PROBE_COMMAND = ": watchgate-doctor"
"""Does nothing in any shell."""
PROBE_PATH = "watchgate-doctor"


def is_probe(event: Event) -> bool:
    """Returns whether an event is one of the doctor's calls, by every word of its input.

    Nothing else tells it for all: some agents give a call no id, and some no session. Its lane may
    be another than it was made for: while the gate is off, everything is observed.
    """
    if not isinstance(event.body, ToolCall):
        return False
    tool = event.body.tool
    words = [word for word in tool.input.values() if word != ""]
    return tool.cls != "edit" and words in ([PROBE_COMMAND], [PROBE_PATH])


def probe_text(event: Event) -> str:
    """Returns the text of the core's record about it."""
    return f"watchgate doctor tried the {event.lane} lane of {event.agent}; no agent asked anything"


MAX_HEADER_BYTES = 16 * 1024
MAX_PAYLOAD_BYTES = 4 * 1024 * 1024
MAGIC = "watchgate/1"


class HookFrameError(ValueError):
    """The peer broke the framing; the message says how."""


class FrameHead(msgspec.Struct, frozen=True, kw_only=True):
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


def parse_head(raw: bytes) -> FrameHead:
    """Returns the header from its bytes, without the blank line; raises `HookFrameError`."""
    try:
        first, *lines = raw.decode("ascii").split("\n")
        magic, agent, lane = first.split(" ")
        fields = dict(line.split(": ", 1) for line in lines if line)
        if magic != MAGIC:
            raise HookFrameError(f"the first line is not {MAGIC} AGENT LANE")
        deadline_ms = fields.get("deadline_ms")
        head = FrameHead(
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
        raise HookFrameError(f"the header has no {missing.args[0]}") from None
    except (ValueError, OverflowError) as fault:
        raise HookFrameError(f"unreadable header: {fault}") from None
    if head.length < 0:
        raise HookFrameError("a negative length")
    return head


def answer_bytes(answer: HookAnswer) -> bytes:
    """Returns one ASCII line with exit code and sizes, then the bytes for stdout and stderr."""
    sizes = f"{answer.exit_code} {len(answer.stdout)} {len(answer.stderr)}\n"
    return sizes.encode() + answer.stdout + answer.stderr
