"""The meaning of an extension's answer to `hook.handle`.

A denial is one whatever else is wrong with it, and a rewrite without an input is told apart from
one with an empty input. Every other answer that cannot be read is a failure, and the handler's
failure policy says what that amounts to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from watchgate.core.verdicts import Allow, Block, Confirm, Failed, Inject, Modify, Verdict

TEXT_CAP: Final = 8_192
"""Characters of one text that an extension may hand on, its mark included."""

_MEND = "mend the extension"


def verdict(result: Any, extension_id: str) -> Verdict:
    """Reads the verdict in the `result` of an answer."""
    if not isinstance(result, Mapping):
        return Failed("parse", f"{extension_id} answered no object; {_MEND}")
    action = result.get("action")
    reading = _ACTIONS.get(action) if isinstance(action, str) else None
    if reading is None:
        return Failed("parse", f"{extension_id} answered no known action; {_MEND}")
    return reading(result, extension_id)


def _continue(_result: Mapping[str, Any], _id: str) -> Verdict:
    return Allow()


def _block(result: Mapping[str, Any], id: str) -> Verdict:
    return Block(_text(result, "reason") or f"Blocked by {id}; no reason was given.")


def _confirm(result: Mapping[str, Any], id: str) -> Verdict:
    return Confirm(_text(result, "message") or f"{id} wants this confirmed and does not say why.")


def _modify(result: Mapping[str, Any], id: str) -> Verdict:
    changed = result.get("input")
    if changed is None:
        return Modify(None)
    if not isinstance(changed, dict):
        return Failed("malformed", f"{id} rewrote the input to something that is no object")
    return Modify(changed, f"rewritten by {id}")


def _inject(result: Mapping[str, Any], id: str) -> Verdict:
    text = _text(result, "content")
    return Inject(text) if text else Failed("parse", f"{id} injected no text; {_MEND}")


def _text(result: Mapping[str, Any], key: str) -> str:
    text = result.get(key)
    if not isinstance(text, str) or not text.strip():
        return ""
    if len(text) <= TEXT_CAP:
        return text
    mark = f"... [cut, {len(text)} characters in total]"
    return text[: TEXT_CAP - len(mark)] + mark


_ACTIONS: Final[dict[str, Callable[[Mapping[str, Any], str], Verdict]]] = {
    "continue": _continue,
    "block": _block,
    "confirm": _confirm,
    "modify": _modify,
    "inject": _inject,
}
