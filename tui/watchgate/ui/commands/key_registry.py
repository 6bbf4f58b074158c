"""Every key of the console, in the order in which help tells them."""

from __future__ import annotations

from typing import TypedDict, Unpack

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
    words,
)
from watchgate.ui.keys.keymap import Context, Group, Key, Label, Reason, Where, enabled
from watchgate.ui.keys.shown_keys import use_defaults


class _More(TypedDict, total=False):
    shown: str
    drop: int
    note: str
    also: str
    does: str
    only: tuple[Where, ...]


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


_PAST: tuple[Where, ...] = ("history", "timeline", "session")

KEYS: tuple[Key, ...] = (
    _key("deny", "d", "decide", "deny", deny_words, why.deciding("deny"), drop=1),
    _key("reply", "r", "decide", "deny, and tell the model why", reply_words,
         why.deciding("reply"), drop=3),
    _key("deny_stop", "X", "decide", "deny, and end the agent's turn", words("deny, end turn"),
         why.deciding("deny_stop"), drop=7, note="where the agent can be told so",
         does="deny and end the agent's turn, where the agent can be told to"),
    _key("deny_all", "D", "decide", "deny all pending, asks once", words("deny all"),
         why.deciding("deny_all")),
    _key("allow", "a", "decide", "allow once", allow_words, why.deciding("allow"), drop=1,
         note="HIGH: twice. CRITICAL: type yes",
         does="allow once; high risk wants the key again, critical a typed `yes`"),
    _key("allow_more", "A", "decide", "allow more: turn, session, ...",
         words("allow more", "more"), why.deciding("allow_more"), drop=6,
         note="15 min, always; shows the rule",
         does="allow more: this turn, this session, 15 min, or always by a rule that is shown, "
         "with the past calls it would have let through, and can be edited first"),
    _key("edit", "e", "decide", "edit, then allow what you see", words("edit"),
         why.deciding("edit"), drop=6,
         does="edit the call, see what the policy says of the edited one, then allow that; where "
         "the agent can be told another input"),
    _key("mark", "space", "decide", "mark; {allow} then allows the marked",
         lambda context: "unmark" if context.is_marked else "mark", why.mark, drop=9,
         does="mark requests of low or medium risk that are alike; `{allow}` then lists the marked "
         "ones and allows exactly those"),
    _key("handback", "b", "decide", "hand back: its own prompt asks", handback_words,
         why.deciding("handback"), drop=5,
         does="hand back: the agent's own prompt decides"),
    _key("more_time", "t", "decide", "more time, while it can wait", words("more time"),
         why.deciding("more_time"), drop=8,
         does="more time, as long as the agent still waits"),
    _key("view", "v", "look", "the whole request", words("all"), why.shown_request, drop=4,
         does="the whole request; again its payload"),
    _key("detail", "enter", "look", "the line under the cursor", opens, why.row, shown="Enter",
         drop=4),
    _key("back", "escape", "look", "back, never decides", backs, shown="Esc", drop=1),
    _key("terminal", "o", "look", "go to the agent's terminal", words("terminal"),
         why.terminal, drop=8,
         does="go to the agent's terminal, where it can be reached, else say where it is"),
    _key("reveal", "u", "look", "uncover its secrets, or cover", words("secrets"), why.secrets,
         also="secrets",
         does="tell the secrets of this request, which are covered everywhere else; again covers "
         "them"),
    _key("unlock", "U", "look", "unlock this terminal", words("unlock"), why.unlock, drop=1,
         also="pin",
         does="unlock this terminal by the PIN, a security key, or a code that a clear terminal "
         "confirms: until then it may only deny, where an agent could have opened it"),
    _key("next", "tab ]", "look", "next pending", words("next"), why.pending, shown="Tab", drop=4),
    _key("previous", "shift+tab [", "look", "previous pending", words("previous"), why.pending,
         shown="["),
    _key("copy", "c", "look", "copy the call or the line", copies, why.copy, drop=9),
    _key("monitor", "1", "move", "the monitor", words("monitor"), why.anywhere_else),
    _key("approvals", "2", "move", "the approvals", words("approvals"), why.anywhere_else),
    _key("traces", "3", "move", "the hooks of every call", words("traces"), why.anywhere_else,
         also="hooks"),
    _key("costs", "4", "move", "the costs", words("costs"), why.anywhere_else, also="money"),
    _key("history", "5", "move", "the history", words("history"), why.anywhere_else,
         also="search"),
    _key("down", "j down", "move", "down", words("down"), shown="j", drop=8),
    _key("up", "k up", "move", "up; it stops following", words("up"), shown="k"),
    _key("top", "g home", "move", "the first line", words("top"), shown="g"),
    _key("bottom", "G end", "move", "the newest; follow on", words("follow"), shown="G",
         does="the newest line; follow it from now on"),
    _key("page_down", "pagedown", "move", "a page down", words("page down"), shown="PgDn"),
    _key("page_up", "pageup", "move", "a page up", words("page up"), shown="PgUp"),
    _key("half_down", "ctrl+d", "move", "half a page down", words("half down")),
    _key("half_up", "ctrl+u", "move", "half a page up", words("half up")),
    _key("jump", "'", "move", "jump labels", words("jump"), why.jump,
         does="jump labels: a letter at every line, which goes there"),
    _key("sessions", "s", "move", "sessions", words("sessions"), why.sessions, drop=8),
    _key("freeze", "z", "move", "freeze; deadlines run on", words("freeze"), drop=8,
         does="freeze the picture; data and deadlines go on"),
    _key("filter", "/", "find", "filter; {back} clears it", filters, why.filter_, drop=7,
         does="filter; {back} clears it"),
    _key("commands", ": ctrl+p", "find", "every command", words("commands"), why.anywhere_else,
         shown=":", drop=5, does="the palette: every command, found by a part of its name"),
    _key("help", "?", "find", "this page", words("help"), drop=0, does="help: every key there is"),
    _key("sort", "s", "find", "sort the costs", words("sort"), why.sort, drop=6,
         only=("costs",),
         does="costs: sort the sessions by cost, tokens, context or name"),
    _key("window", "w", "find", "costs of 1, 7 or 30 days", words("window"), drop=6,
         only=("costs",), does="costs: those of today, of 7 days or of 30 days"),
    _key("replay", "p", "find", "play its session again", words("replay"), why.replay, drop=6,
         only=_PAST, does="history, and a session's page: play the whole session again"),
    _key("pause", "space", "replay", "pause, go on",
         lambda context: "go on" if context.paused else "pause", drop=1,
         does="in a replay: pause, or go on; after the end from the start again"),
    _key("step_back", ",", "replay", "a record back", words("back"), drop=2),
    _key("step_on", ".", "replay", "a record on", words("step")),
    _key("call_back", "<", "replay", "a call back", words("call back"), drop=4),
    _key("call_on", ">", "replay", "a call on", words("call")),
    _key("request_back", "{", "replay", "the request before", words("request back"), drop=4),
    _key("request_on", "}", "replay", "the next request", words("request")),
    _key("minute_back", "left", "replay", "a minute back", words("minute back"), shown="Left",
         drop=6),
    _key("minute_on", "right", "replay", "a minute on", words("minute"), shown="Right"),
    _key("film_start", "0", "replay", "the start", words("start"), drop=9),
    _key("film_end", "$", "replay", "the end", words("end"), drop=9),
    _key("slower", "-", "replay", "slower", words("slower"), drop=3),
    _key("faster", "+ =", "replay", "faster", words("faster"), shown="+"),
    _key("detach", "q", "leave", "leave; asks if core ends", leaves, drop=2, also="quit",
         does="leave; the core goes on, with `--host` it ends"),
    _key("leave", "ctrl+c", "leave", "the same, asks once", words("leave"), shown="ctrl+c",
         also="exit"),
    _key("gate_off", "", "leave", "gate off, asks first", words("gate off"), why.gate_off,
         shown=":off"),
    _key("gate_on", "O", "leave", "gate on", words("gate on"), why.gate_on, drop=1,
         does="gate on again, when it was switched off"),
    _key("stop", "", "leave", "stop the core, asks first", words("stop"), why.stop,
         shown=":stop"),
    _key("start", "R", "other", "start a core", words("start core"), why.start, drop=1,
         does="start a core, when it is lost"),
    _key("log", "l", "other", "the core's last log lines", words("log"), why.log, drop=3),
    _key("demo", "x", "other", "play the demo", words("demo"), why.demo, drop=1,
         does="play the demo until `q`; asks first where sessions are shown, and never while a "
         "request is open"),
    _key("install", "i", "other", "how to connect an agent", words("install"), drop=3),
    _key("theme", "", "other", "dark, light or mono", words("theme"), shown=":theme"),
    _key("unlock_other", "", "palette", "unlock another, by a code", words("unlock another"),
         why.core_there, shown=":unlock_other", also="code"),
    _key("theme_dark", "", "palette", "the dark theme", words("dark"), shown=":theme dark"),
    _key("theme_light", "", "palette", "the light theme", words("light"), shown=":theme light"),
    _key("theme_mono", "", "palette", "the theme without colours", words("mono"),
         shown=":theme mono"),
)  # fmt: skip
use_defaults(KEYS)

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
