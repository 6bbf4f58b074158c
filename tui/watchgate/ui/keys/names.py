"""The names of keys that the configuration may use: terminals can send them, and they are safe."""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.ui.formats import width

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
    """Raise `ValueError` where `action` cannot be put on these keys; says what could be written."""
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
