"""A dict that forgets: whatever is kept by a name from outside must not grow without end."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(dict[K, V]):
    """Keeps the `most` keys that came last; one more, and the oldest is forgotten.

    A key that is set again stays where it is, unless with `renew`. Only these two ways of setting
    forget anything: a dict's other ones (`update`, `setdefault`) are not for a `Recent`.
    """

    __slots__ = ("most",)

    def __init__(self, max_items: int) -> None:
        super().__init__()
        self.max_items = max_items

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > self.max_items:
            # Another thread may forget one at the same moment; then the next key makes up for it.
            with suppress(KeyError, RuntimeError):
                del self[next(iter(self))]

    def renew(self, key: K, value: V) -> None:
        """Set a key as the newest one."""
        self.pop(key, None)
        self[key] = value
