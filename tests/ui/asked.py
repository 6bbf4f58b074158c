"""Moments in which an agent asks a person something, for pilots and pictures."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.ui.picture import NOW_US, busy, critical_request
from watchgate.core.model.events import Choice, Question, Tool, ToolClass
from watchgate.core.model.records import Asks
from watchgate.core.model.views import PendingView
from watchgate.link.protocol import Snapshot

STORE = Question(
    "Which store should the limits go into?",
    key="store",
    header="Store",
    choices=(
        Choice("Redis", "one more server to run, shared by all workers"),
        Choice("SQLite", "a file beside the journal; one writer at a time"),
        Choice("In memory", "nothing to run, lost at every restart"),
    ),
)
CHECKS = Question(
    "Which checks should run before each commit?",
    key="checks",
    header="Checks",
    choices=(Choice("lint", "ruff, 2 s"), Choice("types", "mypy, 9 s"), Choice("tests", "31 s")),
    multiple=True,
)
AGE = Question("How many days are records kept?", key="days", type="integer", required=False)
PLAN = """\
# Split the limits out of the API

1. Move `limits.py` into a package of its own, with the tests beside it.
2. Keep the old import path for one release, and say so in the changelog.
3. Read the window from the configuration; the default stays 60 s.

## What stays as it is

The headers, the error body, and everything that the mobile client reads.
"""


def question(*questions: Question, summary: str = "") -> Snapshot:
    """The busy picture with questions of Claude's in place of its requests."""
    return _asking(
        "question",
        "AskUserQuestion",
        {"questions": [{"question": each.text} for each in questions]},
        summary or questions[0].text,
        offered=("answer", "deny", "handback", "stop"),
        questions=questions,
    )


def plan(text: str = PLAN) -> Snapshot:
    """The busy picture with a plan of Claude's in place of its requests."""
    return _asking(
        "plan",
        "ExitPlanMode",
        {"plan": text, "planFilePath": "/home/ana/.claude/plans/p.md"},
        "Split the limits out of the API",
        offered=("allow", "deny", "handback", "stop"),
    )


def _asking(asks: Asks, tool: str, args: dict[str, Any], summary: str, **facts: Any) -> Snapshot:
    view = critical_request()
    cls: ToolClass = "plan" if asks == "plan" else "question"
    data = msgspec.structs.replace(
        view.data,
        lane="relay",
        native="PermissionRequest",
        tool=Tool(tool, tool, cls, args, "h"),
        summary=summary,
        risk="low",
        rule=asks,
        reason="the agent asks a person",
        findings=(),
        silence="handback",
        deadline_at=0,
        timeout_s=0,
        asks=asks,
        **facts,
    )
    shown: PendingView = msgspec.structs.replace(view, data=data)
    rows = tuple(
        msgspec.structs.replace(row, tool=tool, risk="low", summary=summary)
        if row.request == view.id
        else row
        for row in busy().rows
        if row.request in (None, view.id)
    )
    sessions = tuple(
        msgspec.structs.replace(each, pending=int(each.session == view.session))
        for each in busy().sessions
    )
    return msgspec.structs.replace(
        busy(), now=NOW_US, pending=(shown,), rows=rows, sessions=sessions
    )
