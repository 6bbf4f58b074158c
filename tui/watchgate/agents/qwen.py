"""Qwen Code, as a table.

Wire format: docs/features/hooks.md of Qwen Code 0.24, and what that version was measured to obey:
before a tool call it runs the call with its own input whatever `updatedInput` says, and ignores
`continue`, so neither is printed there.
"""

from __future__ import annotations

from typing import Final

from watchgate.agents.base import ALL_OFF, Setup, Silencers
from watchgate.agents.hooks import gate, gate_read, match_others, match_reads, observed, relay
from watchgate.agents.table import EventRule, Fields, Modes, Table
from watchgate.agents.table.answer_shapes import PERMISSION_ANSWERS, PRE_ANSWERS
from watchgate.core.model.events import ToolClass

_CLASSES: Final[dict[str, ToolClass]] = {
    "run_shell_command": "shell",
    "monitor": "shell",
    "read_file": "read",
    "read_many_files": "read",
    "list_directory": "read",
    "glob": "read",
    "grep_search": "read",
    "lsp": "read",
    "write_file": "edit",
    "edit": "edit",
    "notebook_edit": "edit",
    "web_fetch": "fetch",
    "web_search": "fetch",
    "agent": "agent",
    "task": "agent",
    "ask_user_question": "question",
    "exit_plan_mode": "plan",
}

TABLE: Final = Table(
    name="qwen",
    title="Qwen Code",
    experimental=False,
    # Its own `tool_use_id` differs between the events of one call.
    fields=Fields(
        turn=("prompt_id",),
        call_id=("tool_call_id", "tool_use_id"),
        exit_pattern=r"Exit Code: (-?\d+)",
    ),
    events={
        "PreToolUse": EventRule(kind="tool.pre", answers=PRE_ANSWERS),
        "PermissionRequest": EventRule(kind="tool.permission", answers=PERMISSION_ANSWERS),
        "PermissionDenied": EventRule(kind="tool.permission.resolved", text=("reason",)),
        "PostToolUse": EventRule(
            kind="tool.post", fields=Fields(result=("tool_response.llmContent", "tool_response"))
        ),
        "PostToolUseFailure": EventRule(kind="tool.error"),
        "PostToolBatch": EventRule(kind="tool.batch"),
        "UserPromptSubmit": EventRule(kind="prompt.submit", text=("prompt",)),
        "UserPromptExpansion": EventRule(kind="notice", text=("prompt",)),
        "SessionStart": EventRule(kind="session.start", what="{source}"),
        "SessionEnd": EventRule(kind="session.end", what="{reason}"),
        "SessionDelete": EventRule(kind="session.change", what="deleted"),
        "Stop": EventRule(kind="turn.end", text=("last_assistant_message",)),
        "StopFailure": EventRule(kind="turn.error", text=("error", "error_details")),
        "SubagentStart": EventRule(kind="agent.start", text=("agent_type",)),
        "SubagentStop": EventRule(kind="agent.stop", text=("last_assistant_message",)),
        "PreCompact": EventRule(kind="compact.pre", what="{trigger}"),
        "PostCompact": EventRule(kind="compact.post", what="{trigger}", text=("compact_summary",)),
        "InstructionsLoaded": EventRule(
            kind="session.change", what="instructions", text=("file_path",)
        ),
        "TodoCreated": EventRule(kind="task.created"),
        "TodoCompleted": EventRule(kind="task.done"),
        "Notification": EventRule(kind="notice", text=("title", "message")),
        "MessageDisplay": EventRule(kind="message", text=("displayed_text",)),
    },
    classes=_CLASSES,
    names={
        "read_file": "Read",
        "read_many_files": "Read",
        "list_directory": "LS",
        "glob": "Glob",
        "grep_search": "Grep",
        "write_file": "Write",
        "edit": "Edit",
        "notebook_edit": "NotebookEdit",
        "web_fetch": "WebFetch",
        "web_search": "WebSearch",
        "agent": "Agent",
        "task": "Agent",
        "todo_write": "TodoWrite",
        "ask_user_question": "AskUserQuestion",
        "exit_plan_mode": "ExitPlanMode",
    },
    # In auto_edit only edits run unasked; which call is one is not known this early.
    modes=Modes(autonomous=("yolo", "auto"), unasked=("yolo", "auto", "auto_edit")),
    hooks=(
        gate("PreToolUse", match_others(_CLASSES)),
        gate_read("PreToolUse", match_reads(_CLASSES)),
        relay("PermissionRequest"),
        *observed(
            "PermissionDenied",
            "PostToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "UserPromptSubmit",
            "SessionStart",
            "SessionEnd",
            "Stop",
            "StopFailure",
            "SubagentStart",
            "SubagentStop",
            "PreCompact",
            "PostCompact",
            "InstructionsLoaded",
            "Notification",
        ),
    ),
    setup=Setup(
        form="groups",
        user="~/.qwen/settings.json",
        no_project=(
            "Qwen Code has no settings file of a project that stays out of its repository, and a "
            "committed one would run this machine's paths for everybody: use --scope user"
        ),
        # It reads numbers from 1000 on as milliseconds, and older versions read all of them so.
        unit="ms",
        status_key="statusMessage",
        # Its screen shows this in the place of the whole command.
        each={"name": "watchgate"},
        comments=True,
        process=("qwen",),
        silencers=Silencers(
            home=("settings.json",),
            project=(".qwen/settings.json",),
            keys={"disableAllHooks": (True, ALL_OFF)},
        ),
    ),
)
