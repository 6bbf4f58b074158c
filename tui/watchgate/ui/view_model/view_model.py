"""The view model: one moment of the console, which every part of a picture is drawn from."""

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
    `blocked` why decision keys do not act. With `bare` the docked request's secrets are uncovered;
    `reveal` is the key for that. `replay` is the position of a replay, while one is shown;
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
