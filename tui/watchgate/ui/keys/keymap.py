"""Keymaps: keys, the moment they act in, and the rules for what a configuration may change.

A key is named as a person types it (`a`, `?`, `tab`, `ctrl+p`). Its effect and whether it acts
depend on a `Context`, a plain picture of the moment; nothing here knows the screen. A configuration
may use only keys that terminals can send and that are safe (`check`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from textual.events import Key as KeyEvent

from watchgate.core.model.records import RequestData
from watchgate.ui.base.formats import width

_NAVIGATING = frozenset("delete insert home end pageup pagedown up down left right".split())
_NAMED = _NAVIGATING | {"space", "tab", "enter", "escape", "backspace"}
_FUNCTION = frozenset(f"f{number}" for number in range(1, 25))
_WITH_SHIFT = _NAMED - {"space", "enter", "backspace"}
_CTRL_LETTERS = frozenset("abcdefgklnopqrstuvwxyz")
"""Without h, i, j and m: a terminal sends those for Backspace, Tab and Enter."""

_ALIASES = {
    " ": "space",
    "esc": "escape",
    "return": "enter",
    "pgup": "pageup",
    "page_up": "pageup",
    "pgdn": "pagedown",
    "pagedn": "pagedown",
    "page_down": "pagedown",
    "del": "delete",
    "ins": "insert",
    "bs": "backspace",
    "shift-tab": "shift+tab",
    "backtab": "shift+tab",
}
_FORMS = "a character (a, A, ?), a name (space, tab, pageup, f5), ctrl+x, shift+tab"

ANSWERING = frozenset({"n", "y"})
"""Keys that say which keys decide, and so are bound to nothing."""

CHOOSING = frozenset("1234")
"""Keys that choose in prompts which an allow key confirms, so none of them is one."""

NEVER_DECIDE = frozenset({"enter", "escape", "ctrl+c"})
"""Keys that other programs use for yes and no, or to leave: no decision is put on them."""


def check(action: str, names: Iterable[str], *, decides: bool) -> None:
    """Raises `ValueError` where `action` cannot be put on these keys; it says what can be."""
    there = tuple(names)
    if not there:
        raise ValueError(f"ui.keys: {action!r} needs a key: {_FORMS}")
    if decides and len(there) > 1:
        raise ValueError(f"ui.keys: {action!r} decides, it takes one key, not {' '.join(there)!r}")
    for name in there:
        if not _can_be_sent(name):
            meant = _meant(name)
            hint = f"did you mean {meant!r}?" if meant else f"a key is {_FORMS}"
            raise ValueError(f"ui.keys: {action!r}: no terminal sends {name!r}: {hint}")
        if name in ANSWERING:
            raise ValueError(
                f"ui.keys: {action!r}: {name!r} is taken: n and y never decide, they say what does"
            )
        if decides and name in CHOOSING:
            raise ValueError(f"ui.keys: {action!r} decides: 1 to 4 choose how far an allow reaches")
        if decides and name in NEVER_DECIDE:
            raise ValueError(f"ui.keys: {action!r} decides: Enter, Esc and ctrl+c never do that")


def _can_be_sent(name: str) -> bool:
    if len(name) == 1:
        return name.isprintable() and name != " " and width(name) > 0
    if name in _NAMED or name in _FUNCTION:
        return True
    before, _, key = name.rpartition("+")
    if before == "ctrl":
        return key in _CTRL_LETTERS or key in _NAVIGATING or key in _FUNCTION
    if before == "shift":
        return key in _WITH_SHIFT
    return before == "ctrl+shift" and key in _NAVIGATING


def _meant(name: str) -> str:
    lower = name.lower()
    if lower in _ALIASES:
        return _ALIASES[lower]
    tidy = lower.replace("control", "ctrl").replace("-", "+").replace(" ", "")
    tidy = tidy.replace("c+", "ctrl+") if tidy.startswith("c+") else tidy
    if tidy.startswith("shift+") and len(tidy) == len("shift+x"):
        return tidy[-1].upper()
    return tidy if tidy != name and _can_be_sent(tidy) else ""


Group = Literal["decide", "look", "move", "find", "replay", "leave", "other", "palette"]
Where = Literal[
    "monitor",
    "approvals",
    "traces",
    "trace",
    "costs",
    "history",
    "timeline",
    "detail",
    "call",
    "payload",
    "session",
    "help",
    "commands",
    "log",
    "popup",
]
WIDE = 100
"""From this many columns the footer says what a press will really do."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """The moment, as far as keys care: the screen, the docked request and what is wrong.

    `partly_shown` says that the docked request was not shown in full yet, `is_marked` that it is
    marked, `marked` how many would be allowed together with it, `alike` how many other open ones
    are like it; `listed` that the list of sessions has the keys, `items` how many lines the list of
    a screen besides the monitor has; `off_here` that the gate of this machine is off, where several
    are watched, `empty` that no call came and no gated session is there, `offers` that a command
    was told that can be copied, `ends_core` that the core ends with the console, `locked` that this
    terminal may let nothing run until it is unlocked, `modest` that it may let low and medium
    requests run once all the same, `unlocking` that the screen says how it is unlocked elsewhere
    and waits for that.
    """

    where: Where = "monitor"
    cells: int = 120
    agent: str = ""
    docked: RequestData | None = None
    pending: int = 0
    rows: int = 0
    traces: int = 0
    lost: bool = False
    off: bool = False
    off_here: bool = False
    empty: bool = False
    offers: bool = False
    demo: bool = False
    ends_core: bool = False
    replay: bool = False
    paused: bool = False
    tiny: bool = False
    frozen: bool = False
    filtered: bool = False
    partly_shown: bool = False
    is_marked: bool = False
    marked: int = 0
    alike: int = 0
    listed: bool = False
    locked: bool = False
    modest: bool = False
    unlocking: bool = False
    items: int = 0
    can_start: bool = False
    can_log: bool = False
    can_demo: bool = False

    @property
    def wide(self) -> bool:
        """Returns whether there is room for long labels."""
        return self.cells >= WIDE


Label = Callable[[Context], str]
Reason = Callable[[Context], str | None]


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """One key: its id, the keys it is on, how help and footer call it, and when it acts.

    `shown` is how the keys are written, `label` the footer's words (a function where they tell what
    this press will do), `why_not` the reason why it does nothing now. Hints with the highest `drop`
    leave a narrow footer first; 0 never leaves. A key of the group `palette` is found in the list
    of commands alone. `also` is another name to find it by, `does` what a document says of it where
    `help` is too short; both name another key as `{allow}`. `only` are the places where it acts,
    all where there are none: there it goes before a key of every place. A key of the group `replay`
    acts in a replay alone, and goes before all others there.
    """

    id: str
    keys: tuple[str, ...]
    shown: str = ""
    group: Group
    help: str
    label: Label
    why_not: Reason
    drop: int = 5
    note: str = ""
    also: str = ""
    does: str = ""
    only: tuple[Where, ...] = ()

    def reason(self, context: Context) -> str | None:
        """Returns the reason a press would do nothing now; None where it would act."""
        if self.group == "replay" and not context.replay:
            return f"{self.help}: only in a replay"
        if self.only and context.where not in self.only:
            return f"{self.help}: only {where_words(self.only)}"
        return self.why_not(context)


def enabled(_context: Context) -> str | None:
    """The reason of a key that always acts: none."""
    return None


class Hint(msgspec.Struct, frozen=True):
    """One hint of the footer: the key, the words, and whether a press would act."""

    key: str
    label: str
    enabled: bool

    @property
    def cells(self) -> int:
        """The cells that it takes, without the gap to the next."""
        return len(self.key) + 1 + len(self.label) + (0 if self.enabled else 2)


PAIRS = {
    "move": ("down", "up"),
    "step": ("step_back", "step_on"),
    "call": ("call_back", "call_on"),
    "request": ("request_back", "request_on"),
    "minute": ("minute_back", "minute_on"),
    "speed": ("slower", "faster"),
}
"""Hints that stand for two keys at once: `j/k move`."""


class Keymap:
    """The keys as the configuration makes them."""

    def __init__(self, keys: Iterable[Key], remap: Mapping[str, str] | None = None) -> None:
        """Puts the keys of `remap` (action id -> keys with blanks between) in place.

        Raises `ValueError` in words for who wrote them: an action that is not there, a key that no
        terminal sends, one that means two things at one place, a decision where none may be.
        """
        self._by_id = {key.id: key for key in keys}
        for action, name in (remap or {}).items():
            known = self._by_id.get(action)
            if known is None:
                raise ValueError(
                    f"ui.keys: no action {action!r}; there are {', '.join(self._by_id)}"
                )
            names = tuple(name.split())
            check(action, names, decides=known.group == "decide")
            self._by_id[action] = msgspec.structs.replace(
                known, keys=names, shown=_shown(names[0], known)
            )
        written = {key.id: key.shown for key in self._by_id.values()}
        self._by_id = {id_: _with_names(key, written) for id_, key in self._by_id.items()}
        self._by_name: dict[str, list[Key]] = {}
        for key in self._by_id.values():
            for name in key.keys:
                there = self._by_name.setdefault(name, [])
                taken = next((each for each in there if _both(each, key)), None)
                if taken is not None:
                    raise ValueError(f"ui.keys: {name!r} is both {taken.id} and {key.id}")
                there.append(key)

    def __getitem__(self, action: str) -> Key:
        return self._by_id[action]

    def named(self, name: str, where: Where = "monitor", *, replay: bool = False) -> Key | None:
        """Returns the key of a name there; one that acts elsewhere alone gives its reason."""
        keys = self._by_name.get(name, [])
        playing = [key for key in keys if key.group == "replay"]
        if playing and (replay or len(keys) == len(playing)):
            return playing[0]
        keys = [key for key in keys if key.group != "replay"]
        here = [key for key in keys if where in key.only] or [key for key in keys if not key.only]
        return next(iter(here or keys), None)

    def group(self, *groups: Group) -> list[Key]:
        """The keys of some groups in the order of the registry."""
        return [key for key in self._by_id.values() if key.group in groups]

    def every(self) -> list[Key]:
        """All keys in the order of the registry."""
        return list(self._by_id.values())

    def hints(self, actions: Iterable[str], context: Context, cells: int) -> list[Hint]:
        """The footer's hints that fit in so many cells; each whole or not at all."""
        keys = [self._by_id.get(action) or self._pair(action) for action in actions]
        hints = {
            key.id: Hint(key.shown, key.label(context), key.reason(context) is None) for key in keys
        }
        room = cells - 2
        # Of two that are dropped alike, what would not act goes first: deny outlasts a dead allow.
        last = sorted(keys, key=lambda k: (k.drop, not hints[k.id].enabled), reverse=True)
        for key in last:
            taken = sum(hint.cells for hint in hints.values()) + 2 * (len(hints) - 1)
            if taken <= room or not key.drop:
                break
            del hints[key.id]
        return list(hints.values())

    def _pair(self, action: str) -> Key:
        one, other = (self._by_id[each] for each in PAIRS[action])
        return msgspec.structs.replace(
            one, id=action, shown=f"{one.shown}/{other.shown}", label=lambda _context: action
        )


