"""One moment of the console: the values that every part of a picture is drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from watchgate.core.model.agent_state import AgentState, WithoutCore
from watchgate.core.model.views import PendingView
from watchgate.core.state.state import State
from watchgate.ui.approval.arming import Card, Intent
from watchgate.ui.base.terminal_shape import TerminalShape
from watchgate.ui.keys.keymap import Context, Hint
from watchgate.ui.source.core_bridge import Link
from watchgate.ui.source.replay_source import ReplayView
from watchgate.ui.view_model.overview import Waiting


class ViewModel(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of the console, by the core's clock (`now_us`, UTC µs).

    `pending` are the open requests by deadline, `docked` the one that decision keys are about and
    `index` its place among them; `marked` are the ids of those marked. `note` is a sentence for the
    operator, `frozen_us` when the view was frozen, `skipped` how many records a slow link left out,
    `blocked` why decision keys do not act. With `bare` the docked request's secrets are told;
    `reveal` is the key for that. `replay` tells where a replay stands, while one is shown;
    `waiting` are the open requests of the console's own core meanwhile. `agents` says how those of
    the core's machine stand, while no call is shown.
    """

    state: State
    link: Link
    now_us: int
    shape: TerminalShape
    context: Context
    hints: Sequence[Hint] = ()
    pending: Sequence[PendingView] = ()
    docked: PendingView | None = None
    marked: frozenset[str] = frozenset()
    bare: bool = False
    reveal: str = ""
    index: int = 0
    note: str = ""
    frozen_us: int | None = None
    filter: str = ""
    skipped: int = 0
    demo: bool = False
    replay: ReplayView | None = None
    waiting: Waiting = Waiting()
    agents: Sequence[AgentState] = ()
    without_core: WithoutCore = "unknown"
    home: str = ""
    blocked: Mapping[Intent, str] = {}

    @property
    def head_card(self) -> Card | None:
        """The docked request for the decision keys where only its head is shown."""
        view = self.docked
        if view is None:
            return None
        return Card(id=view.id, risk=view.data.risk, blocked=self.blocked)


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
        """Returns whether the docked request's secrets are told."""
        return self._bare is not None and self._bare == self.docked

    def save(self) -> SavedDock:
        """Returns what is before the operator now."""
        return SavedDock(self.docked, self.filter)

    def restore(self, saved: SavedDock) -> None:
        """Put something before the operator again; secrets that were told are covered."""
        self.clear()
        self.docked, self.filter = saved.docked, saved.filter

    def clear(self) -> None:
        """Nothing is before the operator: another picture is."""
        self.docked = self.frozen_us = self._bare = None
        self.filter = self.note = ""

    def reveal(self) -> None:
        """Tell the docked request's secrets, or cover them again; those of others stay so."""
        self._bare = None if self.bare else self.docked

    def look(self, pending: Sequence[PendingView]) -> tuple[PendingView | None, int]:
        """The docked request and its place, after some were settled and others came."""
        for index, view in enumerate(pending):
            if view.id == self.docked:
                return view, index
        self.dock(pending[0].id if pending else None)
        return (pending[0], 0) if pending else (None, 0)

    def turn(self, pending: Sequence[PendingView], by: int) -> None:
        """Dock the next or the previous request."""
        if pending:
            _, index = self.look(pending)
            self.dock(pending[(index + by) % len(pending)].id)

    def dock(self, request: str | None) -> None:
        """Dock this request, whatever its place; none where nothing is open."""
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
        """Tell the operator something for a moment, in which `offered` can be copied.

        A word about the `docked` request leaves with it.
        """
        self.note, self._note_until_s, self.offered = text, now_s + seconds, offered
        self._note_is_of_docked = docked

    def forget(self, now_s: float) -> bool:
        """Take the note away when its time is over; whether that changed anything."""
        if self.note and now_s >= self._note_until_s:
            self.note = self.offered = ""
            return True
        return False
