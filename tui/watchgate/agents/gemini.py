"""Gemini CLI, as a table.

Wire format: docs/hooks/reference.md and docs/reference/tools.md of Gemini CLI 0.61, and what that
version was measured to obey. A hook can refuse a call and change its input, never approve it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.agents.base import ALL_OFF, DecodeError, Intake, Setup, Silencers
from watchgate.agents.hooks import gate, gate_read, match_others, match_reads, observed
from watchgate.agents.table import EventAnswers, EventRule, Fields, HookOutput, Modes, Table
from watchgate.agents.table.adapter import TableAdapter
from watchgate.agents.table.answer_shapes import REASON
from watchgate.core.model.events import Event, Text, ToolClass

_CLASSES: Final[dict[str, ToolClass]] = {
    "run_shell_command": "shell",
    "read_file": "read",
    "read_many_files": "read",
    "list_directory": "read",
    "glob": "read",
    "grep_search": "read",
    "search_file_content": "read",
    "write_file": "edit",
    "replace": "edit",
    "web_fetch": "fetch",
    "google_web_search": "fetch",
    "invoke_agent": "agent",
    "ask_user": "question",
    "exit_plan_mode": "plan",
}
_DENIAL: Final = {"decision": "deny", "reason": REASON}
_USAGE: Final = "llm_response.usageMetadata"

TABLE: Final = Table(
    name="gemini",
    title="Gemini",
    experimental=False,
    fields=Fields(
        mode=(),
        call_id=(),
        failed=("tool_response.error.message", "tool_response.error"),
        exit_pattern=r"Exit Code: (-?\d+)",
    ),
    events={
        "BeforeTool": EventRule(
            kind="tool.pre",
            answers=EventAnswers(
                deny=HookOutput(stdout=_DENIAL, stderr=REASON, exit=2),
                modify=HookOutput(
                    stdout={
                        "hookSpecificOutput": {
                            "hookEventName": "BeforeTool",
                            "tool_input": "{input}",
                        }
                    }
                ),
                stop=HookOutput(
                    stdout={**_DENIAL, "continue": False, "stopReason": REASON},
                    stderr=REASON,
                    exit=2,
                ),
                merges=True,
            ),
        ),
        "AfterTool": EventRule(
            kind="tool.post",
            fields=Fields(result=("tool_response.llmContent", "tool_response")),
        ),
        "BeforeAgent": EventRule(kind="prompt.submit", text=("prompt",)),
        "AfterAgent": EventRule(kind="turn.end", text=("prompt_response",)),
        # The whole conversation is in these: only the model's name is kept.
        "BeforeModel": EventRule(kind="model.request", text=("llm_request.model",)),
        "BeforeToolSelection": EventRule(kind="notice", text=("llm_request.model",)),
        "AfterModel": EventRule(
            kind="usage",
            usage={
                "input": (f"{_USAGE}.promptTokenCount",),
                "output": (f"{_USAGE}.candidatesTokenCount",),
                "cache_read": (f"{_USAGE}.cachedContentTokenCount",),
                "reasoning": (f"{_USAGE}.thoughtsTokenCount",),
                "model": ("llm_request.model",),
            },
            # It comes with every piece of a streamed answer.
            counts="newest",
            cached_within=True,
            reasoning_beside=True,
        ),
        "SessionStart": EventRule(kind="session.start", what="{source}"),
        "SessionEnd": EventRule(kind="session.end", what="{reason}"),
        "PreCompress": EventRule(kind="compact.pre", what="{trigger}"),
        "Notification": EventRule(kind="notice", text=("notification_type", "message")),
    },
    classes=_CLASSES,
    names={
        "read_file": "Read",
        "read_many_files": "Read",
        "list_directory": "LS",
        "glob": "Glob",
        "grep_search": "Grep",
        "search_file_content": "Grep",
        "write_file": "Write",
        "replace": "Edit",
        "web_fetch": "WebFetch",
        "google_web_search": "WebSearch",
        "invoke_agent": "Agent",
        "ask_user": "AskUserQuestion",
        "exit_plan_mode": "ExitPlanMode",
    },
    mcp=("mcp_{server}_{tool}",),
    # No payload names the mode, and in yolo mode what is handed back runs.
    modes=Modes(always_unasked=True),
    hooks=(
        gate("BeforeTool", match_others(_CLASSES)),
        gate_read("BeforeTool", match_reads(_CLASSES)),
        # Of the model events only the one with the token counts: the others come as often, and
        # carry the whole conversation each time.
        *observed(
            "AfterTool",
            "AfterModel",
            "BeforeAgent",
            "AfterAgent",
            "SessionStart",
            "SessionEnd",
            "PreCompress",
            "Notification",
        ),
    ),
    setup=Setup(
        form="groups",
        user="~/.gemini/settings.json",
        no_project=(
            "Gemini has no settings file of a project that stays out of its repository, and a "
            "committed one would run this machine's paths for everybody: use --scope user"
        ),
        unit="ms",
        # Its screen shows this in the place of the whole command.
        each={"name": "watchgate"},
        comments=True,
        process=("gemini",),
        must_trust=True,
        silencers=Silencers(
            home=("settings.json",),
            project=(".gemini/settings.json",),
            system=("/etc/gemini-cli/settings.json",),
            keys={"hooksConfig.enabled": (False, ALL_OFF)},
            dotenv=(".gemini/.env", ".env"),
        ),
        after=(
            "Gemini runs hooks only in folders that it trusts: where it asks, trust the folder, or "
            "its calls there are not gated."
        ),
    ),
)

_NOTIFICATION: Final = "Notification"
_ASKS: Final = "ToolPermission"
_ASKED: Final = TableAdapter(
    msgspec.structs.replace(
        TABLE,
        events={
            _NOTIFICATION: EventRule(
                kind="tool.permission",
                tool="{details.type}",
                input={
                    "command": "details.command",
                    "file_path": "details.filePath",
                    "server": "details.serverName",
                    "tool": "details.toolName",
                    "urls": "details.urls",
                },
            )
        },
        classes={"exec": "shell", "edit": "edit", "mcp": "mcp", "info": "fetch"},
        names={"edit": "Edit", "info": "WebFetch"},
    )
)


class GeminiAdapter(TableAdapter):
    """The adapter of Gemini CLI, one of whose notices says that it asks in its own dialog."""

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """Returns the event of one hook call; raises `DecodeError`."""
        event = super().decode(payload, intake)
        words = event.body.text if isinstance(event.body, Text) else ""
        if event.native != _NOTIFICATION or not words.startswith(_ASKS):
            return event
        try:
            return _ASKED.decode(payload, intake)
        except DecodeError:
            return event


ADAPTER: Final = GeminiAdapter(TABLE)
