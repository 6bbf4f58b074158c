"""Copilot in VS Code, as a table, from documents alone.

Wire format: code.visualstudio.com/docs/copilot/customization/hooks. Older versions write the common
fields in camelCase. It runs every hook for every tool, whatever its matcher says.
"""

from __future__ import annotations

from typing import Final

from watchgate.agents.base import Setup
from watchgate.agents.hooks import gate, observed
from watchgate.agents.table import EventAnswers, EventRule, Fields, HookOutput, Modes, Table
from watchgate.agents.table.answer_shapes import PRE_ALLOW, PRE_DENY, PRE_MODIFY, PRE_STOP

TABLE: Final = Table(
    name="vscode",
    title="VS Code",
    fields=Fields(
        event=("hook_event_name", "hookEventName"),
        session=("session_id", "sessionId"),
        mode=(),
    ),
    events={
        "PreToolUse": EventRule(
            kind="tool.pre",
            answers=EventAnswers(
                deny=PRE_DENY,
                allow=PRE_ALLOW,
                modify=PRE_MODIFY,
                stop=PRE_STOP,
                context=HookOutput(
                    stdout={
                        "hookSpecificOutput": {
                            "hookEventName": "PreToolUse",
                            "additionalContext": "{context}",
                        }
                    }
                ),
            ),
        ),
        "PostToolUse": EventRule(kind="tool.post"),
        "UserPromptSubmit": EventRule(kind="prompt.submit", text=("prompt",)),
        "SessionStart": EventRule(kind="session.start", what="{source}"),
        "Stop": EventRule(kind="turn.end", text=("last_assistant_message",)),
        "SubagentStart": EventRule(kind="agent.start", text=("agent_type",)),
        "SubagentStop": EventRule(kind="agent.stop", text=("agent_type",)),
        "PreCompact": EventRule(kind="compact.pre", what="{trigger}"),
    },
    classes={
        "run_in_terminal": "shell",
        "runTerminalCommand": "shell",
        "read_file": "read",
        "list_dir": "read",
        "file_search": "read",
        "grep_search": "read",
        "semantic_search": "read",
        "get_errors": "read",
        "view_image": "read",
        "create_file": "edit",
        "createFile": "edit",
        "editFiles": "edit",
        "deleteFile": "edit",
        "create_directory": "edit",
        "replace_string_in_file": "edit",
        "multi_replace_string_in_file": "edit",
        "insert_edit_into_file": "edit",
        "edit_notebook_file": "edit",
        "apply_patch": "edit",
        "fetch_webpage": "fetch",
        "runSubagent": "agent",
        "vscode_askQuestions": "question",
    },
    names={
        "read_file": "Read",
        "list_dir": "LS",
        "file_search": "Glob",
        "grep_search": "Grep",
        "create_file": "Write",
        "createFile": "Write",
        "editFiles": "Edit",
        "replace_string_in_file": "Edit",
        "multi_replace_string_in_file": "MultiEdit",
        "insert_edit_into_file": "Edit",
        "edit_notebook_file": "NotebookEdit",
        "apply_patch": "Edit",
        "fetch_webpage": "WebFetch",
        "runSubagent": "Agent",
        "vscode_askQuestions": "AskUserQuestion",
        "manage_todo_list": "TodoWrite",
    },
    mcp=("mcp_{server}_{tool}",),
    # No payload names the mode, and what is approved automatically runs when it is handed back.
    modes=Modes(always_unasked=True),
    hooks=(
        gate("PreToolUse"),
        *observed(
            "PostToolUse",
            "UserPromptSubmit",
            "SessionStart",
            "Stop",
            "SubagentStart",
            "SubagentStop",
            "PreCompact",
        ),
    ),
    setup=Setup(
        form="flat",
        user="~/.copilot/hooks/watchgate-vscode.json",
        variable="COPILOT_HOME",
        no_project=(
            "VS Code's .github/hooks is part of the repository, and a committed file would run "
            "this machine's paths for everybody: use --scope user"
        ),
        owned=True,
        each={"type": "command"},
        also_loads=("claude", "copilot"),
        process=("code", "code-insiders"),
        after=(
            "VS Code reads ~/.copilot/hooks only where its setting chat.hookFilesLocations has it: "
            "look at the hooks under Diagnostics in the chat view, or its calls are not gated."
        ),
    ),
)
