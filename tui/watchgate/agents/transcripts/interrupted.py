"""The interruptions in the transcripts of agents, which no hook tells of.

Sources: Claude Code 2.1 writes a `user` line whose text is "[Request interrupted by user]", or
"... for tool use]"; Codex CLI 0.169 an `event_msg` of type `turn_aborted`; Copilot CLI 1.0 a line
of type `abort`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from watchgate.agents.transcripts.lines import mapping, parts, word
from watchgate.agents.transcripts.when import moment_us
from watchgate.core.json_faults import JSON_FAULTS

_CLAUDE: Final = "[Request interrupted by user"


def interrupted_at_us(agent: str, chunk: bytes) -> int | None:
    """When the person last interrupted a turn by these whole lines (UTC µs); None for never.

    A line that cannot be read is skipped, and so are those of sub-agents: their session goes on.
    """
    if agent not in INTERRUPTIONS:
        return None
    mark, tells = INTERRUPTIONS[agent]
    newest = None
    for line in chunk.split(b"\n"):
        if mark not in line:
            continue
        try:
            fields = mapping(msgspec.json.decode(line))
        except JSON_FAULTS:
            continue
        if tells(fields) and fields.get("isSidechain") is not True:
            newest = max(newest or 0, moment_us(fields.get("timestamp")))
    return newest


def _claude(fields: dict[str, Any]) -> bool:
    if fields.get("type") != "user":
        return False
    content = mapping(fields.get("message")).get("content")
    texts = [content] if isinstance(content, str) else [p.get("text") for p in parts(content)]
    return any(isinstance(text, str) and text.startswith(_CLAUDE) for text in texts)


def _codex(fields: dict[str, Any]) -> bool:
    payload = mapping(fields.get("payload"))
    return fields.get("type") == "event_msg" and word(payload.get("type")) == "turn_aborted"


def _copilot(fields: dict[str, Any]) -> bool:
    return fields.get("type") == "abort"


INTERRUPTIONS: Final[dict[str, tuple[bytes, Callable[[dict[str, Any]], bool]]]] = {
    "claude": (_CLAUDE.encode(), _claude),
    "codex": (b"turn_aborted", _codex),
    "copilot": (b'"abort"', _copilot),
}
"""The agents whose transcripts tell of it: what such a line holds, and how to read it."""
