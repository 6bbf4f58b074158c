"""Claude Code: its 33 hook events, its answers, and the hooks to install.

Wire format: the hook JSON of Claude Code 2.1.
"""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.agents.base import (
    ALL_OFF,
    HookAnswer,
    HookEntry,
    Intake,
    Setup,
    Silencers,
    awaited,
    in_mode,
)
from watchgate.agents.claude import claude_questions, other_messages
from watchgate.agents.hooks import HookPlan, answers, event_bodies, plan_entries, relay
from watchgate.agents.hooks.event_bodies import HookPayload, decode, rest
from watchgate.core.model.events import Can, Event, Lane, OwnRules, Sub, Text, ToolCall, ToolClass
from watchgate.core.model.verdicts import Reply, SayAllow, SayDeny, SayNothing

CLASSES: Final[dict[str, ToolClass]] = {
    "Bash": "shell",
    "PowerShell": "shell",
    "Monitor": "shell",
    "Read": "read",
    "Grep": "read",
    "Glob": "read",
    "LS": "read",
    "NotebookRead": "read",
    "Write": "edit",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "Task": "agent",
    "Agent": "agent",
    "AskUserQuestion": "question",
    "ExitPlanMode": "plan",
}

EVENTS: Final[dict[str, event_bodies.Rule]] = {
    "PreToolUse": ("tool.pre", event_bodies.call),
    "PermissionRequest": ("tool.permission", event_bodies.call),
    "PermissionDenied": ("tool.permission.resolved", event_bodies.refusal),
    "PostToolUse": ("tool.post", event_bodies.result),
    "PostToolUseFailure": ("tool.error", event_bodies.failure),
    "PostToolBatch": ("tool.batch", event_bodies.batch),
    "UserPromptSubmit": ("prompt.submit", event_bodies.words("prompt")),
    "UserPromptExpansion": ("notice", event_bodies.words("prompt")),
    "SessionStart": ("session.start", event_bodies.phase("source")),
    "SessionEnd": ("session.end", event_bodies.phase("reason")),
    "Stop": ("turn.end", event_bodies.words("last_assistant_message")),
    "StopFailure": (
        "turn.error",
        event_bodies.words("error", "error_details", "last_assistant_message"),
    ),
    "SubagentStart": ("agent.start", event_bodies.words("agent_type")),
    "SubagentStop": ("agent.stop", event_bodies.words("last_assistant_message")),
    "PreCompact": ("compact.pre", event_bodies.phase("trigger")),
    "PostCompact": ("compact.post", event_bodies.phase("trigger", "compact_summary")),
    "PreModelSwitch": ("session.change", event_bodies.change("model switch asked", "to_model")),
    "PostModelSwitch": ("session.change", event_bodies.change("model switch", "to_model")),
    "ConfigChange": ("session.change", event_bodies.change("config", "source", "file_path")),
    "CwdChanged": ("session.change", event_bodies.change("working directory", "new_cwd")),
    "DirectoryAdded": ("session.change", event_bodies.change("directory added", "directory")),
    "InstructionsLoaded": ("session.change", event_bodies.change("instructions", "file_path")),
    "WorktreeCreate": ("session.change", event_bodies.change("worktree", "name")),
    "WorktreeRemove": ("session.change", event_bodies.change("worktree removed", "worktree_path")),
    "Notification": ("notice", event_bodies.words("message")),
    "Elicitation": ("question", None),
    "TaskCreated": ("task.created", event_bodies.words("task_subject")),
    "TaskCompleted": ("task.done", event_bodies.words("task_subject")),
    "MessageDisplay": ("message", event_bodies.words("delta")),
}
"""Setup, TeammateIdle, FileChanged, ElicitationResult and all later events become notices."""

_OTHER: event_bodies.Rule = ("notice", None)
_READS = tuple(name for name, cls in CLASSES.items() if cls == "read")
_HEADLESS_MODES = frozenset(("bypassPermissions", "auto", "dontAsk"))
_UNASKED_MODES = frozenset(("bypassPermissions", "auto"))

OWN_RULES: Final = {
    "default": OwnRules(),
    "acceptEdits": OwnRules(),
    # It has the call checked on its server all the same, and asks where that does not let it run.
    "plan": OwnRules("runs-or-asks", "runs-or-asks"),
    "auto": OwnRules("runs", "runs-or-asks"),
    "bypassPermissions": OwnRules("runs", "runs"),
    "dontAsk": OwnRules("runs", "refuses"),
    "": OwnRules("runs-or-asks", "runs-or-asks"),
}
"""In default mode an allow spares the dialog, in auto mode the check on its server."""

_PLAN = HookPlan(
    gate_matcher=f"^(?!(?:{'|'.join(_READS)})$)",
    read_matcher=f"^(?:{'|'.join(_READS)})$",
    observed=(
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
        "PostModelSwitch",
        "ConfigChange",
        "CwdChanged",
        "DirectoryAdded",
        "InstructionsLoaded",
        "Notification",
        "ElicitationResult",
        "TaskCreated",
        "TaskCompleted",
    ),
    timeouts_s={"SessionEnd": 1},
)
"""Left out: a hook on WorktreeCreate takes over the making of worktrees, a slow one on
PreModelSwitch blocks the switch, and MessageDisplay and FileChanged arrive in floods."""


