"""The lines in which help and documents tell the keys: what belongs together is one line."""

from __future__ import annotations

import msgspec

from watchgate.ui.keys.keymap import Group, Key, Keymap

TOGETHER: dict[tuple[str, ...], tuple[str, str]] = {
    ("monitor", "approvals", "traces", "costs", "history"): (
        "the five screens",
        "the screens: monitor, approvals, traces, costs, history",
    ),
    ("down", "up", "top", "bottom"): (
        "down, up, first, newest",
        "down, up, the first line, the newest; arrows, `Home` and `End` as well",
    ),
    ("page_down", "page_up"): ("a page down, up", "a page down, a page up"),
    ("half_down", "half_up"): ("half a page down, up", "half a page down, half a page up"),
    ("next", "previous"): ("next, previous pending", "next, previous held request"),
    ("step_back", "step_on"): ("a record back, on", "in a replay: a record back, a record on"),
    ("call_back", "call_on"): ("a call back, on", "in a replay: to the call before, the next call"),
    ("request_back", "request_on"): (
        "a request back, on",
        "in a replay: to the request before, the next request",
    ),
    ("minute_back", "minute_on"): (
        "a minute back, on",
        "in a replay: a minute back, a minute on",
    ),
    ("film_start", "film_end"): ("the start, the end", "in a replay: the start, the end"),
    ("slower", "faster"): ("slower, faster", "in a replay: slower, faster"),
    ("detach", "leave"): (
        "leave; asks if core ends",
        "leave, the core goes on; with `--host` it ends, so `q` asks once, as `ctrl+c` always does",
    ),
}
"""Keys that share a line: what help says of them, and what a document says."""

FOLLOWS = "follow; scrolling up: off"


class KeyRow(msgspec.Struct, frozen=True):
    """One line: the keys, what help says, the line below it, and what a document says."""

    names: tuple[str, ...]
    help: str
    note: str = ""
    does: str = ""


def rows(keymap: Keymap, group: Group) -> list[KeyRow]:
    """The lines of a group, in the order of the registry."""
    lines = []
    for key in keymap.group(group):
        together = next((ids for ids in TOGETHER if key.id in ids), None)
        if together is None:
            lines.append(KeyRow(_names(key), key.help, key.note, key.does or key.help))
        elif key.id == together[0]:
            names = tuple(name for action in together for name in _names(keymap[action]))
            helps, does = TOGETHER[together]
            lines.append(KeyRow(names, helps, "", does))
            if "bottom" in together:
                newest = keymap["bottom"]
                lines.append(KeyRow((newest.shown,), FOLLOWS, "", newest.does))
    return lines


def _names(key: Key) -> tuple[str, ...]:
    """Writes its keys, the arrows and their like left out where there is a letter."""
    written = (key.shown, *(name for name in key.keys[1:] if name not in _REDUNDANT))
    return tuple(dict.fromkeys(written))


_REDUNDANT = frozenset({"down", "up", "home", "end", "shift+tab"})
