"""Cline CLI, as a table, from documents alone.

Wire format: cline/cline sdk/examples/hooks/README.md. A hook is a script named after its file event
(`PreToolUse`), its payload names another (`tool_call`); every answer is one JSON object. Cline's
extension for editors has scripts of its own elsewhere and knows no `overrideInput`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.agents.base import HookEntry, Setup
from watchgate.agents.hooks import gate, observed
from watchgate.agents.table import EventAnswers, EventRule, Fields, HookOutput, Modes, Table, alike
from watchgate.agents.table.answer_shapes import REASON

_TIMEOUT_S: Final = 30
_BEFORE: Final = EventAnswers(
    deny=HookOutput(stdout={"cancel": True, "errorMessage": REASON}),
    modify=HookOutput(stdout={"overrideInput": "{input}"}),
    context=HookOutput(stdout={"context": "{context}"}),
    nothing=HookOutput(stdout={}),
)


def _hooks() -> tuple[HookEntry, ...]:
    after = observed(
        "PostToolUse",
        "UserPromptSubmit",
        "TaskStart",
        "TaskResume",
        "TaskComplete",
        "TaskError",
        "TaskCancel",
        "SessionShutdown",
    )
    return gate("PreToolUse", timeout_s=_TIMEOUT_S), *after


TABLE: Final = Table(
    name="cline",
    title="Cline",
    fields=Fields(
        event=("hookName",),
        session=("taskId",),
        cwd=("cwd", "workspaceRoots.0"),
        mode=(),
        model=("model.slug",),
        sub_id=("parent_agent_id",),
        sub_type=(),
        tool=("tool_call.name", "tool_result.name", "preToolUse.toolName", "postToolUse.toolName"),
        input=(
            "tool_call.input",
            "tool_result.input",
            "preToolUse.parameters",
            "postToolUse.parameters",
        ),
        call_id=("tool_call.id", "tool_result.id"),
        result=("tool_result.output", "postToolUse.result"),
        failed=("tool_result.error",),
        took_ms=("tool_result.durationMs", "postToolUse.executionTimeMs"),
    ),
    events={
        "tool_call": EventRule(kind="tool.pre", answers=_BEFORE),
        "PreToolUse": EventRule(
            kind="tool.pre", answers=msgspec.structs.replace(_BEFORE, modify=None)
        ),
        **alike("tool.post", "tool_result", "PostToolUse"),
        **alike("session.start", "agent_start", "TaskStart", what="start"),
        **alike("session.start", "agent_resume", "TaskResume", what="resume"),
        **alike("session.end", "session_shutdown", "SessionShutdown", what="shutdown"),
        **alike(
            "prompt.submit",
            "prompt_submit",
            "UserPromptSubmit",
            text=("prompt", "userPromptSubmit.prompt"),
        ),
        **alike("turn.end", "agent_end", "TaskComplete", text=("turn.outputText",)),
        **alike("turn.error", "agent_error", "TaskError", text=("error.message",)),
        **alike("turn.interrupt", "agent_abort", "TaskCancel", text=("reason",)),
        "PreCompact": EventRule(kind="compact.pre"),
        "Notification": EventRule(kind="notice"),
    },
    classes={
        "run_commands": "shell",
        "execute_command": "shell",
        "read_files": "read",
        "read_file": "read",
        "list_files": "read",
        "search_files": "read",
        "search_codebase": "read",
        "write_file": "edit",
        "write_to_file": "edit",
        "replace_in_file": "edit",
        "editor": "edit",
        "apply_patch": "edit",
        "web_fetch": "fetch",
        "fetch_web_content": "fetch",
        "spawn_agent": "agent",
        "ask_followup_question": "question",
        "ask_question": "question",
        "plan_mode_respond": "plan",
    },
    names={
        "read_files": "Read",
        "read_file": "Read",
        "list_files": "LS",
        "search_files": "Grep",
        "search_codebase": "Grep",
        "write_file": "Write",
        "write_to_file": "Write",
        "replace_in_file": "Edit",
        "editor": "Edit",
        "apply_patch": "Edit",
        "web_fetch": "WebFetch",
        "fetch_web_content": "WebFetch",
        "spawn_agent": "Agent",
    },
    # No payload names the mode, and what is approved automatically runs when it is handed back.
    modes=Modes(always_unasked=True),
    hooks=_hooks(),
    setup=Setup(
        form="scripts",
        user="~/.cline/hooks",
        no_project=(
            "Scripts in a project's .cline/hooks are part of its repository, and committed ones "
            "would run this machine's paths for everybody: use --scope user"
        ),
        timeout_key="",
        process=("cline",),
        after=(
            "Cline runs no hooks with --yolo, and its extension for editors none of these: such "
            "calls are not gated."
        ),
    ),
)
