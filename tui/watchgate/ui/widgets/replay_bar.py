"""The banner of a replay: that it is one, where it stands, how fast it goes, what it left out."""

from __future__ import annotations

from watchgate.core.amounts import count, plural
from watchgate.ui.formats import ago, clock, person, width
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.replay.view import ReplayView
from watchgate.ui.widgets.pane import Line, Pane

WIDE = 100
DONE, LEFT = "━", "─"
LONGEST_BAR = 48
SHORTEST_BAR = 8


class ReplayBar(Pane):
    """One line above everything else."""

    DEFAULT_CSS = "ReplayBar { height: 1; }"

    ground = "sel"

    def __init__(self) -> None:
        super().__init__()
        self._view: ReplayView | None = None

    def show(self, view: ReplayView) -> None:
        """Show where the replay stands."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        view = self._view
        if view is None:
            return []
        line = self.line().add(" ").add(" REPLAY ", "bg", on="accent", bold=True)
        line.add(f"  {_going(view)}".ljust(11), bold=True)
        line.add(f"{clock(view.now_us)}   ")
        if view.waiting:
            self._waiting(line, view.waiting, cells)
        else:
            line.right(f"{_told(view, wide=cells >= WIDE)} ", "fg" if view.skipped_s else "dim")
        position = f"{person(view.film_s)} of {person(view.end_s)}  "
        if line.left_cells + width(position) + line.right_cells < cells:
            line.add(position, "dim")
        room = cells - line.left_cells - line.right_cells - 3
        if room >= SHORTEST_BAR:
            bar = min(room, LONGEST_BAR)
            done = round(bar * _share(view))
            line.add(DONE * done).add(LEFT * (bar - done), "faint")
        return [line]

    def _waiting(self, line: Line, waiting: int, cells: int) -> None:
        """What waits at the core now is more urgent than what was."""
        words = f" {plural(waiting, 'request')} now: {key_for('detach')} "
        if cells >= WIDE:
            words += "leaves the replay "
        line.right(words, "bg", on="accent", bold=True).right(" ")


def _going(view: ReplayView) -> str:
    if view.over:
        return "the end"
    return "paused" if view.paused else f"{view.speed:g}x"


def _told(view: ReplayView, *, wide: bool) -> str:
    if view.skipped_s:
        return f"idle {ago(view.skipped_s)} skipped"
    if wide:
        return f"record {count(view.played)} of {count(view.count)}"
    return f"{count(view.played)}/{count(view.count)}"


def _share(view: ReplayView) -> float:
    """How much of it was played: by time, by records where no time passed."""
    if view.end_s <= 0:
        return view.played / view.count
    return 1.0 if view.over else view.film_s / view.end_s
