"""The keys as this terminal writes them, wherever a sentence or a pane names one.

A sentence beside a decision must not name a key that does something else: every name comes from
the keymap in use, which is that of the registry where none was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache

from watchgate.ui.keys.keymap import Keymap

_asked: ContextVar[Keymap | None] = ContextVar("shown_keys", default=None)


def ask_keys(remap: Mapping[str, str]) -> Keymap:
    """The registry with the keys of a configuration, which is what is named from here on.

    Raises `ValueError` as `Keymap` does.
    """
    from watchgate.ui.keys.registry import KEYS

    keymap = Keymap(KEYS, remap)
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
    return _asked.get() or _registered()


@cache
def _registered() -> Keymap:
    from watchgate.ui.keys.registry import KEYS  # the reasons in the registry name keys themselves

    return Keymap(KEYS)
