"""Goose, as a table, from documents alone.

Wire format: block/goose documentation/docs/guides/context-engineering/hooks.md.
"""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.agents.base import Intake, Setup
from watchgate.agents.hooks import gate, observed
from watchgate.agents.table import EventAnswers, EventRule, Fields, HookOutput, Modes, Table
from watchgate.agents.table.adapter import TableAdapter
from watchgate.agents.table.answer_shapes import ON_STDERR
from watchgate.core.base import decoding
from watchgate.core.model.events import Event, Text

_RESULT: Final = "PreToolUseResult"

TABLE: Final = Table(
    name="goose",
    title="Goose",
    fields=Fields(
        event=("event", "hook_event_name"),
        cwd=("working_dir", "cwd"),
        mode=(),
        call_id=("tool_call_id",),
        result=("tool_output", "tool_response"),
    ),
    events={
        "PreToolUse": EventRule(
            kind="tool.pre",
            answers=EventAnswers(deny=ON_STDERR, allow=HookOutput(stdout={"decision": "allow"})),
        ),
        _RESULT: EventRule(kind="tool.permission.resolved"),
        "PostToolUse": EventRule(kind="tool.post"),
        "PostToolUseFailure": EventRule(kind="tool.error"),
        "UserPromptSubmit": EventRule(kind="prompt.submit", text=("message", "prompt")),
        "SessionStart": EventRule(kind="session.start", what="{source}"),
        "SessionEnd": EventRule(kind="session.end", what="{reason}"),
        "Stop": EventRule(kind="turn.end", text=("last_assistant_message",)),
        # These tell once more of calls that the events above tell of.
        "BeforeReadFile": EventRule(kind="notice", text=("matcher_context",)),
        "AfterFileEdit": EventRule(kind="notice", text=("matcher_context",)),
        "BeforeShellExecution": EventRule(kind="notice", text=("matcher_context",)),
        "AfterShellExecution": EventRule(kind="notice", text=("matcher_context",)),
    },
    classes={
        "developer__shell": "shell",
        "developer__tree": "read",
        "developer__read_image": "read",
        "developer__write": "edit",
        "developer__edit": "edit",
        "developer__text_editor": "edit",
    },
    names={
        "developer__tree": "LS",
        "developer__read_image": "Read",
        "developer__write": "Write",
        "developer__edit": "Edit",
        "developer__text_editor": "Edit",
    },
    mcp=("{server}__{tool}",),
    # Its usual mode runs every call that no hook denies.
    modes=Modes(always_unasked=True),
    # Its regular expressions cannot look ahead, and `*` is none: a hook with such a matcher is left
    # out without a word. So all tools go to the gate.
    hooks=(
        gate("PreToolUse"),
        *observed(
            _RESULT,
            "PostToolUse",
            "PostToolUseFailure",
            "UserPromptSubmit",
            "SessionStart",
            "SessionEnd",
            "Stop",
        ),
    ),
    setup=Setup(
        form="groups",
        user="~/.agents/plugins/watchgate/hooks/hooks.json",
        no_project=(
            "A plugin of Goose in a project is part of its repository, and a committed one would "
            "run this machine's paths for everybody: use --scope user"
        ),
        owned=True,
        closing={"on_failure": "block"},
        manifests={
            "../plugin.json": {
                "name": "watchgate",
                "version": "1.0.0",
                "description": "Shows what Goose does in Watchgate, which blocks what it must",
            }
        },
        process=("goose", "goosed"),
    ),
)


class _Verdict(msgspec.Struct):
    decision: str = ""


_VERDICT: Final = decoding.decoder(_Verdict)


class GooseAdapter(TableAdapter):
    """The adapter of Goose, which also reports its hooks' decision on a call that they let run."""

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """Returns the event of one hook call; raises `DecodeError`."""
        event = super().decode(payload, intake)
        if event.native != _RESULT or _denied(payload):
            return event
        # The call is still to run: taken for its end, what runs then would have passed no gate.
        return msgspec.structs.replace(event, kind="notice", body=Text("the hooks let it run"))


def _denied(payload: bytes) -> bool:
    try:
        return _VERDICT.decode(payload).decision == "deny"
    except msgspec.ValidationError:
        return False


ADAPTER: Final = GooseAdapter(TABLE)
