"""Cursor, as a table, from documents alone.

Wire format: the Cursor hooks contract of griddynamics/rosetta (captures on Cursor 3.9.16) and
eqtylab/cupcake docs/reference/harnesses/cursor.md; the queries of `cursor-agent --print`:
chenhg5/cc-connect issue 785. An entry that fails closed takes an empty answer for a failure, so a
handback is an explicit allow.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.base import HookAnswer, Intake, Setup
from watchgate.agents.hooks import gate, gate_read, match_others, match_reads, observed
from watchgate.agents.table import EventAnswers, EventRule, Fields, HookOutput, Modes, Paths, Table
from watchgate.agents.table.adapter import TableAdapter
from watchgate.agents.table.answer_shapes import REASON
from watchgate.core.base import decoding
from watchgate.core.model.events import Event, Kind, Text, ToolCall, ToolClass, ToolResult
from watchgate.core.model.verdicts import Reply, SayAllow
from watchgate.core.tools.tool_input import input_hash

_CLASSES: Final[dict[str, ToolClass]] = {
    "Shell": "shell",
    "Read": "read",
    "Grep": "read",
    "Glob": "read",
    "LS": "read",
    "SemanticSearch": "read",
    "Write": "edit",
    "Edit": "edit",
    "StrReplace": "edit",
    "MultiEdit": "edit",
    "EditNotebook": "edit",
    "Delete": "edit",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "Task": "agent",
    "AskQuestion": "question",
}
_QUERY: Final = "interaction_query"
_SHELL_QUERY: Final = "shellRequestQuery"

_ALLOW: Final = HookOutput(stdout={"permission": "allow"})
_DENY: Final = HookOutput(stdout={"permission": "deny", "user_message": REASON})
# Only before a tool in general is another input known to be taken.
_BEFORE: Final = EventAnswers(deny=_DENY, allow=_ALLOW, nothing=_ALLOW)
_BEFORE_TOOL: Final = msgspec.structs.replace(
    _BEFORE, modify=HookOutput(stdout={"permission": "allow", "updated_input": "{input}"})
)
_COMMAND: Final = {"command": "command", "cwd": "cwd"}
_TOKENS: Final[dict[str, Paths]] = {
    "input": ("input_tokens",),
    "output": ("output_tokens",),
    "cache_read": ("cache_read_tokens",),
    "cache_write": ("cache_write_tokens",),
}

TABLE: Final = Table(
    name="cursor",
    title="Cursor",
    fields=Fields(
        event=("hook_event_name", "type"),
        session=("conversation_id", "session_id"),
        cwd=("cwd", "workspace_roots.0"),
        turn=("generation_id",),
        mode=("composer_mode",),
        sub_id=("subagent_id",),
        sub_type=("subagent_type",),
        result=("tool_output", "output", "result_json"),
        failed=("error_message",),
        took_ms=("duration",),
    ),
    events={
        "preToolUse": EventRule(kind="tool.pre", answers=_BEFORE_TOOL),
        "beforeShellExecution": EventRule(
            kind="tool.pre", tool="Shell", input=_COMMAND, answers=_BEFORE
        ),
        "beforeMCPExecution": EventRule(kind="tool.pre", tool="MCP:{tool_name}", answers=_BEFORE),
        "beforeReadFile": EventRule(
            kind="tool.pre", tool="Read", input={"file_path": "file_path"}, answers=_BEFORE
        ),
        "postToolUse": EventRule(kind="tool.post"),
        "postToolUseFailure": EventRule(kind="tool.error"),
        # What ran is told by postToolUse; these tell it once more, without an id.
        "afterShellExecution": EventRule(kind="notice", text=("command",)),
        "afterMCPExecution": EventRule(kind="notice", text=("tool_name",)),
        "afterFileEdit": EventRule(kind="notice", text=("file_path",)),
        "beforeSubmitPrompt": EventRule(
            kind="prompt.submit",
            text=("prompt",),
            answers=EventAnswers(
                deny=HookOutput(stdout={"continue": False, "user_message": REASON}),
                nothing=HookOutput(stdout={"continue": True}),
            ),
        ),
        "sessionStart": EventRule(kind="session.start", what="{composer_mode}"),
        "sessionEnd": EventRule(kind="session.end", what="{reason}"),
        "stop": EventRule(kind="turn.end", text=("status",)),
        "afterAgentResponse": EventRule(kind="usage", usage=_TOKENS),
        "afterAgentThought": EventRule(kind="message", text=("text",)),
        "subagentStart": EventRule(
            kind="agent.start", text=("subagent_type", "task"), answers=_BEFORE
        ),
        "subagentStop": EventRule(kind="agent.stop", text=("status", "task")),
        "preCompact": EventRule(kind="compact.pre", what="{trigger}"),
        "beforeTabFileRead": EventRule(kind="notice", text=("file_path",)),
        "afterTabFileEdit": EventRule(kind="notice", text=("file_path",)),
        "workspaceOpen": EventRule(kind="session.change", what="workspace"),
        _QUERY: EventRule(
            kind="tool.permission",
            tool="{query_type}",
            input={
                "command": "query.shellRequestQuery.args.command",
                "id": "query.id",
                "query_type": "query_type",
            },
            answers=EventAnswers(allow=HookOutput()),
        ),
    },
    classes={**_CLASSES, _SHELL_QUERY: "shell"},
    names={
        "StrReplace": "Edit",
        "EditNotebook": "NotebookEdit",
        "Task": "Agent",
        "AskQuestion": "AskUserQuestion",
    },
    mcp=("MCP:{tool}",),
    no_session="cursor-agent",
    # These hooks run for every call, and a handback is an allow.
    modes=Modes(always_unasked=True),
    hooks=(
        # Its command line does not tell of every call before a tool in general.
        gate("beforeShellExecution"),
        gate("beforeMCPExecution"),
        gate("preToolUse", match_others(_CLASSES)),
        gate_read("preToolUse", match_reads(_CLASSES)),
        *observed(
            "postToolUse",
            "postToolUseFailure",
            "beforeSubmitPrompt",
            "sessionStart",
            "sessionEnd",
            "stop",
            "afterAgentResponse",
            "subagentStart",
            "subagentStop",
            "preCompact",
        ),
    ),
    setup=Setup(
        form="flat",
        user="~/.cursor/hooks.json",
        no_project=(
            "Cursor has no hooks file of a project that stays out of its repository, and a "
            "committed one would run this machine's paths for everybody: use --scope user"
        ),
        closing={"failClosed": True},
        extra={"version": 1},
        also_loads=("claude",),
        process=("cursor", "cursor-agent", "Cursor"),
        after=(
            "Restart Cursor and look under Hooks in its settings that these are listed: some "
            "versions did not load the file, and then its calls are not gated."
        ),
    ),
)

_ENDS: Final[dict[str, Kind]] = {"error": "turn.error", "aborted": "turn.interrupt"}


class _Failure(msgspec.Struct):
    failure_type: Any = None


_FAILURE: Final = decoding.decoder(_Failure)


class CursorAdapter(TableAdapter):
    """The adapter of Cursor: its `status` says how a turn ended; answers repeat its queries."""

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """Returns the event of one hook call or query; raises `DecodeError`."""
        event = _by_command(super().decode(payload, intake))
        if event.native == "stop" and isinstance(event.body, Text):
            kind = _ENDS.get(event.body.text, event.kind)
            return msgspec.structs.replace(event, kind=kind)
        if event.native == "postToolUseFailure" and event.tool and _denied(payload):
            # It never ran: a failure would tell that a denied call did.
            return msgspec.structs.replace(
                event, kind="tool.permission.resolved", body=ToolCall(event.tool)
            )
        return event

    def answer(self, event: Event, reply: Reply) -> HookAnswer:
        """Returns the answer that Cursor obeys: a query is approved, or left to run out."""
        if event.native != _QUERY:
            return super().answer(event, reply)
        approves = isinstance(reply, SayAllow) and reply.input is None
        tool = event.tool
        if not (approves and event.lane.waits and tool and tool.native_name == _SHELL_QUERY):
            return HookAnswer()
        response: dict[str, Any] = {
            "id": tool.input.get("id", 0),
            "shellRequestResponse": {"approved": {}},
        }
        line = {
            "type": _QUERY,
            "subtype": "response",
            "query_type": _SHELL_QUERY,
            "response": response,
        }
        return HookAnswer(stdout=msgspec.json.encode(line))


def _by_command(event: Event) -> Event:
    """Identifies a shell call by its command alone: not all events of one name its folder."""
    tool, body = event.tool, event.body
    if tool is None or tool.cls != "shell" or not isinstance(body, ToolCall | ToolResult):
        return event
    if "command" not in tool.input:
        return event
    known = input_hash({"command": tool.input["command"]}, tool.cls)
    tool = msgspec.structs.replace(tool, input_hash=known)
    return msgspec.structs.replace(event, body=msgspec.structs.replace(body, tool=tool))


def _denied(payload: bytes) -> bool:
    return bool(_FAILURE.decode(payload).failure_type == "permission_denied")


ADAPTER: Final = CursorAdapter(TABLE)
