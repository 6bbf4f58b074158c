"""Every key of the console, in the order in which help tells them."""

from __future__ import annotations

from typing import TypedDict, Unpack

from watchgate.ui.arming import Intent
from watchgate.ui.consequences import BATCHED_RISKS, blocked
from watchgate.ui.keymap import (
    Context,
    Group,
    Key,
    Label,
    Reason,
    allow_words,
    deny_words,
    enabled,
    handback_words,
    reply_words,
)
from watchgate.ui.widgets.request_words import secrets_of


def _words(wide: str, narrow: str | None = None) -> Label:
    return lambda context: wide if context.wide or narrow is None else narrow


def _deciding(intent: Intent) -> Reason:
    def why_not(context: Context) -> str | None:
        if context.lost:
            return "the core is lost, nothing can be decided here"
        if context.docked is None:
            return "nothing is pending"
        if context.tiny and intent in (*_ALLOWING, "handback"):
            return "to allow you must see the whole request: 60 by 16 cells"
        if context.unseen and context.where == "detail" and intent in _ALLOWING:
            return "not all of it was on the screen yet: PgUp and PgDn go through it"
        return blocked(context.docked, context.agent).get(intent)

    return why_not


_ALLOWING: tuple[Intent, ...] = ("allow", "allow_more", "edit", "mark")


def _mark(context: Context) -> str | None:
    why = _deciding("mark")(context)
    if why is not None or context.docked is None or context.is_marked:
        return why
    if context.docked.risk not in BATCHED_RISKS:
        return "only low and medium requests are allowed together"
    return None if context.alike else "no other open request is like this one"


def _pending(context: Context) -> str | None:
    return None if context.docked is not None else "nothing is pending"


def _row(context: Context) -> str | None:
    if context.where == "traces":
        return None if context.traces else "no trace to show yet"
    return None if context.rows else "no call to show yet"


def _shown_request(context: Context) -> str | None:
    return None if context.docked is not None or context.rows else "no call to show yet"


_TRACES = ("traces", "trace")


def _opens(context: Context) -> str:
    if context.where == "commands":
        return "run"
    if context.where == "traces":
        return "its hooks"
    return "its calls" if context.listed else "detail"


def _lost_only(offered: bool, what: str) -> str | None:
    return None if offered else what


def _start(context: Context) -> str | None:
    if not context.lost:
        return "the core is running"
    return _lost_only(context.can_start, "this console cannot start it: run `watchgate serve`")


def _log(context: Context) -> str | None:
    return _lost_only(context.can_log, "its log is not on this machine")


def _gate_on(context: Context) -> str | None:
    if context.lost:
        return "the core is lost"
    return None if context.off else "the gate is on"


def _gate_off(context: Context) -> str | None:
    if context.lost:
        return "the core is lost"
    if context.demo:
        return "the demo has no agents that could be let go"
    return "the gate is off already" if context.off else None


def _stop(context: Context) -> str | None:
    return "the core is lost" if context.lost else None


def _demo(context: Context) -> str | None:
    if context.demo:
        return "this is the demo; q leaves it"
    return None if context.can_demo else "this console has no demo: run `watchgate demo`"


def _copy(context: Context) -> str | None:
    there = context.rows or context.empty or context.where in _TRACES
    return None if there else "nothing to copy yet"


def _copies(context: Context) -> str:
    if context.where in _TRACES:
        return "copy" if context.traces else "copy the lines"
    return "copy the line" if context.empty else "copy"


def _secrets(context: Context) -> str | None:
    if context.docked is None:
        return "nothing is pending"
    return None if secrets_of(context.docked) else "no secret is covered in this request"


def _later(what: str) -> Reason:
    return lambda _context: f"{what} arrives with a later version"


def _key(
    id_: str,
    keys: str,
    group: Group,
    help_: str,
    label: Label,
    why_not: Reason = enabled,
    **more: Unpack[_More],
) -> Key:
    names = tuple(keys.split())
    more.setdefault("shown", names[0] if names else f":{id_}")
    return Key(id=id_, keys=names, group=group, help=help_, label=label, why_not=why_not, **more)


class _More(TypedDict, total=False):
    shown: str
    drop: int
    note: str
    also: str


