"""CodeWhale's lifecycle hooks: two events are steered, the others are only sent.

Source of the wire format: Hmbown/CodeWhale, docs/HOOKS.md. Exit 2 denies whatever is on stdout.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.core.events import Event
from watchgate.core.hooks.codewhale_payloads import EVENTS, ask
from watchgate.core.hooks.exchange import ExitMap, Protocol
from watchgate.core.hooks.texts import answer, word
from watchgate.core.verdicts import Allow, Block, Confirm, Defer, Failed, Modify, Report, Verdict

MAX_INPUT_BYTES: Final = 32 * 1024
MAX_TEXT_CHARS: Final = 32_000
NO_REASON: Final = "Blocked by a hook that gave no reason"
NO_QUESTION: Final = "A hook wants an operator to decide and did not say why"
NOT_REWRITTEN: Final = " (its updatedInput is not used: what an operator decides on is the call)"
_INPUT_UNFIT: Final = "updatedInput must be an object of at most 32 KiB"


def read(stdout: str, event: Event) -> Report:
    """Reads the decision about a tool call, or the text that replaces a message."""
    if not stdout.strip():
        return Report(verdict=Defer())
    fields = answer(stdout)
    if isinstance(fields, Failed):
        return Report(verdict=Defer(f"ignored: {fields.detail}"))
    if event.kind == "prompt.submit":
        return Report(verdict=_message(fields))
    return Report(
        verdict=_tool_call(fields), text=word(_printable(fields.get("additionalContext")))
    )


def reason_in(stdout: str) -> str:
    """Returns the reason of an answer that came with exit 2; empty without one."""
    fields = answer(stdout)
    return "" if isinstance(fields, Failed) else word(_printable(fields.get("reason")))


def _tool_call(fields: dict[str, Any]) -> Verdict:
    reason = word(_printable(fields.get("reason")))
    new = fields.get("updatedInput")
    match fields.get("decision"):
        case "deny":
            return Block(reason or NO_REASON)
        case "ask":
            note = NOT_REWRITTEN if new is not None else ""
            return Confirm((reason or NO_QUESTION) + note)
        case "allow" | None if new is not None:
            return Modify(new, reason) if _fits(new) else Failed("malformed", _INPUT_UNFIT)
        case "allow":
            return Allow(reason)
        case None:
            return Defer(reason)
    return Failed("protocol", "decision must be allow, deny or ask")


def _message(fields: dict[str, Any]) -> Verdict:
    if "text" not in fields:
        return Defer()
    text = fields["text"]
    if not isinstance(text, str) or not text or len(text) > MAX_TEXT_CHARS:
        return Defer(f"ignored: text must have 1 to {MAX_TEXT_CHARS} characters")
    return Modify({"text": text})


def _fits(new: Any) -> bool:
    return isinstance(new, dict) and len(msgspec.json.encode(new)) <= MAX_INPUT_BYTES


def _printable(text: Any) -> Any:
    """Returns the text without control characters: a hook must not paint on a screen."""
    if not isinstance(text, str):
        return None
    return "".join(char for char in text if char.isprintable() or char in "\n\t")


_TOOL: Final[ExitMap] = {0: "parse", 2: "block", "other": "answer"}

CODEWHALE: Final = Protocol(
    name="codewhale",
    ask=ask,
    read=read,
    events=EVENTS,
    exits={0: "pass", "other": "fail"},
    exits_at={
        "tool.pre": _TOOL,
        "tool.permission": _TOOL,
        "prompt.submit": {0: "parse", 2: "block", "other": "fail"},
    },
    silent_block=NO_REASON,
    reason_in=reason_in,
)
