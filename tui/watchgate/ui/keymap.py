"""The one registry of keys: footer, help page, command list and configuration are made from it.

A key is named as a person types it (`a`, `?`, `tab`, `ctrl+p`). What a key does and whether it
acts depends on a `Context`, a plain picture of the moment; nothing here knows the screen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from textual.events import Key as KeyEvent

from watchgate.core.records import RequestData
from watchgate.ui.consequences import ALLOWING, allow_label, handback_label

Group = Literal["decide", "look", "move", "find", "leave", "other", "later"]
Where = Literal["monitor", "help", "commands", "log", "detail", "traces", "trace"]
WIDE = 100
"""From this many columns the footer says what a press will really do."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """The moment, as far as keys care: the screen, the docked request and what is wrong.

    `unseen` says that the docked request was not shown in full yet, `is_marked` that it is marked,
    `marked` how many would be allowed together with it, `alike` how many other open ones are like
    it; `listed` that the list of sessions has the keys.
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
    empty: bool = False
    demo: bool = False
    tiny: bool = False
    frozen: bool = False
    filtered: bool = False
    unseen: bool = False
    is_marked: bool = False
    marked: int = 0
    alike: int = 0
    listed: bool = False
    can_start: bool = False
    can_log: bool = False
    can_demo: bool = False

    @property
    def wide(self) -> bool:
        """Whether there is room for long labels."""
        return self.cells >= WIDE


Label = Callable[[Context], str]
Reason = Callable[[Context], str | None]


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """One key: its id, the keys it is on, how help and footer call it, and when it acts.

    `shown` is how the keys are written, `label` the footer's words (a function where they tell what
    this press will do), `why_not` the reason why it does nothing now. Hints with the highest `drop`
    leave a narrow footer first; 0 never leaves. A key of the group `later` has its place kept and
    its reason ready, but is not offered anywhere. `also` is another name to find it by.
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


class Keymap:
    """The keys as the configuration makes them."""

    def __init__(self, keys: Iterable[Key], remap: Mapping[str, str] | None = None) -> None:
        """Put the keys of `remap` (action id -> key) in place; raises `ValueError`."""
        self._by_id = {key.id: key for key in keys}
        for action, name in (remap or {}).items():
            known = self._by_id.get(action)
            if known is None:
                raise ValueError(
                    f"ui.keys: no action {action!r}; there are {', '.join(self._by_id)}"
                )
            self._by_id[action] = msgspec.structs.replace(known, keys=(name,), shown=name)
        self._by_name: dict[str, Key] = {}
        for key in self._by_id.values():
            for name in key.keys:
                taken = self._by_name.get(name)
                if taken is not None:
                    raise ValueError(f"ui.keys: {name!r} is both {taken.id} and {key.id}")
                self._by_name[name] = key

    def __getitem__(self, action: str) -> Key:
        return self._by_id[action]

    def named(self, name: str) -> Key | None:
        """What a key does, if anything."""
        return self._by_name.get(name)

    def group(self, *groups: Group) -> list[Key]:
        """The keys of some groups in the order of the registry."""
        return [key for key in self._by_id.values() if key.group in groups]

    def hints(self, actions: Iterable[str], context: Context, cells: int) -> list[Hint]:
        """The footer's hints that fit in so many cells; each whole or not at all."""
        keys = [self._by_id[action] for action in actions]
        hints = {
            key.id: Hint(key.shown, key.label(context), key.why_not(context) is None)
            for key in keys
        }
        room = cells - 2
        for key in [*sorted(keys, key=lambda k: k.drop, reverse=True)]:
            taken = sum(hint.cells for hint in hints.values()) + 2 * (len(hints) - 1)
            if taken <= room or not key.drop:
                break
            del hints[key.id]
        return list(hints.values())


def fitted(hints: Sequence[Hint], cells: int) -> Sequence[Hint]:
    """The hints of a prompt that fit in so many cells, whole; the last one, its way out, stays."""
    kept = list(hints)
    while len(kept) > 1 and sum(each.cells + 2 for each in kept) > cells:
        del kept[-2]
    return kept


def name_of(event: KeyEvent) -> str:
    """A key event by the name that a person would type."""
    character = event.character
    if character is not None and character.isprintable() and character != " ":
        return character
    return event.key


def read_at(event: KeyEvent, now_s: float) -> float:
    """When a key was read, on the clock that says `now_s`."""
    return now_s - max(0.0, time.monotonic() - event.time)


def allow_words(context: Context) -> str:
    """What an allow will do, as far as the footer's width lets it say."""
    hidden = context.where not in ("monitor", "detail") or (
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
    """What a denial is here: a question is declined."""
    asked = context.docked is not None and context.docked.asks == "question"
    return "decline" if asked else "deny"


def reply_words(context: Context) -> str:
    """What a denial with words for the model is here."""
    return f"{deny_words(context)}, reply" if context.wide else "reply"


def handback_words(context: Context) -> str:
    """What handing back will do; an armed handback says so at every width."""
    if context.docked is None:
        return "hand back"
    if not context.wide:
        return "hand back, runs" if context.docked.runs_unasked else "hand back"
    return handback_label(context.docked, context.agent)
