"""The registry of keys: every key with the words of its hint and the reasons against it.

`footer` lists the hints of a moment, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from watchgate.ui.commands import key_reasons as why
from watchgate.ui.commands.key_reasons import (
    allow_words,
    backs,
    copies,
    deny_words,
    filters,
    handback_words,
    leaves,
    opens,
    reply_words,
)
from watchgate.ui.keys.key_table import KEY_TABLE
from watchgate.ui.keys.keymap import Context, Key, Label, Reason, Where

LABELS: Mapping[str, Label] = {
    "deny": deny_words,
    "reply": reply_words,
    "allow": allow_words,
    "handback": handback_words,
    "detail": opens,
    "back": backs,
    "copy": copies,
    "filter": filters,
    "detach": leaves,
}
"""The words of hints that say what this press would do."""

REASONS: Mapping[str, Reason] = {
    "deny": why.deciding("deny"),
    "reply": why.deciding("reply"),
    "deny_stop": why.deciding("deny_stop"),
    "deny_all": why.deciding("deny_all"),
    "allow": why.deciding("allow"),
    "allow_more": why.deciding("allow_more"),
    "edit": why.deciding("edit"),
    "mark": why.mark,
    "handback": why.deciding("handback"),
    "more_time": why.deciding("more_time"),
    "view": why.shown_request,
    "detail": why.row,
    "terminal": why.terminal,
    "reveal": why.secrets,
    "unlock": why.unlock,
    "next": why.pending,
    "previous": why.pending,
    "copy": why.copy,
    "monitor": why.anywhere_else,
    "approvals": why.anywhere_else,
    "traces": why.anywhere_else,
    "costs": why.anywhere_else,
    "history": why.anywhere_else,
    "jump": why.jump,
    "sessions": why.sessions,
    "filter": why.filter_,
    "commands": why.anywhere_else,
    "sort": why.sort,
    "replay": why.replay,
    "gate_off": why.gate_off,
    "gate_on": why.gate_on,
    "stop": why.stop,
    "start": why.start,
    "log": why.log,
    "demo": why.demo,
    "unlock_other": why.core_there,
}
"""The reason why a key does nothing at a moment; those that are not here always act."""

KEYS: tuple[Key, ...] = tuple(
    msgspec.structs.replace(
        key,
        label=LABELS.get(key.id, key.label),
        why_not=REASONS.get(key.id, key.why_not),
    )
    for key in KEY_TABLE
)

SCREENS: tuple[Where, ...] = ("monitor", "approvals", "traces", "costs", "history")
"""The numbered screens, which Esc does not close."""

FOOTERS: dict[str, tuple[str, ...]] = {
    "pending": ("allow", "deny", "reply", "allow_more", "edit", "handback", "view", "next", "mark",
                "freeze", "help", "filter", "terminal", "more_time"),
    "quiet": ("allow", "deny", "detail", "terminal", "filter", "freeze", "copy", "commands",
              "help", "detach"),
    "empty": ("demo", "install", "copy", "commands", "help", "detach"),
    "lost": ("start", "log", "allow", "deny", "help", "detach"),
    "off": ("gate_on", "allow", "deny", "detail", "filter", "help", "detach"),
    "tiny": ("deny", "reply", "allow", "next", "help"),
    "commands": ("back", "detail"),
    "sessions": ("detail", "back", "deny", "help", "detach"),
    "page": ("back", "deny", "reply", "allow", "next", "commands", "detach"),
    "approvals": ("allow", "allow_more", "deny", "reply", "edit", "handback", "more_time", "view",
                  "next", "mark", "deny_stop", "help", "terminal", "commands"),
    "no-request": ("monitor", "traces", "history", "commands", "help", "detach"),
    "no-request-off": ("gate_on", "monitor", "history", "commands", "help", "detach"),
    "no-request-lost": ("start", "log", "allow", "deny", "monitor", "help", "detach"),
    "costs": ("allow", "deny", "reply", "next", "move", "detail", "sort", "window", "copy", "help",
              "monitor", "commands"),
    "history": ("allow", "deny", "reply", "next", "move", "replay", "detail", "filter", "copy",
                "help", "freeze", "monitor", "commands"),
    "timeline": ("back", "allow", "deny", "reply", "next", "page_down", "replay", "copy", "help",
                 "commands"),
    "payload": ("back", "allow", "deny", "reply", "next", "move", "detail", "view", "copy", "help",
                "commands"),
    "session": ("back", "allow", "deny", "reply", "next", "move", "replay", "copy", "help",
                "commands"),
    "replay": ("pause", "step", "call", "request", "speed", "minute", "detail", "help", "detach"),
    "replay-page": ("back", "pause", "step", "call", "request", "speed", "minute", "help",
                    "detach"),
    "popup": ("allow", "deny", "reply", "allow_more", "edit", "handback", "next", "mark", "back",
              "help"),
    "help": ("back", "deny", "reply", "allow", "next", "filter", "commands", "detach"),
    "traces": ("allow", "deny", "reply", "next", "move", "detail", "filter", "copy", "freeze",
               "help", "monitor", "commands"),
    "no-trace": ("allow", "deny", "copy", "monitor", "help", "commands"),
    "trace": ("back", "allow", "deny", "reply", "next", "page_down", "copy", "freeze", "help",
              "commands"),
    "detail": ("back", "deny", "reply", "allow", "allow_more", "edit", "handback", "next", "mark",
               "help", "commands", "detach"),
    "call": ("back", "deny", "reply", "allow", "next", "view", "copy", "help", "commands",
             "detach"),
}  # fmt: skip


def footer(context: Context) -> tuple[str, ...]:
    """The ids of the hints for a moment: what can be done first, and always a way out."""
    ids = _footer(context)
    return (ids[0], "unlock", *ids[1:]) if context.locked and not context.tiny else ids


def _footer(context: Context) -> tuple[str, ...]:
    if context.replay:
        paged = context.where not in SCREENS
        return FOOTERS["replay-page" if paged else "replay"]
    if context.where != "monitor":
        return FOOTERS.get(_page(context), FOOTERS["page"])
    if context.lost:
        return FOOTERS["lost"]
    if context.tiny:
        return FOOTERS["tiny"]
    if context.listed:
        return FOOTERS["sessions"]
    if context.docked is not None:
        return FOOTERS["pending"]
    if context.off:
        return FOOTERS["off"]
    return FOOTERS["empty" if context.empty else "quiet"]


def _page(context: Context) -> str:
    if context.where == "traces" and not context.traces:
        return "no-trace"
    if context.where != "approvals":
        return context.where
    if context.lost:
        return "no-request-lost"
    if context.tiny:
        return "tiny"
    if context.docked is None:
        return "no-request-off" if context.off else "no-request"
    return "approvals"
