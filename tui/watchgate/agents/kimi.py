"""Kimi CLI, as a table, from its source alone.

Wire format: MoonshotAI/kimi-cli src/kimi_cli/hooks/{events,runner,engine}.py and wire/types.py. A
hook can only refuse; the two `wire:` events are those of its wire protocol, named by who forwards
them.
"""

from __future__ import annotations

from typing import Final

from watchgate.agents.base import Setup
from watchgate.agents.hooks import gate, gate_read, match_others, match_reads, observed
from watchgate.agents.table import EventAnswers, EventRule, Fields, HookOutput, Modes, Table
from watchgate.agents.table.answer_shapes import ON_STDERR, REASON
from watchgate.core.model.events import ToolClass

_LONGEST_S: Final = 600
_CLASSES: Final[dict[str, ToolClass]] = {
    "Shell": "shell",
    "ReadFile": "read",
    "ReadMediaFile": "read",
    "Grep": "read",
    "Glob": "read",
    "WriteFile": "edit",
    "StrReplaceFile": "edit",
    "FetchURL": "fetch",
    "SearchWeb": "fetch",
    "Task": "agent",
    "Agent": "agent",
    "AskUserQuestion": "question",
    "ExitPlanMode": "plan",
}

TABLE: Final = Table(
    name="kimi",
    title="Kimi",
    fields=Fields(
        mode=(),
        sub_id=(),
        sub_type=("agent_name",),
        call_id=("tool_call_id",),
        result=("tool_output",),
    ),
    events={
        "PreToolUse": EventRule(kind="tool.pre", answers=EventAnswers(deny=ON_STDERR)),
        "PostToolUse": EventRule(kind="tool.post"),
        "PostToolUseFailure": EventRule(kind="tool.error"),
        "UserPromptSubmit": EventRule(
            kind="prompt.submit", text=("prompt",), answers=EventAnswers(deny=ON_STDERR)
        ),
        "Stop": EventRule(kind="turn.end", text=("last_assistant_message",)),
        "StopFailure": EventRule(kind="turn.error", text=("error_type", "error_message")),
        "SessionStart": EventRule(kind="session.start", what="{source}"),
        "SessionEnd": EventRule(kind="session.end", what="{reason}"),
        "SubagentStart": EventRule(kind="agent.start", text=("agent_name", "prompt")),
        "SubagentStop": EventRule(kind="agent.stop", text=("agent_name", "response")),
        "PreCompact": EventRule(kind="compact.pre", what="{trigger}"),
        "PostCompact": EventRule(kind="compact.post", what="{trigger}"),
        "Notification": EventRule(kind="notice", text=("title", "body")),
        "wire:ApprovalRequest": EventRule(
            kind="tool.permission",
            tool="{sender}",
            input={"action": "action", "description": "description", "display": "display"},
        ),
        "wire:HookRequest": EventRule(
            kind="tool.pre",
            tool="{target}",
            fields=Fields(
                session=("input_data.session_id",),
                cwd=("input_data.cwd",),
                input=("input_data.tool_input",),
                call_id=("input_data.tool_call_id",),
            ),
            answers=EventAnswers(
                deny=HookOutput(stdout={"action": "block", "reason": REASON}),
                allow=HookOutput(stdout={"action": "allow"}),
            ),
        ),
    },
    classes=_CLASSES,
    names={
        "ReadFile": "Read",
        "ReadMediaFile": "Read",
        "WriteFile": "Write",
        "StrReplaceFile": "Edit",
        "FetchURL": "WebFetch",
        "SearchWeb": "WebSearch",
        "Task": "Agent",
        "SetTodoList": "TodoWrite",
    },
    no_session="kimi-wire",
    # No payload names the mode, and with --yolo what is handed back runs.
    modes=Modes(always_unasked=True),
    hooks=(
        gate("PreToolUse", match_others(_CLASSES), _LONGEST_S),
        gate_read("PreToolUse", match_reads(_CLASSES), _LONGEST_S),
        *observed(
            "PostToolUse",
            "PostToolUseFailure",
            "UserPromptSubmit",
            "SessionStart",
            "SessionEnd",
            "Stop",
            "StopFailure",
            "SubagentStart",
            "SubagentStop",
            "PreCompact",
            "PostCompact",
            "Notification",
        ),
    ),
    setup=Setup(
        form="kimi",
        user="~/.kimi/config.toml",
        no_project="Kimi reads hooks only from its user's configuration: use --scope user",
        process=("kimi", "kimi-cli"),
    ),
)
