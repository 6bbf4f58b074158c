"""The state of the dock: which request it shows, and what was last said to the operator."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from watchgate.core.model.agent_state import AgentState, WithoutCore
from watchgate.core.model.views import PendingView


class SavedDock(msgspec.Struct, frozen=True):
    """The request and the filter before the operator, to be shown again later."""

    docked: str | None
    filter: str


class DockState:
    """The state of the dock: which request is docked, and the last thing said to the operator.

    `locked` says that this terminal may let nothing run until it is unlocked, but low and medium
    requests once where `modest`. `offered` is a command that is copied while the note about it
    stands. `agents` is what the core last said of those on its machine, and `without_core` what
    their hooks do while it is lost.
    The docked request stays until it is settled or the operator goes to another; a new one never
    takes its place.
    """

    def __init__(self) -> None:
        self.docked: str | None = None
        self.note = ""
        self.frozen_us: int | None = None
        self.filter = ""
        self.locked = self.modest = False
        self.offered = ""
        self.agents: tuple[AgentState, ...] = ()
        self.without_core: WithoutCore = "unknown"
        self._note_until_s = 0.0
        self._note_is_of_docked = False
        self._bare: str | None = None

    @property
    def bare(self) -> bool:
        """Returns whether the docked request's secrets are uncovered."""
        return self._bare is not None and self._bare == self.docked

    def save(self) -> SavedDock:
        """Returns the docked request and the filter of now, to be restored later."""
        return SavedDock(self.docked, self.filter)

    def restore(self, saved: SavedDock) -> None:
        """Docks a saved request and filter again; uncovered secrets are covered."""
        self.clear()
        self.docked, self.filter = saved.docked, saved.filter

    def clear(self) -> None:
        """Empties the dock: another picture is shown."""
        self.docked = self.frozen_us = self._bare = None
        self.filter = self.note = ""

    def reveal(self) -> None:
        """Uncovers the docked request's secrets, or covers them again; those of others stay so."""
        self._bare = None if self.bare else self.docked

    def look(self, pending: Sequence[PendingView]) -> tuple[PendingView | None, int]:
        """The docked request and its place, after some were settled and others came."""
        for index, view in enumerate(pending):
            if view.id == self.docked:
                return view, index
        self.dock(pending[0].id if pending else None)
        return (pending[0], 0) if pending else (None, 0)

    def turn(self, pending: Sequence[PendingView], by: int) -> None:
        """Docks the next or the previous request."""
        if pending:
            _, index = self.look(pending)
            self.dock(pending[(index + by) % len(pending)].id)

    def dock(self, request: str | None) -> None:
        """Docks this request, whatever its place; none where nothing is open."""
        if request != self.docked:
            self._bare, self.docked = None, request
            if self._note_is_of_docked:
                self.note = ""

    def say(
        self,
        text: str,
        now_s: float,
        seconds: float = 4.0,
        *,
        docked: bool = False,
        offered: str = "",
    ) -> None:
        """Shows the operator a sentence for a moment, in which `offered` can be copied.

        Args:
            text: The sentence.
            now_s: The monotonic time.
            seconds: Seconds that it stays.
            docked: True for a sentence about the docked request, which leaves with it.
            offered: The text that a copy takes meanwhile.
        """
        self.note, self._note_until_s, self.offered = text, now_s + seconds, offered
        self._note_is_of_docked = docked

    def forget(self, now_s: float) -> bool:
        """Takes the note away when its time is over; returns whether that changed anything."""
        if self.note and now_s >= self._note_until_s:
            self.note = self.offered = ""
            return True
        return False
