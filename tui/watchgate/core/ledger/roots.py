"""Threads that were forked from others: the root that each goes back to."""

from __future__ import annotations

from typing import NamedTuple


class Descent(NamedTuple):
    """The origin of a thread: its root and its parent, itself and empty if it is no fork.

    `adrift` says that the root has no file of its own, `orphan` that the parent has none.
    """

    thread: str
    root: str
    adrift: bool
    parent: str
    orphan: bool


NO_DESCENT = Descent("", "", False, "", False)


class Roots:
    """The root of each file's thread, correct whatever order the files are read in.

    Copies of a call in threads of one root are the same call. Where a parent has no file, it is the
    root all the same, so that its children count once what they all copied.
    """

    def __init__(self) -> None:
        self._parents: dict[str, dict[str, str]] = {}
        self._thread_of: dict[str, str] = {}
        self._children: dict[str, set[str]] = {}

    def put(self, file: str, thread: str, parent: str) -> set[str]:
        """Takes in a file's thread and parent; returns the files whose root may have changed."""
        if self._thread_of.get(file) == thread and self._parents[thread][file] == parent:
            return set()
        touched = self.drop(file)
        self._thread_of[file] = thread
        self._parents.setdefault(thread, {})[file] = parent
        if parent:
            self._children.setdefault(parent, set()).add(thread)
        return touched | self._below(thread)

    def drop(self, file: str) -> set[str]:
        """Drops a file; returns the others whose root may have changed by it."""
        thread = self._thread_of.pop(file, None)
        if thread is None:
            return set()
        touched = self._below(thread) - {file}
        parents = self._parents[thread]
        parent = parents.pop(file)
        if parent and parent not in parents.values():
            self._children[parent].discard(thread)
        if not parents:
            del self._parents[thread]
        return touched

    def descent(self, file: str) -> Descent:
        """Returns the origin of the file's thread.

        Threads that are each other's parents have the first of them as their root.
        """
        thread = self._thread_of[file]
        root, adrift = self._root(thread)
        parent = self._parent(thread)
        return Descent(thread, root, adrift, parent, bool(parent) and parent not in self._parents)

    def _root(self, thread: str) -> tuple[str, bool]:
        way = {thread: None}
        while parent := self._parent(thread):
            if parent in way:
                passed = list(way)
                return min(passed[passed.index(parent) :]), False
            way[parent] = None
            thread = parent
        return thread, thread not in self._parents

    def _parent(self, thread: str) -> str:
        return max(self._parents.get(thread, {}).values(), default="")

    def _below(self, thread: str) -> set[str]:
        """Returns the files of the thread and of all that go back to it."""
        threads = {thread}
        ahead = [thread]
        while ahead:
            fresh = self._children.get(ahead.pop(), set()) - threads
            threads |= fresh
            ahead += fresh
        return {file for one in threads for file in self._parents.get(one, ())}
