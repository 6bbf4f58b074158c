"""The keys as this terminal writes them, wherever a sentence or a pane names one.

A sentence beside a decision must not name a key that does something else: every name comes from
the keymap in use. The registry of keys hands over its defaults when it is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import cache

from watchgate.ui.keys.keymap import Key, Keymap

_defaults: list[Key] = []
_asked: ContextVar[Keymap | None] = ContextVar("shown_keys", default=None)


def use_defaults(keys: Sequence[Key]) -> None:
    """Names these keys wherever no configuration has moved one."""
    _defaults.extend(keys)


def ask_keys(remap: Mapping[str, str]) -> Keymap:
    """Returns the keymap of a configuration, whose keys are named from here on.

    Raises `ValueError` as `Keymap` does.
    """
    keymap = Keymap(_defaults, remap)
    _asked.set(keymap)
    return keymap


def key_for(action: str) -> str:
    """Returns how the first key of an action is written: `v`, `PgDn`."""
    return _keymap()[action].shown


def action_of(name: str) -> str:
    """The action that a key has everywhere; empty where it has none."""
    key = _keymap().named(name)
    return key.id if key is not None else ""


def _keymap() -> Keymap:
    return _asked.get() or _default_keymap()


@cache
def _default_keymap() -> Keymap:
    return Keymap(_defaults)
