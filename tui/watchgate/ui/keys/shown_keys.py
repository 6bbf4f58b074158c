"""The keys as this terminal writes them, wherever a sentence or a pane names one.

A sentence next to a decision must not name a key that does something else: every name comes from
the keymap in use, which is that of the table where none was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from functools import cache

from watchgate.ui.keys.key_table import KEY_TABLE
from watchgate.ui.keys.keymap import Key, Keymap

_asked: ContextVar[Keymap | None] = ContextVar("shown_keys", default=None)


def ask_keys(keys: Iterable[Key], remap: Mapping[str, str]) -> Keymap:
    """Makes the keymap of a configuration, whose keys are named from here on.

    Raises `ValueError` as `Keymap` does.
    """
    keymap = Keymap(keys, remap)
    _asked.set(keymap)
    return keymap


def key_for(action: str) -> str:
    """Returns the first key of an action as it is written: `v`, `PgDn`."""
    return _keymap()[action].shown


def action_of(name: str) -> str:
    """The action that a key has everywhere; empty where it has none."""
    key = _keymap().named(name)
    return key.id if key is not None else ""


def _keymap() -> Keymap:
    return _asked.get() or _default_keymap()


@cache
def _default_keymap() -> Keymap:
    return Keymap(KEY_TABLE)
