"""Codex CLI: its 12 hook events, those of its fork, its answers, and the hooks to install.

Wire format: the hook schemas of Codex CLI 0.169, and `flat_payload`. A permission answer with any
key that Codex does not know is void, and an allow before a tool call is an error but beside another
input, which Codex then asks about by its own rules.

- The messages of Codex's app-server to its client are a table: approvals and token counts. Wire
  format: the JSON-RPC of `codex app-server` 0.169. An answer here lacks the request's `id`, which
  whoever speaks the protocol adds. Its lines are known by `method`, which no hook payload has.
- The hook payloads of the fork's first version are brought into the form of its second. The first
  wraps the event (`hook_event`, named by `event_type` in snake case) and gives a tool's input as a
  text, in which a shell call keeps the bounds of its arguments. The second is flat, as codex's own
  is. Wire format: RyderFreeman4Logos/codex, the branch of its PR 3, and PR 10.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.base import (
    DecodeError,
    HookAnswer,
    HookEntry,
    Intake,
    Setup,
    awaited,
    in_mode,
)
from watchgate.agents.hooks import HookPlan, answers, event_bodies, plan_entries
from watchgate.agents.hooks.event_bodies import decode, rest
from watchgate.agents.table import EventAnswers, EventRule, Fields, HookOutput, Table
from watchgate.agents.table.adapter import TableAdapter
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.events import (
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
from watchgate.core.model.verdicts import Reply, SayAllow, SayDeny

_USED: Final = "params.tokenUsage"


def _decision(word: str) -> dict[str, Any]:
    return {"result": {"decision": word}}


_ANSWERS: Final = EventAnswers(
    deny=HookOutput(stdout=_decision("decline")),
    allow=HookOutput(stdout=_decision("accept")),
    stop=HookOutput(stdout=_decision("cancel")),
)

APP_SERVER: Final = TableAdapter(
    Table(
        name="codex",
        title="Codex",
        experimental=False,
        fields=Fields(
            event=("method",),
            session=("params.threadId",),
            cwd=("params.cwd",),
            turn=("params.turnId",),
            mode=(),
            sub_id=(),
            call_id=("params.itemId",),
        ),
        events={
            "item/commandExecution/requestApproval": EventRule(
                kind="tool.permission",
                tool="Bash",
                input={"command": "params.command", "description": "params.reason"},
                answers=_ANSWERS,
            ),
            "item/fileChange/requestApproval": EventRule(
                kind="tool.permission",
                tool="apply_patch",
                input={"grant_root": "params.grantRoot", "reason": "params.reason"},
                answers=_ANSWERS,
            ),
            "thread/tokenUsage/updated": EventRule(
                kind="usage",
                # It is told again after each answer, also where nothing was used meanwhile.
                usage={
                    "input": (f"{_USED}.total.inputTokens",),
                    "output": (f"{_USED}.total.outputTokens",),
                    "cache_read": (f"{_USED}.total.cachedInputTokens",),
                    "cache_write": (f"{_USED}.total.cacheWriteInputTokens",),
                    "reasoning": (f"{_USED}.total.reasoningOutputTokens",),
                    "context_used": (f"{_USED}.last.totalTokens",),
                    "context_size": (f"{_USED}.modelContextWindow",),
                },
                counts="total",
                cached_within=True,
            ),
        },
        classes={"Bash": "shell", "apply_patch": "edit"},
    )
)


def is_app_server_message(payload: bytes) -> bool:
    """Returns whether this may be a line of the app-server, looked at before it is decoded."""
    return b'"method"' in payload and b'"params"' in payload and b'"hook_event_name"' not in payload


SHELLS: Final = frozenset(("shell", "local_shell", "shell_command", "exec_command"))
"""Names under which the fork's tools run a command; hooks of its second version see `Bash`."""

_MARK = b'"hook_event"'
_NAMES: Final = {
    "after_agent": "AfterAgent",
    "notification": "Notification",
    "post_tool_use": "PostToolUse",
    "pre_tool_use": "PreToolUse",
    "stop": "Stop",
    "user_prompt_submit": "UserPromptSubmit",
}
_FIELDS: Final = {"tool_output": "tool_response", "user_message": "prompt"}


