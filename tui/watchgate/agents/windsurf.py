"""Windsurf (Cascade), as a table, from documents alone.

Wire format: docs.windsurf.com/windsurf/cascade/hooks. The event's name tells the tool; the tools'
names here are ours.
"""

from __future__ import annotations

from typing import Final

from watchgate.agents.base import Setup
from watchgate.agents.hooks import gate, gate_read, observed
from watchgate.agents.table import EventAnswers, EventRule, Fields, Modes, Table
from watchgate.agents.table.answer_shapes import ON_STDERR

# No limit is documented; this is the shortest that any agent is known to have.
_TIMEOUT_S: Final = 30
_DENY: Final = EventAnswers(deny=ON_STDERR)
_SHELL: Final = {"command": "tool_info.command_line", "cwd": "tool_info.cwd"}
_READ: Final = {"file_path": "tool_info.file_path"}
_WRITE: Final = {"file_path": "tool_info.file_path", "edits": "tool_info.edits"}
_MCP: Final = "mcp__{tool_info.mcp_server_name}__{tool_info.mcp_tool_name}"
_MCP_FIELDS: Final = Fields(
    input=("tool_info.mcp_tool_arguments",), result=("tool_info.mcp_result",)
)

TABLE: Final = Table(
    name="windsurf",
    title="Windsurf",
    fields=Fields(
        event=("agent_action_name",),
        session=("trajectory_id",),
        cwd=("tool_info.cwd",),
        turn=("execution_id",),
        mode=(),
        model=("model_name",),
        transcript=("tool_info.transcript_path",),
        call_id=(),
        result=("tool_info.output", "tool_info.result"),
    ),
    events={
        "pre_run_command": EventRule(
            kind="tool.pre", tool="run_command", input=_SHELL, answers=_DENY
        ),
        "post_run_command": EventRule(kind="tool.post", tool="run_command", input=_SHELL),
        "pre_read_code": EventRule(kind="tool.pre", tool="read_code", input=_READ, answers=_DENY),
        "post_read_code": EventRule(kind="tool.post", tool="read_code", input=_READ),
        "pre_write_code": EventRule(
            kind="tool.pre", tool="write_code", input=_WRITE, answers=_DENY
        ),
        "post_write_code": EventRule(kind="tool.post", tool="write_code", input=_WRITE),
        "pre_mcp_tool_use": EventRule(
            kind="tool.pre", tool=_MCP, fields=_MCP_FIELDS, answers=_DENY
        ),
        "post_mcp_tool_use": EventRule(kind="tool.post", tool=_MCP, fields=_MCP_FIELDS),
        "pre_user_prompt": EventRule(
            kind="prompt.submit", text=("tool_info.user_prompt",), answers=_DENY
        ),
        "post_cascade_response": EventRule(kind="turn.end", text=("tool_info.response",)),
        "post_cascade_response_with_transcript": EventRule(
            kind="notice", text=("tool_info.transcript_path",)
        ),
        "post_setup_worktree": EventRule(
            kind="session.change", what="worktree", text=("tool_info.worktree_path",)
        ),
    },
    classes={"run_command": "shell", "read_code": "read", "write_code": "edit"},
    names={"read_code": "Read", "write_code": "Edit"},
    # No payload names the mode, and what Cascade may run by itself runs when it is handed back.
    modes=Modes(always_unasked=True),
    hooks=(
        gate("pre_run_command", timeout_s=_TIMEOUT_S),
        gate("pre_write_code", timeout_s=_TIMEOUT_S),
        gate("pre_mcp_tool_use", timeout_s=_TIMEOUT_S),
        gate_read("pre_read_code", timeout_s=_TIMEOUT_S),
        *observed(
            "post_run_command",
            "post_read_code",
            "post_write_code",
            "post_mcp_tool_use",
            "pre_user_prompt",
            "post_cascade_response",
        ),
    ),
    setup=Setup(
        form="flat",
        user="~/.codeium/windsurf/hooks.json",
        no_project=(
            "Windsurf has no hooks file of a project that stays out of its repository, and a "
            "committed one would run this machine's paths for everybody: use --scope user"
        ),
        timeout_key="",
        process=("windsurf",),
    ),
)
