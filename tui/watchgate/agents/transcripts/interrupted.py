"""Interruptions are in transcripts alone: no hook tells of them.

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

_CLAUDE_TEXT: Final = "[Request interrupted by user"


def interrupted_at_us(agent: str, chunk: bytes) -> int | None:
    """Returns when the person last interrupted a turn in these whole lines (UTC µs); None: never.

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


def _is_claude_interruption(fields: dict[str, Any]) -> bool:
    if fields.get("type") != "user":
        return False
    content = mapping(fields.get("message")).get("content")
    texts = [content] if isinstance(content, str) else [p.get("text") for p in parts(content)]
    return any(isinstance(text, str) and text.startswith(_CLAUDE_TEXT) for text in texts)


def _is_codex_interruption(fields: dict[str, Any]) -> bool:
    payload = mapping(fields.get("payload"))
    return fields.get("type") == "event_msg" and word(payload.get("type")) == "turn_aborted"


def _is_copilot_interruption(fields: dict[str, Any]) -> bool:
    return fields.get("type") == "abort"


INTERRUPTIONS: Final[dict[str, tuple[bytes, Callable[[dict[str, Any]], bool]]]] = {
    "claude": (_CLAUDE_TEXT.encode(), _is_claude_interruption),
    "codex": (b"turn_aborted", _is_codex_interruption),
    "copilot": (b'"abort"', _is_copilot_interruption),
}
"""The agents whose transcripts tell of it: what such a line holds, and how to read it."""
