"""Crush, as a table, from documents alone.

Wire format: charmbracelet/crush docs/hooks/README.md. Only the calls of its top-level agent reach a
hook; beside exit 2 it reads no JSON.
"""

from __future__ import annotations

from typing import Final

from watchgate.agents.base import Setup
from watchgate.agents.hooks import gate, observed
from watchgate.agents.table import EventAnswers, EventRule, Fields, HookOutput, Modes, Table
from watchgate.agents.table.answer_shapes import REASON

TABLE: Final = Table(
    name="crush",
    title="Crush",
    fields=Fields(event=("event", "hook_event_name"), mode=(), call_id=()),
    events={
        "PreToolUse": EventRule(
            kind="tool.pre",
            answers=EventAnswers(
                deny=HookOutput(
                    stdout={"decision": "deny", "reason": REASON}, stderr=REASON, exit=2
                ),
                allow=HookOutput(stdout={"decision": "allow", "context": "{context}"}),
                modify=HookOutput(stdout={"decision": "allow", "updated_input": "{input}"}),
                # A halt blocks the call, too; its own exit status would be a failure to the guard.
                stop=HookOutput(stdout={"halt": True, "reason": REASON}),
                context=HookOutput(stdout={"context": "{context}"}),
                merges=True,
            ),
        ),
        "PreCompact": EventRule(kind="compact.pre", what="compact"),
    },
    classes={
        "bash": "shell",
        "view": "read",
        "ls": "read",
        "grep": "read",
        "glob": "read",
        "edit": "edit",
        "multiedit": "edit",
        "write": "edit",
        "fetch": "fetch",
        "web_fetch": "fetch",
        "web_search": "fetch",
        "sourcegraph": "fetch",
        "agent": "agent",
        "agentic_fetch": "agent",
    },
    names={
        "view": "Read",
        "ls": "LS",
        "grep": "Grep",
        "glob": "Glob",
        "edit": "Edit",
        "multiedit": "MultiEdit",
        "write": "Write",
        "fetch": "WebFetch",
        "web_fetch": "WebFetch",
        "web_search": "WebSearch",
        "agent": "Agent",
        "todos": "TodoWrite",
    },
    mcp=("mcp_{server}_{tool}",),
    # No payload names the mode, and with --yolo what is handed back runs.
    modes=Modes(always_unasked=True),
    # Its regular expressions cannot look ahead, so all tools go to the gate.
    hooks=(gate("PreToolUse"), *observed("PreCompact")),
    setup=Setup(
        form="crush",
        user="~/.config/crush/crush.json",
        variable="XDG_CONFIG_HOME",
        no_project=(
            "Crush has no configuration of a project that stays out of its repository, and a "
            "committed one would run this machine's paths for everybody: use --scope user"
        ),
        comments=True,
        process=("crush",),
        after="Crush runs no hooks for the calls of its sub-agents: those are not gated.",
    ),
)
