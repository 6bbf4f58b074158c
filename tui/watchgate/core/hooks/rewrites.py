"""Rewrites that come as text: the codex fork's `content` is the new input as a JSON string."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.core.events import Event
from watchgate.core.hooks.exec_tool import as_native, has_argv
from watchgate.core.verdicts import Block, Defer, Modify, Verdict

REWRITABLE: Final = ("tool.pre", "tool.permission", "prompt.submit")
MISSING: Final = "hook returned modify without content field"
UNREADABLE: Final = (
    "hook returned modify with content that is not a JSON object in a string; nothing was run."
    ' Print the whole new tool input, for example "content": "{\\"command\\": \\"ls\\"}"'
)
ARGV: Final = (
    "hook returned modify, which is not supported for a local shell call: its arguments are a list,"
    " and a text cannot replace them. Block the call instead"
)
AMBIGUOUS: Final = (
    "hook returned modify for a call that has both command and cmd; nothing was run, since nobody"
    " can tell which of them to replace. Block such a call instead"
)


def rewritten(event: Event, content: Any, *, presented: bool) -> Verdict:
    """Returns the verdict of a rewrite; whatever cannot be run in the call's place blocks it.

    A prompt is replaced by the text itself, as `{"text": ...}`. What is over cannot be rewritten.
    An empty text is an empty input, which is a valid call; a missing one is not. `presented` says
    that the hook was shown the call as the function `presented` returns it, not in the agent's own
    fields.
    """
    if event.kind not in REWRITABLE:
        return Defer(f"warning: it said modify, which changes nothing at {event.kind}")
    if content is None:
        return Block(MISSING)
    if event.tool is None:
        return Modify({"text": content}) if isinstance(content, str) else Block(UNREADABLE)
    if has_argv(event.tool):
        return Block(ARGV)
    new = _object(content)
    if new is None:
        return Block(UNREADABLE)
    native = as_native(event, new) if presented else new
    return Block(AMBIGUOUS) if native is None else Modify(native)


def _object(content: Any) -> dict[str, Any] | None:
    if isinstance(content, dict):
        return content
    if not isinstance(content, str):
        return None
    if not content.strip():
        return {}
    try:
        decoded = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None
