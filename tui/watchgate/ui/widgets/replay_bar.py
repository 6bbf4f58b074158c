"""The banner above a replay or a demo: the replay's position, and who waits meanwhile.

A demo has none until a request waits behind it.
"""

from __future__ import annotations

from watchgate.core.base.amounts import count, plural
from watchgate.ui.base.formats import ago, clock, person, width
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.replay.replay_source import ReplayView
from watchgate.ui.view_model.overview import Waiting
from watchgate.ui.widgets.base.pane import Pane, StyledLine

WIDE = 100
NOBODY = Waiting()
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
        self._waiting = Waiting()

    def show(self, view: ReplayView | None, waiting: Waiting = NOBODY) -> None:
        """Shows the position of the replay (None: a demo), and which requests are open."""
        if (view, waiting) != (self._view, self._waiting):
            self._view, self._waiting = view, waiting
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        view = self._view
        if view is None:
            line = self.line().add(" ").add(" DEMO ", "bg", on="accent", bold=True)
            self._add_waiting(line, "the demo", cells)
            return [_add_fitting(line, "  these calls are invented", cells)]
        line = self.line().add(" ").add(" REPLAY ", "bg", on="accent", bold=True)
        line.add(f"  {_going(view)}".ljust(11), bold=True)
        if self._waiting.count:
            self._add_waiting(line, "the replay", cells)
        _add_fitting(line, f"{clock(view.now_us)}   ", cells)
        if not self._waiting.count:
            line.right(f"{_progress(view, wide=cells >= WIDE)} ", "fg" if view.skipped_s else "dim")
        position = f"{person(view.film_s)} of {person(view.end_s)}  "
        if line.left_cells + width(position) + line.right_cells < cells:
            line.add(position, "dim")
        room = cells - line.left_cells - line.right_cells - 3
        if room >= SHORTEST_BAR:
            bar = min(room, LONGEST_BAR)
            done = round(bar * _share(view))
            line.add(DONE * done).add(LEFT * (bar - done), "faint")
        return [line]

    def _add_waiting(self, line: StyledLine, shown: str, cells: int) -> StyledLine:
        """Adds what waits at the core now and the way there, which precede what is `shown`."""
        room = cells - line.left_cells - 3
        forms = _waiting_words(self._waiting, f"{key_for('detach')} leaves", shown)
        words = next((each for each in forms if width(each) <= room), forms[-1])
        return line.right(f" {words} ", "bg", on="accent", bold=True).right(" ")


def _add_fitting(line: StyledLine, text: str, cells: int) -> StyledLine:
    """Adds a text where it fits whole next to the right part."""
    if line.left_cells + width(text) + line.right_cells <= cells:
        line.add(text)
    return line


def _waiting_words(waiting: Waiting, leaves: str, shown: str) -> tuple[str, ...]:
    """Returns the words for who waits, in shorter and shorter forms, none of them cut."""
    number, risk = count(waiting.count), waiting.worst.upper()
    several = bool(risk) and waiting.count > 1
    silence = f", next {waiting.consequence}" if several else f" {waiting.consequence}"
    highest = f"up to {risk}" if several else risk
    whole = f"the highest {risk}" if several else risk
    return (
        f"{plural(waiting.count, 'request')} now: {f'{whole}{silence}'.strip()}, {leaves} {shown}",
        f"{number} now: {f'{highest}{silence}'.strip()}, {leaves} {shown}",
        f"{number} now: {f'{highest}{silence}'.strip()}, {leaves}",
        f"{' '.join(filter(None, (number, 'now', highest)))}, {leaves}",
        f"{number} now, {leaves}",
    )


def _going(view: ReplayView) -> str:
    if view.over:
        return "the end"
    speed = f"{view.speed:g}x"
    if not view.paused:
        return speed
    return "paused" if view.speed == 1 else f"paused, {speed}"


def _progress(view: ReplayView, *, wide: bool) -> str:
    if view.skipped_s:
        return f"idle {ago(view.skipped_s)} skipped"
    if wide:
        return f"record {count(view.played)} of {count(view.count)}"
    return f"{count(view.played)}/{count(view.count)}"


def _share(view: ReplayView) -> float:
    """Returns the share that was played: by time, by records where no time passed."""
    if view.end_s <= 0:
        return view.played / view.count
    return 1.0 if view.over else view.film_s / view.end_s
