"""The words of the footer that depend on the moment: what this press will really do."""

from __future__ import annotations

from watchgate.ui.deciding.consequences import ALLOWING, allow_label, handback_label
from watchgate.ui.keys.keymap import Context, Label, Where

WHOLE: tuple[Where, ...] = ("detail", "approvals", "popup")
"""The places that show the docked request whole, besides a monitor that has room for it."""


def allow_words(context: Context) -> str:
    """Returns what an allow will do, as far as the footer's width lets it say."""
    hidden = context.where not in (*WHOLE, "monitor") or (
        context.where == "monitor" and context.unseen and not context.tiny
    )
    if context.docked is None:
        return "allow"
    plain = ALLOWING[context.docked.asks]
    if hidden:
        return f"open to {plain}" if context.wide else "open"
    if context.marked:
        return f"allow {context.marked} marked" if context.wide else f"allow {context.marked}"
    return allow_label(context.docked) if context.wide else plain


def deny_words(context: Context) -> str:
    """Returns what a denial is here: a question is declined."""
    asked = context.docked is not None and context.docked.asks == "question"
    return "decline" if asked else "deny"


def reply_words(context: Context) -> str:
    """Returns what a denial with words for the model is here."""
    return f"{deny_words(context)}, reply" if context.wide else "reply"


def handback_words(context: Context) -> str:
    """Returns what handing back will do; an armed handback says so at every width."""
    if context.docked is None:
        return "hand back"
    if not context.wide:
        return "hand back, runs" if context.docked.runs_unasked else "hand back"
    return handback_label(context.docked, context.agent)


def words(wide: str, narrow: str | None = None) -> Label:
    """The same words at every moment, other ones in a narrow footer."""
    return lambda context: wide if context.wide or narrow is None else narrow


def opens(context: Context) -> str:
    """Returns what Enter opens."""
    if context.where == "commands":
        return "run"
    if context.where == "traces":
        return "its hooks"
    if context.where in ("costs", "history"):
        return "session" if context.where == "costs" else "open"
    if context.where in ("payload", "approvals"):
        return "fold" if context.where == "payload" else "all"
    return "its calls" if context.listed and context.where == "monitor" else "detail"


def copies(context: Context) -> str:
    """Returns what a copy takes."""
    if context.where in ("traces", "trace"):
        return "copy" if context.traces else "copy the lines"
    command = context.offers or (context.where == "monitor" and not context.rows)
    return "copy the line" if command else "copy"


def filters(context: Context) -> str:
    """Returns what the filter's key looks through: on the help page the keys."""
    return "search keys" if context.where == "help" else "filter"


def backs(context: Context) -> str:
    """Returns whether Esc closes a page or goes back within one."""
    return "back" if context.where in ("trace", "timeline") else "close"


def leaves(context: Context) -> str:
    """Returns what becomes of the console when it is left."""
    if context.replay:
        return "leave"
    if context.where == "popup":
        return "close"
    if context.ends_core:
        return "quit: the core ends with it" if context.wide else "quit, ends core"
    return "leave" if context.lost else "detach"