class ClaudeAdapter:
    """The adapter of Claude Code."""

    name: Final = "claude"
    title: Final = "Claude Code"
    short_title: Final = "Claude"
    experimental: Final = False
    setup: Final = Setup(
        form="groups",
        user="~/.claude/settings.json",
        variable="CLAUDE_CONFIG_DIR",
        project=".claude/settings.local.json",
        status_key="statusMessage",
        status_line="statusLine",
        closing={"onFailure": "block"},
        process=("claude",),
        hooks_off=("--bare", "--safe-mode"),
        live=True,
        silencers=Silencers(
            home=("settings.json",),
            project=(".claude/settings.json", ".claude/settings.local.json"),
            system=(
                "/etc/claude-code/managed-settings.json",
                "/Library/Application Support/ClaudeCode/managed-settings.json",
            ),
            keys={
                "disableAllHooks": (True, ALL_OFF),
                "allowManagedHooksOnly": (True, "runs no hooks but managed ones"),
            },
        ),
    )
    kinds: Final = frozenset(
        {kind for kind, _ in EVENTS.values()} | {"notice", "question", "usage", "unknown"}
    )

    own_rules: Final = OWN_RULES

    def can(self, native: str) -> Can:
        """Returns the replies that Claude Code can be told to one of its events."""
        if other_messages.is_message(native):
            return other_messages.can(native)
        able = _CAN.get(native, Can())
        return msgspec.structs.replace(able, answer=True) if native == answers.PERMISSION else able

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """Returns the event of one hook call or other message; raises `DecodeError`."""
        if intake.native not in EVENTS and other_messages.is_message(intake.native):
            return other_messages.decode(payload, intake, self.name, CLASSES)
        fields, native = decode(payload, intake)
        kind, builder = EVENTS.get(native, _OTHER)
        body = builder(fields, CLASSES) if builder else Text(rest(payload))
        if native == claude_questions.ELICITATION:
            body = claude_questions.elicitation(payload)
        elif kind == "tool.permission" and CLASSES.get(fields.tool_name) in ("question", "plan"):
            kind, body = "question", claude_questions.asked(body)
        mode = fields.permission_mode
        event = Event(
            kind=kind,
            native=native,
            agent=self.name,
            session=fields.session_id,
            lane=intake.lane,
            at=intake.at,
            body=body,
            turn=fields.prompt_id,
            sub=Sub(fields.agent_id, fields.agent_type or "") if fields.agent_id else None,
            cwd=fields.cwd,
            mode=mode,
            autonomous=mode in _HEADLESS_MODES or (bool(intake.env) and _unattended(intake.env)),
            races_dialog=native != claude_questions.ELICITATION,
            runs_unasked=native == answers.PRE_TOOL and _runs_unasked(fields),
            env=intake.env,
        )
        if kind == "question":
            return awaited(event, intake, {native: claude_questions.able(body)})
        rules = in_mode(OWN_RULES, mode) if native == answers.PRE_TOOL else None
        return awaited(event, intake, _CAN, rules)

    def answer(self, event: Event, reply: Reply) -> HookAnswer:
        """Returns the answer that Claude Code obeys; an empty one where no hook may decide."""
        if other_messages.is_message(event.native):
            return other_messages.answer(event, reply)
        if not event.lane.waits or event.native not in _CAN:
            return answers.NOTHING
        if event.kind == "question" and isinstance(event.body, ToolCall):
            return claude_questions.answer(event.body, reply)
        before = event.native == answers.PRE_TOOL
        match reply:
            case SayAllow() if event.native == answers.PROMPT:
                return answers.NOTHING
            case SayAllow(input=args, context=words):
                return (
                    answers.pre_tool_allow(args, words)
                    if before
                    else answers.permission_allow(args)
                )
            case SayDeny(reason=reason, stop=stop):
                return _denial(event.native, reason, stop=stop)
            case SayNothing(context=words) if event.native in _TAKES_CONTEXT:
                return answers.context(event.native, words)
            case _:
                return answers.NOTHING

    def closed(self, native: str, lane: Lane, reason: str) -> HookAnswer:
        """Returns a denial on the gate, nothing on the lanes that hand back."""
        if other_messages.is_message(native):
            return other_messages.closed(native, reason)
        return answers.deny(native, reason) if lane is Lane.GATE else answers.NOTHING

    def entries(self, profile: str) -> tuple[HookEntry, ...]:
        """Returns the hooks of a profile; raises `ValueError` for an unknown one."""
        return (*plan_entries(_PLAN, profile), relay(claude_questions.ELICITATION))


_CAN = {
    answers.PRE_TOOL: Can(allow=True, deny=True, modify=True, stop=True),
    answers.PERMISSION: Can(allow=True, deny=True, modify=True, stop=True),
    answers.PROMPT: Can(deny=True),
    claude_questions.ELICITATION: claude_questions.FORM,
}
_TAKES_CONTEXT = (answers.PRE_TOOL, answers.PROMPT)


def _denial(native: str, reason: str, *, stop: bool) -> HookAnswer:
    if native == answers.PROMPT:
        return answers.prompt_deny(reason)
    if native == answers.PRE_TOOL:
        return answers.pre_tool_deny(reason, stop=stop)
    return answers.permission_deny(reason, interrupt=stop)


def _unattended(env: dict[str, str]) -> bool:
    if env.get("CLAUDE_CODE_SESSION_ATTENDED") == "0":
        return True
    return env.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def _runs_unasked(fields: HookPayload) -> bool:
    mode = fields.permission_mode
    # Without a mode it may be any of them.
    if mode is None or mode in _UNASKED_MODES:
        return True
    return mode == "acceptEdits" and CLASSES.get(fields.tool_name) == "edit"


ADAPTER: Final = ClaudeAdapter()
