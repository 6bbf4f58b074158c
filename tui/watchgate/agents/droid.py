"""Factory Droid, as a table, from documents alone.

Wire format: Factory-AI/factory docs/reference/hooks-reference.mdx.
"""

from __future__ import annotations

from typing import Final

from watchgate.agents.base import Setup
from watchgate.agents.hooks import gate, observed
from watchgate.agents.table import EventAnswers, EventRule, Fields, Modes, Table
from watchgate.agents.table.answer_shapes import PRE_ALLOW, PRE_DENY, PRE_MODIFY, PRE_STOP

_AUTO: Final = ("auto-low", "auto-medium", "auto-high")

TABLE: Final = Table(
    name="droid",
    title="Droid",
    fields=Fields(
        event=("hookEventName", "hook_event_name"),
        session=("sessionId", "session_id"),
        mode=("permissionMode", "permission_mode"),
        transcript=("transcriptPath", "transcript_path"),
    ),
    events={
        "PreToolUse": EventRule(
            kind="tool.pre",
            answers=EventAnswers(
                deny=PRE_DENY, allow=PRE_ALLOW, modify=PRE_MODIFY, stop=PRE_STOP, merges=True
            ),
        ),
        "PostToolUse": EventRule(kind="tool.post"),
        "UserPromptSubmit": EventRule(kind="prompt.submit", text=("prompt",)),
        "SessionStart": EventRule(kind="session.start", what="{source}"),
        "SessionEnd": EventRule(kind="session.end", what="{reason}"),
        "Stop": EventRule(kind="turn.end", text=("last_assistant_message",)),
        "SubagentStop": EventRule(kind="agent.stop", text=("last_assistant_message",)),
        "PreCompact": EventRule(kind="compact.pre", what="{trigger}"),
        "Notification": EventRule(kind="notice", text=("message",)),
    },
    classes={
        "Bash": "shell",
        "Execute": "shell",
        "Read": "read",
        "Grep": "read",
        "Glob": "read",
        "LS": "read",
        "Write": "edit",
        "Create": "edit",
        "Edit": "edit",
        "MultiEdit": "edit",
        "ApplyPatch": "edit",
        "WebFetch": "fetch",
        "FetchUrl": "fetch",
        "WebSearch": "fetch",
        "Task": "agent",
        "ExitSpecMode": "plan",
    },
    names={"Create": "Write", "ApplyPatch": "Edit", "FetchUrl": "WebFetch", "Task": "Agent"},
    modes=Modes(autonomous=_AUTO, unasked=_AUTO),
    # Whether its matchers can look ahead is not known, so "all but the reading tools" is not said.
    hooks=(
        gate("PreToolUse"),
        *observed(
            "PostToolUse",
            "UserPromptSubmit",
            "SessionStart",
            "SessionEnd",
            "Stop",
            "SubagentStop",
            "PreCompact",
            "Notification",
        ),
    ),
    setup=Setup(
        form="groups",
        user="~/.factory/settings.json",
        project=".factory/settings.local.json",
        comments=True,
        process=("droid",),
        must_trust=True,
        after=(
            "Droid takes over changed hooks only after you looked at them: run /hooks in it, or "
            "its calls are not gated."
        ),
    ),
)
