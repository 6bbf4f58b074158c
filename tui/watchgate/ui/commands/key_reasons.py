"""Reasons why a key does nothing now, in words for the operator; None where it acts.

The labels of the footer that depend on the moment are here too: they say what a press would do.
"""

from __future__ import annotations

from watchgate.core.model.records import RequestData
from watchgate.core.presence.proof import MODEST
from watchgate.ui.approval.arming import Intent
from watchgate.ui.approval.consequences import (
    ALLOWING,
    BATCHED_RISKS,
    allow_label,
    blocked,
    handback_label,
)
from watchgate.ui.keys.keymap import Context, Reason, Where
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.request_words import secret_count

WHOLE: tuple[Where, ...] = ("detail", "approvals", "popup")
"""The places that show the docked request whole, besides a monitor that has room for it."""


def allow_words(context: Context) -> str:
    """Returns the allow key's label, as long as the footer's width permits."""
    hidden = context.where not in (*WHOLE, "monitor") or (
        context.where == "monitor" and context.partly_shown and not context.tiny
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
    """Returns the deny key's label: a question is declined."""
    asked = context.docked is not None and context.docked.asks == "question"
    return "decline" if asked else "deny"


def reply_words(context: Context) -> str:
    """Returns the label of the key that denies with words for the model."""
    return f"{deny_words(context)}, reply" if context.wide else "reply"


def handback_words(context: Context) -> str:
    """Returns the handback key's label, which at any width says if the call then runs."""
    if context.docked is None:
        return "hand back"
    if not context.wide:
        return "hand back, runs" if context.docked.runs_unasked else "hand back"
    return handback_label(context.docked, context.agent)


def opens(context: Context) -> str:
    """Returns the label of Enter: the thing that it opens."""
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
    """Returns the copy key's label: the thing that it copies."""
    if context.where in ("traces", "trace"):
        return "copy" if context.traces else "copy the lines"
    command = context.offers or (context.where == "monitor" and not context.rows)
    return "copy the line" if command else "copy"


def filters(context: Context) -> str:
    """Returns the filter key's label: on the help page it searches the keys."""
    return "search keys" if context.where == "help" else "filter"


def backs(context: Context) -> str:
    """Returns the word for Esc, which closes a page or goes back within one."""
    return "back" if context.where in ("trace", "timeline") else "close"


def leaves(context: Context) -> str:
    """Returns the label of the key that leaves the console, with the effect on the core."""
    if context.replay:
        return "leave"
    if context.where == "popup":
        return "close"
    if context.ends_core:
        return "quit: the core ends with it" if context.wide else "quit, ends core"
    return "leave" if context.lost else "detach"


TRACES: tuple[Where, ...] = ("traces", "trace")
LISTS: tuple[Where, ...] = ("costs", "history", "timeline", "payload", "session")
"""Places whose list is counted by `Context.items`."""

TEXTS: tuple[Where, ...] = ("detail", "call", "help", "commands", "log")
"""Places that show a text and no list to go to."""

UNFILTERED: tuple[Where, ...] = (
    "approvals", "timeline", "detail", "call", "payload", "session",
)  # fmt: skip

REPLAYED = "a replay: this was decided long ago"
NOTHING_HERE = "a replay: nothing is decided here"

_ALLOWING: tuple[Intent, ...] = ("allow", "allow_more", "edit", "mark")


def deciding(intent: Intent) -> Reason:
    """Returns the function that tells why a decision key cannot decide the docked request."""

    def why_not(context: Context) -> str | None:
        if context.replay:
            return REPLAYED if context.docked is not None else NOTHING_HERE
        if context.lost:
            return "the core is lost, nothing can be decided here"
        if context.docked is None:
            return "nothing is pending"
        if context.tiny and intent in (*_ALLOWING, "handback"):
            return "to allow you must see the whole request: 60 by 16 cells"
        if context.unlocking and _takes_proof(intent, context.docked, modest=context.modest):
            return "locked: this waits until this terminal is unlocked"
        if context.partly_shown and context.where in WHOLE and intent in _ALLOWING:
            pages = f"{key_for('page_up')} and {key_for('page_down')}"
            return f"not all of it was on the screen yet: {pages} go through it"
        return blocked(context.docked, context.agent).get(intent)

    return why_not


def _takes_proof(intent: Intent, asked: RequestData, *, modest: bool) -> bool:
    """Returns whether a locked terminal may not do it; it may allow what is `modest` once."""
    if intent == "allow_more":
        return True
    lets_run = intent in ("allow", "edit") or (intent == "handback" and asked.runs_unasked)
    return lets_run and not (modest and asked.risk in MODEST)


def mark(context: Context) -> str | None:
    """Refuses a mark on a request that may not be allowed together with others."""
    why = deciding("mark")(context)
    if why is not None or context.docked is None or context.is_marked:
        return why
    if context.docked.risk not in BATCHED_RISKS:
        return "only low and medium requests are allowed together"
    return None if context.alike else "no other open request is like this one"


def pending(context: Context) -> str | None:
    """Refuses while no request is docked."""
    return None if context.docked is not None else "nothing is pending"


def row(context: Context) -> str | None:
    """Refuses where no line is under the cursor that Enter could open."""
    where = context.where
    if where == "traces":
        return None if context.traces else "no trace to show yet"
    if where == "approvals":
        return pending(context)
    if where == "timeline":
        return "this is the whole timeline"
    if where in LISTS:
        what = {"costs": "session", "history": "call"}.get(where, "line")
        return None if context.items else f"no {what} to open"
    if where in ("help", "log"):
        return "no line to open on this page"
    if where == "popup":
        return f"{key_for('detail')} decides nothing: the keys below do"
    if where in ("detail", "call", "trace", "commands") or context.listed:
        return None
    return None if context.rows else "no call to show yet"


def shown_request(context: Context) -> str | None:
    """Refuses while there is neither a request nor a call to show."""
    if context.where in ("approvals", "popup"):
        return pending(context)
    return None if context.docked is not None or context.rows else "no call to show yet"


def copy(context: Context) -> str | None:
    """Refuses while there is nothing to copy."""
    if context.offers:
        return None
    if context.where in LISTS:
        return None if context.items else "nothing to copy yet"
    if context.where == "approvals":
        return None if context.docked is not None else "nothing to copy yet"
    there = context.rows or context.where in ("monitor", *TRACES)
    return None if there or context.docked is not None else "nothing to copy yet"


def secrets(context: Context) -> str | None:
    """Refuses where the docked request covers no secret."""
    if context.docked is None:
        return "nothing is pending"
    return None if secret_count(context.docked) else "no secret is covered in this request"


def sort(context: Context) -> str | None:
    """Refuses while the costs list no session."""
    return None if context.items else "no session to sort"


def jump(context: Context) -> str | None:
    """Refuses where no line can be jumped to."""
    if context.where in TEXTS:
        return "no line to jump to on this page"
    if context.where == "popup":
        return "no line to jump to: the popup shows one request"
    if context.where == "approvals":
        return pending(context)
    if context.where in TRACES:
        return None if context.traces else "no trace to jump to yet"
    if context.where in LISTS:
        return None if context.items else "no line to jump to yet"
    if context.tiny:
        return "no room for labels: 60 by 16 cells"
    return None if context.rows else "no call to jump to yet"


def filter_(context: Context) -> str | None:
    """Refuses where no list can be filtered."""
    if context.where in UNFILTERED:
        return "no list to filter here: the monitor, traces and history have one"
    if context.where == "log":
        return "the log is not filtered here"
    return anywhere_else(context)


def sessions(context: Context) -> str | None:
    """Refuses while there is no call, or no room for the list of sessions."""
    if context.tiny:
        return "no room for the sessions: 60 by 16 cells"
    return anywhere_else(context) or (None if context.rows else "no call to show yet")


def anywhere_else(context: Context) -> str | None:
    """Refuses in the popup, which is one request and nothing else."""
    if context.where == "popup":
        return "the popup shows one request: `watchgate` shows the rest"
    return None


def replay(context: Context) -> str | None:
    """Refuses while there is no session to play, or no core to fetch it from."""
    if context.replay:
        return "this is a replay already"
    if context.lost:
        return "the core is lost, and with it the way to its records"
    return None if context.items or context.where == "session" else "no call to play"


def terminal(context: Context) -> str | None:
    """Refuses in a replay, whose agents do not run now."""
    if context.replay:
        return "a replay: that terminal may be another's by now"
    return shown_request(context)


def _replayed(context: Context) -> str | None:
    """Refuses in a replay, which has no core."""
    return f"a replay has no core; {key_for('detach')} leaves it" if context.replay else None


def _only(offered: bool, what: str) -> str | None:
    return None if offered else what


def start(context: Context) -> str | None:
    """Refuses while a core runs, or where this console cannot start one."""
    if (why := _replayed(context)) is not None:
        return why
    if not context.lost:
        return "the core is running"
    return _only(context.can_start, "this console cannot start it: run `watchgate serve`")


def log(context: Context) -> str | None:
    """Refuses where the core's log is not on this machine."""
    return _only(context.can_log, "its log is not on this machine")


def gate_on(context: Context) -> str | None:
    """Refuses while the gate is on."""
    if (why := _replayed(context)) is not None:
        return why
    if context.lost:
        return "the core is lost"
    return None if context.off or context.off_here else "the gate is on"


def gate_off(context: Context) -> str | None:
    """Refuses while the gate is off, and in a demo."""
    if (why := _replayed(context)) is not None:
        return why
    if context.lost:
        return "the core is lost"
    if context.demo:
        return "the demo has no agents that could be let go"
    return "the gate is off already" if context.off or context.off_here else None


def core_there(context: Context) -> str | None:
    """Refuses while no core is attached."""
    return _replayed(context) or ("the core is lost" if context.lost else None)


def unlock(context: Context) -> str | None:
    """Refuses while this terminal is not locked."""
    there = core_there(context)
    if there is None and context.demo:
        return "nothing has to be unlocked in the demo"
    return there or (None if context.locked else "this terminal may allow, it is not locked")


def stop(context: Context) -> str | None:
    """Refuses while no core is attached."""
    return core_there(context)


def demo(context: Context) -> str | None:
    """Refuses in a demo or replay, while a request is open, or where there is no demo."""
    if context.replay:
        return f"leave the replay first: {key_for('detach')}"
    if context.demo:
        return f"this is the demo; {key_for('detach')} leaves it"
    there = anywhere_else(context)
    if there is None and context.pending:
        return "not while a request is open: the demo would hide it"
    return there or _only(context.can_demo, "this console has no demo: run `watchgate demo`")
