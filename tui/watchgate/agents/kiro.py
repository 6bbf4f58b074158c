"""Kiro CLI, once Amazon Q CLI, as a table, from documents alone.

Wire format: aws/amazon-q-developer-cli docs/hooks.md and docs/agent-format.md. Its payloads name no
session: what runs in one folder is one.
"""

from __future__ import annotations

from typing import Final

from watchgate.agents.base import Setup
from watchgate.agents.hooks import gate, observed
from watchgate.agents.table import EventAnswers, EventRule, Fields, Modes, Table
from watchgate.agents.table.answer_shapes import ON_STDERR

TABLE: Final = Table(
    name="kiro",
    title="Kiro",
    fields=Fields(session=("session_id", "cwd"), mode=(), call_id=(), failed=()),
    events={
        "preToolUse": EventRule(kind="tool.pre", answers=EventAnswers(deny=ON_STDERR)),
        "postToolUse": EventRule(
            kind="tool.post", fields=Fields(result=("tool_response.result", "tool_response"))
        ),
        "agentSpawn": EventRule(kind="session.start", what="agent"),
        "userPromptSubmit": EventRule(kind="prompt.submit", text=("prompt",)),
        "stop": EventRule(kind="turn.end", text=("assistant_response",)),
    },
    classes={
        "execute_bash": "shell",
        "shell": "shell",
        "fs_read": "read",
        "read": "read",
        "grep": "read",
        "glob": "read",
        "fs_write": "edit",
        "write": "edit",
        "web_fetch": "fetch",
        "web_search": "fetch",
        "use_subagent": "agent",
        "delegate": "agent",
    },
    names={
        "fs_read": "Read",
        "read": "Read",
        "grep": "Grep",
        "glob": "Glob",
        "fs_write": "Write",
        "write": "Write",
        "web_fetch": "WebFetch",
        "web_search": "WebSearch",
        "use_subagent": "Agent",
        "delegate": "Agent",
    },
    mcp=("@{server}/{tool}",),
    # No payload names the mode, and a trusted tool runs when it is handed back.
    modes=Modes(always_unasked=True),
    # Its matchers are names and wildcards: "all but the reading tools" cannot be said.
    hooks=(
        gate("preToolUse"),
        *observed("postToolUse", "agentSpawn", "userPromptSubmit", "stop"),
    ),
    setup=Setup(
        form="kiro",
        user="~/.kiro/agents/watchgate.json",
        no_project=(
            "An agent of Kiro in a project is part of its repository, and a committed one would "
            "run this machine's paths for everybody: use --scope user"
        ),
        owned=True,
        unit="ms",
        timeout_key="timeout_ms",
        extra={
            "name": "watchgate",
            "description": "The usual tools, gated by watchgate",
            "tools": ["*"],
        },
        process=("kiro-cli", "kiro-cli-chat", "q", "qchat"),
        after=(
            "Kiro's hooks belong to an agent: start it with --agent watchgate, or make that its "
            "default agent; under any other agent its calls are not gated."
        ),
    ),
)
