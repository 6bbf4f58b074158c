"""Open requests of medium risk for pilots: what may be allowed for more, edited, or marked."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.ui.picture import busy, critical_request
from watchgate.core.model.assessment import Finding, Segment
from watchgate.core.model.events import Tool
from watchgate.core.model.views import PendingView
from watchgate.link.protocol import Snapshot

FIRST = "c1ah000000000000000000000a"
SECOND = "d2bh000000000000000000000b"
THIRD = "e3ch000000000000000000000c"
BUILD = "npm run build --mode staging"


def asked(command: str = BUILD, *, id: str = FIRST, **facts: Any) -> PendingView:
    """A medium shell call of Claude's that no rule allows."""
    words = tuple(command.split())
    plain = critical_request()
    wanted: dict[str, Any] = {
        "digest": id[:1] * 64,
        "tool": Tool("Bash", "Bash", "shell", {"command": command, "description": "x"}, "h"),
        "summary": command,
        "risk": "medium",
        "rule": "policy.no-rule",
        "reason": "no rule says that it is harmless",
        "findings": (Finding("policy.no-rule", "no rule says that it is harmless", "medium"),),
        "segments": (Segment(1, (0, len(command)), words, "medium", ("policy.no-rule",)),),
        "scopes": ("once", "turn", "session", "15m"),
        "offered": ("allow", "deny", "handback", "edit"),
        **facts,
    }
    data = msgspec.structs.replace(plain.data, **wanted)
    return msgspec.structs.replace(plain, id=id, call=f"call-{id[:4]}", data=data)


def pending(*views: PendingView) -> Snapshot:
    """The busy picture with these requests in place of its own."""
    plain = busy()
    rows = tuple(row for row in plain.rows if row.request is None)
    return msgspec.structs.replace(plain, pending=views, rows=rows)
