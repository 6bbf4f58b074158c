"""A ring of the newest items, addressed by a number that never changes.

- A dict that forgets: whatever is kept by a name from outside must not grow without end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(dict[K, V]):
    """Keeps the `max_items` keys that came last; one more, and the oldest is forgotten.

    A key that is set again stays where it is, unless with `renew`. Only these two ways of setting
    forget anything: a dict's other ones (`update`, `setdefault`) are not for a `Recent`.
    """

    __slots__ = ("max_items",)

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
        """Sets a key as the newest one."""
        self.pop(key, None)
        self[key] = value


T = TypeVar("T")


class Ring(Generic[T]):
    """The last `capacity` items; item n keeps the number n until it falls out.

    `revision` grows with every change, so that a reader can tell cheaply whether to look again.
    """

    __slots__ = ("_head", "_items", "capacity", "first", "revision")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.first = 0
        self.revision = 0
        self._items: list[T] = []
        self._head = 0

    @property
    def end(self) -> int:
        """The number that the next item will get."""
        return self.first + len(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, number: int) -> bool:
        return self.first <= number < self.end

    def __getitem__(self, number: int) -> T:
        return self._items[self._slot(number)]

    def __setitem__(self, number: int, item: T) -> None:
        self._items[self._slot(number)] = item
        self.revision += 1

    def __iter__(self) -> Iterator[T]:
        yield from self._items[self._head :]
        yield from self._items[: self._head]

    def append(self, item: T) -> int:
        """Adds an item, dropping the oldest when full; returns its number."""
        number = self.end
        if len(self._items) < self.capacity:
            self._items.append(item)
        else:
            self._items[self._head] = item
            self._head = (self._head + 1) % self.capacity
            self.first += 1
        self.revision += 1
        return number

    def tail(self, count: int) -> list[T]:
        """The newest `count` items, oldest first."""
        start = max(self.first, self.end - count)
        return [self[number] for number in range(start, self.end)]

    def _slot(self, number: int) -> int:
        offset = number - self.first
        if not 0 <= offset < len(self._items):
            raise IndexError(number)
        return (self._head + offset) % self.capacity if self._head else offset
