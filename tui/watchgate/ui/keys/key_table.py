"""The table of every key of the console, in the order of the help page.

One row holds all that is true of a key at any time. When it acts, and the words of its hint that
depend on what a press would do, are added above, in `commands.key_registry`: they know requests.
"""

from __future__ import annotations

from typing import TypedDict, Unpack

from watchgate.ui.keys.keymap import Group, Key, Label, Where, enabled


class _More(TypedDict, total=False):
    shown: str
    drop: int
    note: str
    also: str
    does: str
    only: tuple[Where, ...]


def words(wide: str, narrow: str | None = None) -> Label:
    """Returns a label that is the same at every moment, but for a narrow footer."""
    return lambda context: wide if context.wide or narrow is None else narrow


def _key(
    id_: str,
    keys: str,
    group: Group,
    help_: str,
    label: Label | None = None,
    **more: Unpack[_More],
) -> Key:
    """Makes a row of the table.

    Args:
        id_: The action's id.
        keys: The keys it is on, with blanks between; none where only the palette has it.
        group: The part of the help page.
        help_: The words of the help page.
        label: The words of the footer; left out where the registry gives them.
        **more: Fields of `Key` that few rows have.
    """
    names = tuple(keys.split())
    more.setdefault("shown", names[0] if names else f":{id_}")
    label = label or words(help_)
    return Key(id=id_, keys=names, group=group, help=help_, label=label, why_not=enabled, **more)


_PAST: tuple[Where, ...] = ("history", "timeline", "session")

