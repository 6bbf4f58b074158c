"""All hook protocols, by the name that `protocol` of a handler gives.

- Our own hook protocol: the whole event as one JSON object in, one decision out. The answer is an
  object with `decision` (allow, block or deny, ask, modify, inject, abort, defer) and, where they
  belong, `reason`, `input` and `text`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, get_args

import msgspec

from watchgate.core.dispatch.hooks.codewhale_hooks import CODEWHALE
from watchgate.core.dispatch.hooks.codex_fork import CODEX_FORK_V1, CODEX_FORK_V2, CODEX_NOTIFY
from watchgate.core.dispatch.hooks.codex_hooks import CODEX
from watchgate.core.dispatch.hooks.hook_exchange import HookInput, HookProtocol
from watchgate.core.dispatch.hooks.hook_texts import (
    event_text,
    json_answer,
    text_field,
    utc_seconds,
)
from watchgate.core.dispatch.hooks.sandbox_hooks import SANDBOX_ENV
from watchgate.core.dispatch.presets import ProtocolName
from watchgate.core.model.events import (
    Event,
    Kind,
    SessionChange,
    ToolBatch,
    ToolResult,
    Unknown,
    Usage,
)
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    Inject,
    Modify,
    Report,
    Verdict,
)

NO_REASON: Final = "Blocked by a hook that gave no reason"
NO_QUESTION: Final = "A hook wants an operator to decide and did not say why"
_KEYS: Final = ("decision", "reason", "input", "text")
_STOPS: Final[dict[str, Callable[[str], Verdict]]] = {
    "block": Block,
    "deny": Block,
    "abort": Abort,
}
_GOES_ON: Final[dict[str, Callable[[str], Verdict]]] = {
    "allow": Allow,
    "ask": lambda reason: Confirm(reason or NO_QUESTION),
    "defer": Defer,
}
_DECISIONS: Final = (*_STOPS, *_GOES_ON, "modify", "inject")


def ask(event: Event, handler_id: str) -> HookInput:
    """Builds the whole event: nothing that the agent sent about the call is left out."""
    payload: dict[str, Any] = {
        "watchgate": 1,
        "handler": handler_id,
        "kind": event.kind,
        "native": event.native,
        "agent": event.agent,
        "session": event.session,
        "turn": event.turn,
        "at": utc_seconds(event.at),
        "cwd": event.cwd,
        "mode": event.mode,
        "autonomous": event.autonomous,
        "lane": event.lane.value,
        "sub": {"id": event.sub.id, "type": event.sub.type} if event.sub else None,
        "tool": _tool(event),
        "text": event_text(event),
    }
    if isinstance(event.body, ToolResult):
        payload |= {
            "ok": event.body.ok,
            "took_ms": event.body.took_ms,
            "interrupted": event.body.interrupted,
            "exit_code": event.body.exit_code,
        }
    elif isinstance(event.body, SessionChange):
        payload |= {"model": event.body.model, "transcript": event.body.transcript}
    elif isinstance(event.body, ToolBatch | Usage | Unknown):
        payload["body"] = event.body
    return HookInput(msgspec.json.encode(payload), {})


def read(stdout: str, _event: Event) -> Report:
    """Reads the decision; an empty stdout is no opinion, and a block counts in any spelling."""
    if not stdout.strip():
        return Report(verdict=Defer())
    fields = json_answer(stdout)
    if isinstance(fields, Failed):
        return Report(verdict=fields)
    decision = fields.get("decision")
    stops = _STOPS.get(decision) if isinstance(decision, str) else None
    if stops is not None:
        return Report(
            verdict=stops(text_field(fields.get("reason")) or NO_REASON), text=_text(fields)
        )
    fault = _fault(fields)
    if fault:
        return Report(verdict=Failed("protocol", fault))
    reason = text_field(fields.get("reason"))
    if decision == "modify":
        return Report(verdict=Modify(fields.get("input"), reason), text=_text(fields))
    if decision == "inject":
        return Report(verdict=Inject(fields["text"]))
    return Report(verdict=_GOES_ON[fields["decision"]](reason), text=_text(fields))


def _fault(fields: dict[str, Any]) -> str:
    decision = fields.get("decision")
    if decision not in _DECISIONS:
        return f"decision must be one of {', '.join(_DECISIONS)}"
    unknown = sorted(fields.keys() - set(_KEYS))
    if unknown:
        return f"unknown key {unknown[0]}; allowed are {', '.join(_KEYS)}"
    texts = (fields.get(key) for key in ("reason", "text"))
    if any(not isinstance(text, str | None) for text in texts):
        return "reason and text must be texts"
    if not isinstance(fields.get("input"), dict | None):
        return "input must be an object"
    if decision != "modify" and fields.get("input") is not None:
        return "input belongs to the decision modify only"
    if decision == "inject" and not fields.get("text"):
        return "inject needs a text"
    return ""


def _text(fields: dict[str, Any]) -> str:
    text = fields.get("text")
    return text if isinstance(text, str) else ""


def _tool(event: Event) -> dict[str, Any] | None:
    tool = event.tool
    if tool is None:
        return None
    return {
        "name": tool.name,
        "native_name": tool.native_name,
        "class": tool.cls,
        "input": tool.input,
        "call_id": tool.call_id,
    }


CONSOLE: Final = HookProtocol(
    name="console",
    ask=ask,
    read=read,
    events={kind: kind for kind in get_args(Kind)},
    exits={0: "parse", 2: "block", "other": "fail"},
    silent_block=NO_REASON,
    timeout_s=5.0,
)


PROTOCOLS: Final[dict[ProtocolName, HookProtocol]] = {
    protocol.name: protocol
    for protocol in (
        CONSOLE,
        CODEX_FORK_V1,
        CODEX_FORK_V2,
        CODEX,
        CODEX_NOTIFY,
        SANDBOX_ENV,
        CODEWHALE,
    )
}
