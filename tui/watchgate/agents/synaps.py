"""SynapsCLI: the events of its hook bus, and the results that it takes.

Our extension (`watchgate.synaps_extension`) forwards the `params` of each `hook.handle` with
`session_id` and `cwd` filled in, and sends the answer on as the `result`. SynapsCLI asks nobody by
itself and goes on after 5 s, so what is handed back runs at once and a hold has to end before that.
Wire format: extension protocol 1, docs/extensions of HaseebKhalid1507/SynapsCLI.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from watchgate.agents.base import DecodeError, HookAnswer, HookEntry, Intake, Setup
from watchgate.agents.decision_words import Meaning, word
from watchgate.agents.hooks.event_bodies import describe_tool, text
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.base.text import safe_lines
from watchgate.core.model.events import (
    Body,
    Can,
    Event,
    Kind,
    Lane,
    OwnRules,
    SessionChange,
    Text,
    Tool,
    ToolCall,
    ToolClass,
    ToolResult,
)
from watchgate.core.model.verdicts import Reply, SayAllow, SayDeny, SayNothing

NAME: Final = "synaps"
BEFORE: Final = "before_tool_call"
NO_SESSION: Final = "no session named"
HANDLER_LIMIT_S: Final = 5

CLASSES: Final[dict[str, ToolClass]] = {
    "bash": "shell",
    "shell": "shell",
    "read": "read",
    "grep": "read",
    "find": "read",
    "ls": "read",
    "write": "edit",
    "edit": "edit",
    "subagent": "agent",
}

Params = Mapping[str, Any]
_NO_REASON = "Denied by watchgate; no reason was given."
_CAN = Can(allow=True, deny=True, modify=True)


def _call(params: Params) -> Body:
    return ToolCall(_tool(params))


def _result(params: Params) -> Body:
    """Reads a call's result; the bus does not say whether the call failed."""
    return ToolResult(_tool(params), ok=True, text=text(params.get("tool_output")))


def _message(params: Params) -> Body:
    return Text(text(params.get("message")))


def _change(what: str) -> Callable[[Params], Body]:
    return lambda params: SessionChange(what=what, detail=text(params.get("data")))


EVENTS: Final[dict[str, tuple[Kind, Callable[[Params], Body]]]] = {
    BEFORE: ("tool.pre", _call),
    "after_tool_call": ("tool.post", _result),
    "before_message": ("prompt.submit", _message),
    "on_message_complete": ("message", _message),
    "on_compaction": ("compact.post", _change("compacted")),
    "on_session_start": ("session.start", _change("started")),
    "on_session_end": ("session.end", _change("ended")),
}


def hook_meaning(params: Params) -> tuple[Kind, Body]:
    """Returns the kind and body of one hook event; a hook of a later version is a notice."""
    known = EVENTS.get(str(params.get("kind")))
    return ("notice", Text(text(dict(params)))) if known is None else (known[0], known[1](params))