KEY_TABLE: tuple[Key, ...] = (
    _key("deny", "d", "decide", "deny", drop=1),
    _key("reply", "r", "decide", "deny, and tell the model why", drop=3),
    _key("deny_stop", "X", "decide", "deny, and end the agent's turn", words("deny, end turn"),
         drop=7, note="where the agent can be told so",
         does="deny and end the agent's turn, where the agent can be told to"),
    _key("deny_all", "D", "decide", "deny all pending, asks once", words("deny all")),
    _key("allow", "a", "decide", "allow once", drop=1, note="HIGH: twice. CRITICAL: type yes",
         does="allow once; high risk wants the key again, critical a typed `yes`"),
    _key("allow_more", "A", "decide", "allow more: turn, session, ...", words("allow more", "more"),
         drop=6, note="15 min, always; shows the rule",
         does="allow more: this turn, this session, 15 min, or always by a rule that is shown, "
         "with the past calls it would have let through, and can be edited first"),
    _key("edit", "e", "decide", "edit, then allow what you see", words("edit"), drop=6,
         does="edit the call, see what the policy says of the edited one, then allow that; where "
         "the agent can be told another input"),
    _key("mark", "space", "decide", "mark; {allow} then allows the marked",
         lambda context: "unmark" if context.is_marked else "mark", drop=9,
         does="mark requests of low or medium risk that are alike; `{allow}` then lists the marked "
         "ones and allows exactly those"),
    _key("handback", "b", "decide", "hand back: its own prompt asks", drop=5,
         does="hand back: the agent's own prompt decides"),
    _key("more_time", "t", "decide", "more time, while it can wait", words("more time"), drop=8,
         does="more time, as long as the agent still waits"),
    _key("view", "v", "look", "the whole request", words("all"), drop=4,
         does="the whole request; again its payload"),
    _key("detail", "enter", "look", "the line under the cursor", shown="Enter", drop=4),
    _key("back", "escape", "look", "back, never decides", shown="Esc", drop=1),
    _key("terminal", "o", "look", "go to the agent's terminal", words("terminal"), drop=8,
         does="go to the agent's terminal, where it can be reached, else say where it is"),
    _key("reveal", "u", "look", "uncover its secrets, or cover", words("secrets"), also="secrets",
         does="tell the secrets of this request, which are covered everywhere else; again covers "
         "them"),
    _key("unlock", "U", "look", "unlock this terminal", words("unlock"), drop=1, also="pin",
         does="unlock this terminal by the PIN, a security key, or a code that a clear terminal "
         "confirms: until then it may only deny, where an agent could have opened it"),
    _key("next", "tab ]", "look", "next pending", words("next"), shown="Tab", drop=4),
    _key("previous", "shift+tab [", "look", "previous pending", words("previous"), shown="["),
    _key("copy", "c", "look", "copy the call or the line", drop=9),
    _key("monitor", "1", "move", "the monitor", words("monitor")),
    _key("approvals", "2", "move", "the approvals", words("approvals")),
    _key("traces", "3", "move", "the hooks of every call", words("traces"), also="hooks"),
    _key("costs", "4", "move", "the costs", words("costs"), also="money"),
    _key("history", "5", "move", "the history", words("history"), also="search"),
    _key("down", "j down", "move", "down", words("down"), shown="j", drop=8),
    _key("up", "k up", "move", "up; it stops following", words("up"), shown="k"),
    _key("top", "g home", "move", "the first line", words("top"), shown="g"),
    _key("bottom", "G end", "move", "the newest; follow on", words("follow"), shown="G",
         does="the newest line; follow it from now on"),
    _key("page_down", "pagedown", "move", "a page down", words("page down"), shown="PgDn"),
    _key("page_up", "pageup", "move", "a page up", words("page up"), shown="PgUp"),
    _key("half_down", "ctrl+d", "move", "half a page down", words("half down")),
    _key("half_up", "ctrl+u", "move", "half a page up", words("half up")),
    _key("jump", "'", "move", "jump labels", words("jump"),
         does="jump labels: a letter at every line, which goes there"),
    _key("sessions", "s", "move", "sessions", words("sessions"), drop=8),
    _key("freeze", "z", "move", "freeze; deadlines run on", words("freeze"), drop=8,
         does="freeze the picture; data and deadlines go on"),
    _key("filter", "/", "find", "filter; {back} clears it", drop=7,
         does="filter; {back} clears it"),
    _key("commands", ": ctrl+p", "find", "every command", words("commands"), shown=":", drop=5,
         does="the palette: every command, found by a part of its name"),
    _key("help", "?", "find", "this page", words("help"), drop=0, does="help: every key there is"),
    _key("sort", "s", "find", "sort the costs", words("sort"), drop=6, only=("costs",),
         does="costs: sort the sessions by cost, tokens, context or name"),
    _key("window", "w", "find", "costs of 1, 7 or 30 days", words("window"), drop=6,
         only=("costs",), does="costs: those of today, of 7 days or of 30 days"),
    _key("replay", "p", "find", "play its session again", words("replay"), drop=6, only=_PAST,
         does="history, and a session's page: play the whole session again"),
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
    _key("detach", "q", "leave", "leave; asks if core ends", drop=2, also="quit",
         does="leave; the core goes on, with `--host` it ends"),
    _key("leave", "ctrl+c", "leave", "the same, asks once", words("leave"), shown="ctrl+c",
         also="exit"),
    _key("gate_off", "", "leave", "gate off, asks first", words("gate off"), shown=":off"),
    _key("gate_on", "O", "leave", "gate on", words("gate on"), drop=1,
         does="gate on again, when it was switched off"),
    _key("stop", "", "leave", "stop the core, asks first", words("stop"), shown=":stop"),
    _key("start", "R", "other", "start a core", words("start core"), drop=1,
         does="start a core, when it is lost"),
    _key("log", "l", "other", "the core's last log lines", words("log"), drop=3),
    _key("demo", "x", "other", "play the demo", words("demo"), drop=1,
         does="play the demo until `q`; asks first where sessions are shown, and never while a "
         "request is open"),
    _key("install", "i", "other", "how to connect an agent", words("install"), drop=3),
    _key("theme", "", "other", "dark, light or mono", words("theme"), shown=":theme"),
    _key("unlock_other", "", "palette", "unlock another, by a code", words("unlock another"),
         shown=":unlock_other", also="code"),
    _key("theme_dark", "", "palette", "the dark theme", words("dark"), shown=":theme dark"),
    _key("theme_light", "", "palette", "the light theme", words("light"), shown=":theme light"),
    _key("theme_mono", "", "palette", "the theme without colours", words("mono"),
         shown=":theme mono"),
)  # fmt: skip
