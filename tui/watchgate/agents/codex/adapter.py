"""Codex CLI: its 12 hook events, those of its fork, its answers, and the hooks to install.

Wire format: the hook schemas of Codex CLI 0.169, and `codex_fork`. A permission answer with any key
that Codex does not know is void, and an allow before a tool call is an error; so neither is ever
printed.
"""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.agents.base import Answer, HookEntry, Intake, awaited
from watchgate.agents.codex import fork as codex_fork
from watchgate.agents.hooks import answers as hook_json
from watchgate.agents.hooks import bodies
from watchgate.agents.hooks.entries import Plan, entries
from watchgate.agents.hooks.payload import decode, rest
from watchgate.core.events import (
    Body,
    Can,
    Event,
    Lane,
    Sub,
    Text,
    ToolCall,
    ToolClass,
    ToolResult,
)
from watchgate.core.verdicts import Reply, SayAllow, SayDeny

CLASSES: Final[dict[str, ToolClass]] = {
    "Bash": "shell",
    **dict.fromkeys(codex_fork.SHELLS, "shell"),
    "apply_patch": "edit",
    "Edit": "edit",
    "Write": "edit",
    "view_image": "read",
    "spawn_agent": "agent",
    "request_user_input": "question",
    "update_plan": "plan",
}

EVENTS: Final[dict[str, bodies.Rule]] = {
    "PreToolUse": ("tool.pre", bodies.call),
    "PermissionRequest": ("tool.permission", bodies.call),
    "PostToolUse": ("tool.post", bodies.result),
    "PostToolUseFailure": ("tool.error", bodies.failure),
    "UserPromptSubmit": ("prompt.submit", bodies.words("prompt")),
    "SessionStart": ("session.start", bodies.phase("source")),
    "SessionEnd": ("session.end", bodies.phase("reason")),
    "Stop": ("turn.end", bodies.words("last_assistant_message", "reason")),
    "AfterAgent": ("turn.end", bodies.words("last_assistant_message")),
    "Notification": ("notice", bodies.words("level", "message")),
    "Interrupt": ("turn.interrupt", bodies.words("message")),
    "SubagentStart": ("agent.start", bodies.words("agent_type")),
    "SubagentStop": ("agent.stop", bodies.words("last_assistant_message")),
    "PreCompact": ("compact.pre", bodies.phase("trigger")),
    "PostCompact": ("compact.post", bodies.phase("trigger")),
}

_OTHER: bodies.Rule = ("notice", None)
# Codex's own words, then the fork's: its `on-failure` runs a call first and asks afterwards.
_UNASKED_MODES = frozenset(("bypassPermissions", "dontAsk", "never", "on-failure"))
_CAN = {
    hook_json.PRE_TOOL: Can(deny=True),
    hook_json.PERMISSION: Can(allow=True, deny=True),
}
_NO_EDIT = "The edited call was not run: Codex cannot be told another input. Deny it with a reason."

_PLAN = Plan(
    # Codex drops a hook whose matcher looks ahead, without a word, so "all but the reading tools"
    # cannot be said; the one reading tool it has is gated with the rest.
    gate_matcher=None,
    read_matcher=None,
    observed=(
        "PostToolUse",
        "UserPromptSubmit",
        "SessionStart",
        "SessionEnd",
        "Stop",
        "Interrupt",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
    ),
    timeouts_s={"SessionEnd": 3, "Interrupt": 3},
)


class Codex:
    """The adapter of Codex CLI."""

    name: Final = "codex"
    title: Final = "Codex"

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """The event of one hook call; raises `DecodeError`."""
        payload = codex_fork.flat(payload)
        fields, native = decode(payload, intake)
        kind, builder = EVENTS.get(native, _OTHER)
        mode = fields.permission_mode
        unasked = mode in _UNASKED_MODES
        event = Event(
            kind=kind,
            native=native,
            agent=self.name,
            session=fields.session_id,
            lane=intake.lane,
            at=intake.at,
            body=_under_one_name(builder(fields, CLASSES)) if builder else Text(rest(payload)),
            turn=fields.turn_id,
            sub=Sub(fields.agent_id, fields.agent_type or "") if fields.agent_id else None,
            cwd=fields.cwd,
            mode=mode,
            autonomous=unasked,
            runs_unasked=unasked and native == hook_json.PRE_TOOL,
            env=intake.env,
        )
        return awaited(event, intake, _CAN)

    def answer(self, event: Event, reply: Reply) -> Answer:
        """What Codex obeys; an edited input cannot be told, so it denies."""
        if not event.lane.waits or event.native not in _CAN:
            return hook_json.NOTHING
        match reply:
            case SayAllow(input=None):
                if event.native == hook_json.PRE_TOOL:
                    return hook_json.NOTHING
                return hook_json.permission_allow(None)
            case SayAllow():
                return hook_json.deny(event.native, _NO_EDIT)
            case SayDeny(reason=reason):
                return hook_json.deny(event.native, reason)
            case _:
                return hook_json.NOTHING

    def closed(self, native: str, lane: Lane, reason: str) -> Answer:
        """A denial on the gate, nothing on the lanes that hand back."""
        return hook_json.deny(native, reason) if lane is Lane.GATE else hook_json.NOTHING

    def entries(self, profile: str) -> tuple[HookEntry, ...]:
        """The hooks of a profile; raises `ValueError` for an unknown one."""
        return entries(_PLAN, profile)


def _under_one_name(body: Body) -> Body:
    """A shell is `Bash` to every rule, whatever the fork calls it (CX-48)."""
    if isinstance(body, ToolCall | ToolResult) and body.tool.native_name in codex_fork.SHELLS:
        return msgspec.structs.replace(body, tool=msgspec.structs.replace(body.tool, name="Bash"))
    return body
