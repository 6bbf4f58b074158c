"""Watches how long requests wait, and notifies somebody elsewhere, who has to come and look."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from watchgate.core.clock import Instant
from watchgate.core.redact import redact
from watchgate.core.requests import Request
from watchgate.core.text import safe_text

ID_CHARS = 8
LABEL_CHARS = 60
REASON_CHARS = 200
SUMMARY_CHARS = 300


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One request, in plain words; secrets are covered and hidden characters visible.

    `id` is the beginning of the request's, `asks` is "approval", "question" or "plan", `left_s` how
    long it still waits and `silence` what comes then: "deny" or "handback". `text` says all of it
    in one line. Neither a digest nor a link is in it: whoever decides has to come and look.
    """

    id: str
    host: str
    agent: str
    session: str
    tool: str
    asks: str
    risk: str
    reason: str
    summary: str
    asked_at: str
    waited_s: float
    left_s: float
    silence: str
    decide_with: str
    text: str


def message(request: Request, label: str, host: str, now: Instant) -> Message:
    """Builds the message about an open request of the session that is called `label`."""
    data, subject = request.data, request.subject
    id = request.id[:ID_CHARS]
    waited_s = round(now.mono_s - request.opened.mono_s, 1)
    left_s = round(max(0.0, request.deadline_s - now.mono_s), 1)
    summary, session = _covered(data.summary, SUMMARY_CHARS), _covered(label, LABEL_CHARS)
    decide_with = f"watchgate show {id}"
    what = data.risk.upper() if data.asks == "approval" else data.asks.upper()
    end = "denied" if request.silence == "deny" else "handed back"
    text = (
        f"{what} {_covered(data.tool.name, LABEL_CHARS)} of {subject.agent} {session} on {host}"
        f" waits {waited_s:.0f} s, {end} in {left_s:.0f} s: {summary} (decide with: {decide_with})"
    )
    return Message(
        id=id,
        host=host,
        agent=subject.agent,
        session=session,
        tool=_covered(data.tool.name, LABEL_CHARS),
        asks=data.asks,
        risk=data.risk,
        reason=_covered(data.reason, REASON_CHARS),
        summary=summary,
        asked_at=datetime.fromtimestamp(request.opened.wall_us / 1_000_000, UTC).isoformat(),
        waited_s=waited_s,
        left_s=left_s,
        silence=request.silence,
        decide_with=decide_with,
        text=text,
    )


def _covered(text: str, limit: int) -> str:
    """Returns one line without secrets, covered before it is cut: a part of one looks like none."""
    safe = safe_text(redact(text))
    return safe if len(safe) <= limit else f"{safe[: limit - 3]}..."