_SHOWN = {"enter": "Enter", "escape": "Esc", "tab": "Tab", "pagedown": "PgDn", "pageup": "PgUp"}


def _with_names(key: Key, names: Mapping[str, str]) -> Key:
    """The key with the names of the keys that its words are about."""
    if "{" not in key.help + key.does:
        return key
    help_, does = key.help.format_map(names), key.does.format_map(names)
    return msgspec.structs.replace(key, help=help_, does=does)


def _shown(name: str, known: Key) -> str:
    """Returns a key's written form: the registry's where it is its key already."""
    return known.shown if known.keys[:1] == (name,) else _SHOWN.get(name, name)


_PLACES: dict[Where, str] = {
    "monitor": "on the monitor",
    "costs": "in the costs",
    "history": "in the history",
    "timeline": "in a timeline",
    "session": "on the page of a session",
}


def where_words(places: Sequence[Where]) -> str:
    """Returns the words for the places where a key acts: `in the costs`."""
    return " and ".join(_PLACES.get(place, f"in {place}") for place in places)


def _both(one: Key, other: Key) -> bool:
    """Returns whether the same key would mean two things at one place."""
    if "replay" in (one.group, other.group):
        return one.group == other.group
    if not one.only or not other.only:
        return not one.only and not other.only
    return bool(set(one.only) & set(other.only))


def fitted(hints: Sequence[Hint], cells: int) -> Sequence[Hint]:
    """The hints of a prompt that fit in so many cells, whole; the last one, its way out, stays."""
    remaining = list(hints)
    while len(remaining) > 1 and sum(each.cells + 2 for each in remaining) > cells:
        del remaining[-2]
    return remaining


def name_of(event: KeyEvent) -> str:
    """A key event by the name that a person would type."""
    character = event.character
    if character is not None and character.isprintable() and character != " ":
        return character
    return event.key


def read_at(event: KeyEvent, now_s: float) -> float:
    """Returns the time at which a key was read, on the clock that says `now_s`."""
    return now_s - max(0.0, time.monotonic() - event.time)


def again(event: KeyEvent) -> KeyEvent:
    """Copies a key event, with the time it was read, to be posted to another widget."""
    key = KeyEvent(event.key, event.character)
    key.time = event.time
    return key