KEYS: tuple[Key, ...] = (
    _key("deny", "d", "decide", "deny", deny_words, _deciding("deny"), drop=1),
    _key("reply", "r", "decide", "deny, and tell the model why", reply_words,
         _deciding("reply"), drop=3),
    _key("deny_stop", "X", "decide", "deny, and end the agent's turn", _words("deny, stop"),
         _deciding("deny_stop"), note="where the agent can be told so"),
    _key("deny_all", "D", "decide", "deny all pending, asks once", _words("deny all"),
         _deciding("deny_all")),
    _key("allow", "a", "decide", "allow once", allow_words, _deciding("allow"), drop=1,
         note="HIGH: twice. CRITICAL: type yes"),
    _key("handback", "b", "decide", "hand back: its own prompt asks", handback_words,
         _deciding("handback"), drop=5),
    _key("more_time", "t", "decide", "more time, while it can wait", _words("more time"),
         _deciding("more_time"), drop=10),
    _key("allow_more", "A", "decide", "allow more: turn, session, ...",
         _words("allow more", "more"), _deciding("allow_more"), drop=6,
         note="shows the exact rule first"),
    _key("edit", "e", "decide", "edit, then allow", _words("edit"), _deciding("edit"), drop=6),
    _key("mark", "space", "decide", "mark, to allow those alike",
         lambda context: "unmark" if context.is_marked else "mark", _mark, drop=9),
    _key("view", "v", "look", "the whole request", _words("all"), _shown_request, drop=4),
    _key("detail", "enter", "look", "the call under the cursor",
         _opens, _row, shown="Enter", drop=4),
    _key("back", "escape", "look", "back, never decides",
         lambda context: "back" if context.where == "trace" else "close", shown="Esc", drop=1),
    _key("terminal", "o", "look", "go to the agent's terminal", _words("terminal"),
         _shown_request, drop=8),
    _key("reveal", "u", "look", "uncover its secrets, or cover", _words("secrets"), _secrets,
         also="secrets"),
    _key("next", "tab ]", "look", "next pending", _words("next"), _pending, shown="Tab", drop=4),
    _key("previous", "shift+tab [", "look", "previous pending", _words("previous"), _pending,
         shown="["),
    _key("copy", "c", "look", "copy the call or the line",
         _copies, _copy, drop=9),
    _key("monitor", "1", "move", "the monitor", _words("monitor")),
    _key("approvals", "2", "later", "approvals", _words("approvals"),
         _later("Approvals (the dock shows the request)")),
    _key("traces", "3", "move", "the hooks of every call", _words("traces"), also="hooks"),
    _key("costs", "4", "later", "costs", _words("costs"), _later("Costs")),
    _key("history", "5", "later", "history", _words("history"),
         _later("History (`watchgate tail` has the records)")),
    _key("down", "j down", "move", "down", _words("down"), shown="j"),
    _key("up", "k up", "move", "up; it stops following", _words("up"), shown="k"),
    _key("page_down", "pagedown", "move", "a page down", _words("page down"), shown="PgDn"),
    _key("page_up", "pageup", "move", "a page up", _words("page up"), shown="PgUp"),
    _key("top", "g home", "move", "oldest call", _words("top"), shown="g"),
    _key("bottom", "G end", "move", "newest call; follow on", _words("follow"), shown="G"),
    _key("sessions", "s", "move", "sessions", _words("sessions"), drop=8),
    _key("jump", "'", "later", "jump labels", _words("jump"), _later("Jumping by labels")),
    _key("freeze", "z", "move", "freeze; deadlines run on", _words("freeze"), drop=8),
    _key("filter", "/", "find", "filter; Esc clears it", _words("filter"), drop=7),
    _key("commands", ": ctrl+p", "find", "every command", _words("commands"), shown=":", drop=5),
    _key("help", "?", "find", "this page", _words("help"), drop=0),
    _key("detach", "q", "leave", "detach; the gate goes on",
         lambda context: "leave" if context.lost else "detach", drop=2, also="quit"),
    _key("leave", "ctrl+c", "leave", "the same, asks once", _words("leave"), shown="ctrl+c",
         also="exit"),
    _key("gate_off", "", "leave", "gate off, asks first", _words("gate off"), _gate_off,
         shown=":off"),
    _key("gate_on", "O", "leave", "gate on", _words("gate on"), _gate_on, drop=1),
    _key("stop", "", "leave", "stop the core, asks first", _words("stop"), _stop,
         shown=":stop"),
    _key("start", "R", "other", "start a core", _words("start core"), _start, drop=1),
    _key("log", "l", "other", "the core's last log lines", _words("log"), _log, drop=3),
    _key("demo", "x", "other", "play the demo", _words("demo"), _demo, drop=1),
    _key("install", "i", "other", "how to connect an agent", _words("install"), drop=3),
    _key("theme", "", "other", "dark, light or mono", _words("theme"), shown=":theme"),
)  # fmt: skip

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
    "traces": ("allow", "deny", "reply", "next", "detail", "filter", "copy", "freeze", "help",
               "monitor", "commands"),
    "no-trace": ("allow", "deny", "copy", "monitor", "help", "commands"),
    "trace": ("back", "allow", "deny", "reply", "next", "page_down", "copy", "freeze", "help",
              "commands"),
    "detail": ("back", "deny", "reply", "allow", "allow_more", "edit", "handback", "next", "mark",
               "help", "commands", "detach"),
}  # fmt: skip


def footer(context: Context) -> tuple[str, ...]:
    """The ids of the hints for a moment: what can be done first, and always a way out."""
    if context.where == "traces" and not context.traces:
        return FOOTERS["no-trace"]
    if context.where != "monitor":
        return FOOTERS.get(context.where, FOOTERS["page"])
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
