"""Open requests as the control socket shows them, in a list and in full."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.requests import Request as ApprovalRequest
from watchgate.core.views import PendingView

LISTED_CHARS = 8_192
"""Characters of a call that a list holds; `show` has all of it."""


def listed(view: PendingView) -> dict[str, Any]:
    """Returns one line of `ls --json`."""
    data = view.data
    return {
        "id": view.id,
        "agent": view.agent,
        "session": view.session,
        "label": view.label,
        "lane": data.lane,
        "asks": data.asks,
        "tool": data.tool.name,
        "summary": _beginning(data.summary, view.id),
        **({"asked": _beginning(data.asked, view.id)} if data.asked else {}),
        "risk": data.risk,
        "reason": data.reason,
        "digest": data.digest,
        "received_at": view.at,
        "deadline_s": data.timeout_s,
        "deadline_at": data.deadline_at,
    }


def _beginning(line: str, request: str) -> str:
    left_out = len(line) - LISTED_CHARS
    if left_out <= 0:
        return line
    return f"{line[:LISTED_CHARS]}… {left_out} more characters: watchgate show {request[:8]}"


def shown(request: ApprovalRequest, view: PendingView | None = None) -> dict[str, Any]:
    """Returns one request in full, open or settled; with facts and escalations of its `view`."""
    subject = request.subject
    whole: dict[str, Any] = {
        "id": request.id,
        "agent": subject.agent,
        "session": subject.session,
        "turn": subject.turn,
        "call": request.call,
        "status": request.status.value,
        "received_at": request.opened.wall_us,
        **msgspec.to_builtins(request.data),
    }
    if view is not None and (view.facts or view.cut):
        whole |= {"facts": msgspec.to_builtins(view.facts), "cut": view.cut}
    if view is not None and view.escalated:
        whole["escalated"] = msgspec.to_builtins(view.escalated)
    if request.settlement is not None:
        end = request.settlement
        whole["ended"] = {
            "word": end.word,
            "by": end.by,
            "at": end.at.wall_us,
            "waited_s": round(end.waited_s, 3),
            "reason": end.reason,
            **({"answers": end.answers} if end.answers else {}),
        }
    return whole
