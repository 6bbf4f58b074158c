"""Codex CLI: its 12 hook events, those of its fork, its answers, and the hooks to install.

Wire format: the hook schemas of Codex CLI 0.169, and `flat_payload`. A permission answer with any
key that Codex does not know is void, and an allow before a tool call is an error but beside another
input, which Codex then asks about by its own rules.
"""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.agents.base import Answer, HookEntry, Intake, Setup, awaited, in_mode
from watchgate.agents.codex import app_server, fork
from watchgate.agents.hooks import answers, bodies
from watchgate.agents.hooks.entries import Plan, entries
from watchgate.agents.hooks.payload import decode, rest
from watchgate.core.events import (
    Body,
    Can,
    Event,
    Lane,
    OwnRules,
    Sub,
    Text,
    ToolCall,
    ToolClass,
    ToolResult,
)
from watchgate.core.verdicts import Reply, SayAllow, SayDeny

CLASSES: Final[dict[str, ToolClass]] = {
    "Bash": "shell",
    **dict.fromkeys(fork.SHELLS, "shell"),
    "apply_patch": "edit",
    "Edit": "edit",
    "Write": "edit",
    "view_image": "read",
    "spawn_agent": "agent",
    # A tool of a namespace goes by both names in one.
    "collaborationspawn_agent": "agent",
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
OWN_RULES: Final = {
    # It asks only to leave its sandbox, and that question is answered by what was said at the gate.
    "default": OwnRules("confined", "runs-or-asks"),
    "bypassPermissions": OwnRules("confined", "runs"),
    "": OwnRules("runs-or-asks", "runs-or-asks"),
}
_CAN = {
    answers.PRE_TOOL: Can(deny=True, modify=True),
    answers.PERMISSION: Can(allow=True, deny=True),
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
    experimental: Final = False
    setup: Final = Setup(
        form="groups",
        user="~/.codex/hooks.json",
        variable="CODEX_HOME",
        no_project=(
            "Codex has no hooks file that stays out of a project's repository, and a committed one "
            "would run this machine's paths for everybody: use --scope user"
        ),
        status_key="statusMessage",
        process=("codex",),
        must_trust=True,
        hookless=("web_search",),
        trusts_by_place=True,
        after=(
            "Codex skips hooks that nobody trusted, without a word: start codex and accept "
            '"Hooks need review", or run `watchgate doctor codex --fix`.'
        ),
    )
    kinds: Final = frozenset({kind for kind, _ in EVENTS.values()} | {"notice"})

    own_rules: Final = OWN_RULES

    def can(self, native: str) -> Can:
        """Returns what Codex can be told in answer to one of its events."""
        if app_server.APP_SERVER.can(native).deny:
            return app_server.APP_SERVER.can(native)
        return _CAN.get(native, Can())

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """Returns the event of one hook call; raises `DecodeError`."""
        if app_server.is_message(payload):
            return app_server.APP_SERVER.decode(payload, intake)
        payload = fork.flat(payload)
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
            # Without a mode it may be any of them.
            runs_unasked=(unasked or mode is None) and native == answers.PRE_TOOL,
            env=intake.env,
        )
        rules = in_mode(OWN_RULES, mode) if native == answers.PRE_TOOL else None
        return awaited(event, intake, _CAN, rules)

    def answer(self, event: Event, reply: Reply) -> Answer:
        """Returns what Codex obeys; to a permission no edited input can be told, so it denies."""
        if app_server.APP_SERVER.can(event.native).deny:
            return app_server.APP_SERVER.answer(event, reply)
        if not event.lane.waits or event.native not in _CAN:
            return answers.NOTHING
        match reply:
            case SayAllow(input=dict() as args, context=words) if _takes_edit(event):
                return answers.pre_tool_allow(args, words)
            case SayAllow(input=None):
                if event.native == answers.PRE_TOOL:
                    return answers.NOTHING
                return answers.permission_allow(None)
            case SayAllow():
                return answers.deny(event.native, _NO_EDIT)
            case SayDeny(reason=reason):
                return answers.deny(event.native, reason)
            case _:
                return answers.NOTHING

    def closed(self, native: str, lane: Lane, reason: str) -> Answer:
        """Returns a denial on the gate, nothing on the lanes that hand back."""
        if app_server.APP_SERVER.can(native).deny:
            return app_server.APP_SERVER.closed(native, lane, reason)
        return answers.deny(native, reason) if lane is Lane.GATE else answers.NOTHING

    def entries(self, profile: str) -> tuple[HookEntry, ...]:
        """Returns the hooks of a profile; raises `ValueError` for an unknown one."""
        return entries(_PLAN, profile)


def _takes_edit(event: Event) -> bool:
    """Returns whether Codex takes another input: for a shell command it does."""
    tool = event.tool
    return event.native == answers.PRE_TOOL and tool is not None and tool.native_name == "Bash"


def _under_one_name(body: Body) -> Body:
    """Names a shell `Bash`, as every rule knows it, whatever the fork calls it (CX-48)."""
    if isinstance(body, ToolCall | ToolResult) and body.tool.native_name in fork.SHELLS:
        return msgspec.structs.replace(body, tool=msgspec.structs.replace(body.tool, name="Bash"))
    return body


ADAPTER: Final = Codex()