class SynapsAdapter:
    """The adapter of SynapsCLI."""

    name: Final = NAME
    title: Final = "SynapsCLI"
    experimental: Final = True
    setup: Final = Setup(
        form="plugin",
        user="~/.synaps-cli/plugins/watchgate",
        owned=True,
        process=("synaps", "synaps-cli"),
        no_project="a plugin in a project would run this machine's paths: use --scope user",
        after=(
            "SynapsCLI loads the plugin when it starts next. It waits 5 s for a plugin and then "
            "runs the call: what nobody allows within 4 s is blocked."
        ),
    )
    kinds: Final = frozenset(kind for kind, _ in EVENTS.values())
    own_rules: Final = MappingProxyType({"": OwnRules("runs", "runs")})

    def can(self, native: str) -> Can:
        """Returns the replies that SynapsCLI can be told to one of its events."""
        return _CAN if native == BEFORE else Can()

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """Returns the event of a `hook.handle`, of its params alone too; raises `DecodeError`."""
        params = _params(payload)
        native = _named(params, "kind") or intake.native
        if not native:
            raise DecodeError("the payload does not name its hook (kind)")
        kind, body = hook_meaning({**params, "kind": native})
        asks = kind == "tool.pre"
        waits = intake.lane.waits
        return Event(
            kind=kind,
            native=native,
            agent=NAME,
            session=_named(params, "session_id") or NO_SESSION,
            lane=intake.lane,
            at=intake.at,
            body=body,
            cwd=_named(params, "cwd", 8_192),
            runs_unasked=asks,
            own_rules=self.own_rules[""] if asks else None,
            can=_CAN if waits and asks else Can(),
            deadline_s=intake.deadline_s if waits else None,
            env=intake.env,
        )

    def answer(self, event: Event, reply: Reply) -> HookAnswer:
        """Returns the `result` of the hook; only a call that is about to run can be refused."""
        if not event.lane.waits:
            return HookAnswer()
        asks = event.native == BEFORE
        match reply:
            case SayAllow(input=edited) if asks and edited is not None:
                return _encode_action(Meaning.MODIFY, input=edited)
            case SayDeny(reason=reason) if asks:
                return _denied(reason)
            case SayNothing(context=context) if context and event.native == "before_message":
                return HookAnswer(
                    stdout=msgspec.json.encode({"action": "inject", "content": context})
                )
            case _:
                return _encode_action(Meaning.ALLOW)

    def closed(self, native: str, lane: Lane, reason: str) -> HookAnswer:
        """Returns a block on the gate, nothing on the lanes that hand back."""
        return _denied(reason) if lane is Lane.GATE else HookAnswer()

    def entries(self, profile: str) -> tuple[HookEntry, ...]:
        """Returns the hooks of our extension; raises `ValueError` for an unknown profile."""
        if profile not in ("watch", "guard", "strict"):
            raise ValueError(f"unknown profile {profile!r}: use one of watch, guard, strict")
        gate = Lane.OBSERVE if profile == "watch" else Lane.GATE
        return tuple(
            HookEntry(
                event=hook,
                lane=gate if hook == BEFORE else Lane.OBSERVE,
                timeout_s=HANDLER_LIMIT_S,
            )
            for hook in EVENTS
        )


def _params(payload: bytes) -> dict[str, Any]:
    try:
        params = msgspec.json.decode(payload)
    except JSON_FAULTS as error:
        raise DecodeError(f"not a hook event: {error}") from error
    if isinstance(params, dict) and isinstance(params.get("params"), dict):
        params = params["params"]
    if not isinstance(params, dict):
        raise DecodeError("not a hook event: it is no object")
    return params


def _named(params: Params, key: str, limit: int = 512) -> str:
    value = params.get(key)
    if not isinstance(value, str):
        return ""
    if len(value) > limit:
        raise DecodeError(f"{key} has over {limit} characters")
    return value


def _tool(params: Params) -> Tool:
    """Returns the tool under its runtime name, which says whose it is; rules may name either."""
    name, runtime = _named(params, "tool_name"), _named(params, "tool_runtime_name")
    if not (name or runtime):
        raise DecodeError("the event does not name its tool (tool_name)")
    given = params.get("tool_input")
    args: dict[str, Any] = given if isinstance(given, dict) else {"input": given}
    tool = describe_tool(name or runtime, args, None, CLASSES)
    if tool.cls == "shell":
        return msgspec.structs.replace(tool, name="Bash")
    return msgspec.structs.replace(tool, name=runtime) if runtime else tool


def _denied(reason: str) -> HookAnswer:
    reason = reason.encode("utf-8", "replace").decode() if reason.strip() else _NO_REASON
    stderr = "\n".join(safe_lines(reason)).encode() + b"\n"
    return msgspec.structs.replace(
        _encode_action(Meaning.DENY, reason=reason), stderr=stderr, exit_code=2
    )


def _encode_action(meaning: Meaning, **more: Any) -> HookAnswer:
    return HookAnswer(stdout=msgspec.json.encode({"action": word(NAME, meaning), **more}))


ADAPTER: Final = SynapsAdapter()