def flat_payload(payload: bytes) -> bytes:
    """Returns the payload in the flat form; one that is not of the first version as it is.

    Raises `DecodeError` for a call that names its command twice: only one of them would be judged.
    """
    if _MARK not in payload:
        return payload
    try:
        outer = msgspec.json.decode(payload)
    except JSON_FAULTS:
        return payload  # whoever reads it next says what is wrong
    if not isinstance(outer, dict) or not isinstance(outer.get("hook_event"), dict):
        return payload
    event: dict[str, Any] = outer.pop("hook_event")
    named = event.pop("event_type", None)
    fields = {_FIELDS.get(key, key): value for key, value in event.items()}
    if "tool_input" in fields:
        fields["tool_input"] = _input(fields["tool_input"], fields.get("tool_name"))
    if isinstance(named, str):
        fields["hook_event_name"] = _NAMES.get(named, named)
    return msgspec.json.encode({**outer, **fields})


def _input(given: Any, tool: Any) -> dict[str, Any]:
    """Returns the input as an object: a text that holds none is kept whole under `input`."""
    args = given
    if isinstance(given, str):
        try:
            args = msgspec.json.decode(given)
        except (*JSON_FAULTS, UnicodeEncodeError):
            args = given
    if not isinstance(args, dict):
        args = {"input": given}
    if tool in SHELLS and "cmd" in args:
        if "command" in args:
            raise DecodeError("a shell call with both command and cmd: nobody can tell which runs")
        args = {"command": args["cmd"], **args}
    return args


CLASSES: Final[dict[str, ToolClass]] = {
    "Bash": "shell",
    **dict.fromkeys(SHELLS, "shell"),
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

EVENTS: Final[dict[str, event_bodies.Rule]] = {
    "PreToolUse": ("tool.pre", event_bodies.call),
    "PermissionRequest": ("tool.permission", event_bodies.call),
    "PostToolUse": ("tool.post", event_bodies.result),
    "PostToolUseFailure": ("tool.error", event_bodies.failure),
    "UserPromptSubmit": ("prompt.submit", event_bodies.words("prompt")),
    "SessionStart": ("session.start", event_bodies.phase("source")),
    "SessionEnd": ("session.end", event_bodies.phase("reason")),
    "Stop": ("turn.end", event_bodies.words("last_assistant_message", "reason")),
    "AfterAgent": ("turn.end", event_bodies.words("last_assistant_message")),
    "Notification": ("notice", event_bodies.words("level", "message")),
    "Interrupt": ("turn.interrupt", event_bodies.words("message")),
    "SubagentStart": ("agent.start", event_bodies.words("agent_type")),
    "SubagentStop": ("agent.stop", event_bodies.words("last_assistant_message")),
    "PreCompact": ("compact.pre", event_bodies.phase("trigger")),
    "PostCompact": ("compact.post", event_bodies.phase("trigger")),
}

_OTHER: event_bodies.Rule = ("notice", None)
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

_PLAN = HookPlan(
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


class CodexAdapter:
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
        """Returns the replies that Codex can be told to one of its events."""
        if APP_SERVER.can(native).deny:
            return APP_SERVER.can(native)
        return _CAN.get(native, Can())

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """Returns the event of one hook call; raises `DecodeError`."""
        if is_app_server_message(payload):
            return APP_SERVER.decode(payload, intake)
        payload = flat_payload(payload)
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

    def answer(self, event: Event, reply: Reply) -> HookAnswer:
        """Returns the answer that Codex obeys; a permission takes no edited input, so it denies."""
        if APP_SERVER.can(event.native).deny:
            return APP_SERVER.answer(event, reply)
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

    def closed(self, native: str, lane: Lane, reason: str) -> HookAnswer:
        """Returns a denial on the gate, nothing on the lanes that hand back."""
        if APP_SERVER.can(native).deny:
            return APP_SERVER.closed(native, lane, reason)
        return answers.deny(native, reason) if lane is Lane.GATE else answers.NOTHING

    def entries(self, profile: str) -> tuple[HookEntry, ...]:
        """Returns the hooks of a profile; raises `ValueError` for an unknown one."""
        return plan_entries(_PLAN, profile)


def _takes_edit(event: Event) -> bool:
    """Returns whether Codex takes another input: for a shell command it does."""
    tool = event.tool
    return event.native == answers.PRE_TOOL and tool is not None and tool.native_name == "Bash"


def _under_one_name(body: Body) -> Body:
    """Names a shell `Bash`, as every rule knows it, whatever the fork calls it (CX-48)."""
    if isinstance(body, ToolCall | ToolResult) and body.tool.native_name in SHELLS:
        return msgspec.structs.replace(body, tool=msgspec.structs.replace(body.tool, name="Bash"))
    return body


ADAPTER: Final = CodexAdapter()
