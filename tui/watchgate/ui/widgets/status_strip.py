"""The strip: the whole state of the gate in one line, its most urgent word at the right.

- The banner above a replay or a demo: the replay's position, and who waits meanwhile. A demo has
  none until a request waits behind it.
"""

from __future__ import annotations

from typing import NamedTuple

from watchgate.core.base.amounts import count, plural
from watchgate.ui.base.formats import ago, clock, person, width
from watchgate.ui.base.theme import RISK_GLYPH, RISK_TOKEN
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.source.replay_source import ReplayView
from watchgate.ui.view_model.overview import StripView, Waiting
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.base.request_words import ASKED

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


class _Group(NamedTuple):
    """A part of the line; the lowest `rank`, which no other has, gets room first."""

    line: StyledLine
    rank: int


class StatusStrip(Pane):
    """The strip's pane; groups leave it whole, the least important first, when it is narrow."""

    DEFAULT_CSS = "StatusStrip { height: 1; }"

    ground = "s1"

    def __init__(self) -> None:
        super().__init__()
        self._view = StripView()

    def show(self, view: StripView) -> None:
        """Shows this state of the gate."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        if self._view.alert == "off":
            return [self._off(cells)]
        line = self.line().add(" ").add("watchgate", "accent", bold=True)
        self._end(line, cells)
        for group in _fitting(self._groups(cells), cells - line.left_cells - line.right_cells - 2):
            line.join(group)
        return [line]

    def _off(self, cells: int) -> StyledLine:
        view = self._view
        line = self.line("alarm").add(" GATE OFF ", "alarm_ink", bold=True)
        words, _, rest = view.until.rpartition(" ")
        line.right(f"{words} ", "alarm_ink").right(f"{rest} ", "alarm_ink", bold=True)
        means = "nothing is held, nothing is denied"
        if view.pending:
            means = f"{plural(view.pending, 'request')} from before still held"
        if line.left_cells + line.right_cells + len(means) + 4 <= cells:
            line.add(f"  {means}", "alarm_ink")
        return line

    def _groups(self, cells: int) -> list[_Group]:
        view = self._view
        groups = []
        if view.demo:
            demo = self.line().add("  ").add(" DEMO ", "bg", on="accent", bold=True)
            groups.append(_Group(demo, -3))
        if view.tampered:
            word = " ALARM " if view.attempted else " TAMPERED "
            changed = self.line().add("  ").add(word, "alarm_ink", on="alarm", bold=True)
            groups.append(_Group(changed, -2))
        if view.locked:
            unlock = f"   {key_for('unlock')} unlocks" if cells >= 120 else ""
            locked = self.line().add("  ").add(" LOCKED ", "bg", on="medium", bold=True)
            groups.append(_Group(locked.add(unlock, "dim"), 0))
        if cells < 60:
            return groups
        profile = view.profile if view.profile != "watch" else "watch, NOT GATING"
        groups.append(_Group(self.line().add("  ").add(profile, bold=True), 1))
        if view.alert == "lost":
            picture = f"   last picture of {view.picture_of}" if view.picture_of else ""
            return [*groups, _Group(self.line().add(picture, "dim"), 2)]
        if view.hosts and (view.away or cells >= 100):
            hosts = (
                self.line().add("   ").add(view.hosts, "fg" if view.away else "dim", bold=view.away)
            )
            groups.append(_Group(hosts, -1 if view.away else 8))
        if cells >= 80:
            number, noun = plural(view.sessions, "session").split(" ")
            sessions = self.line().add(f"   {number}").add(f" {noun}", "dim")
            if view.none_gated:
                sessions.add(", none gated", bold=True)
            groups.append(_Group(sessions, 4))
        if cells >= 100:
            rate = self.line().add(f"   {view.per_minute}").add(" calls/min", "dim")
            groups.append(_Group(rate, 6 if view.near_budget else 5))
        cost = view.cost_wide if cells >= 100 else view.cost
        cost_part = self.line().add(f"   {cost}", bold=view.over_budget)
        groups.append(_Group(cost_part, 2 if view.over_budget else 5 if view.near_budget else 6))
        return [*groups, *self._ungated()]

    def _ungated(self) -> list[_Group]:
        """Counts the calls that passed no gate, which outranks other counts; "" for none."""
        if not self._view.ungated:
            return []
        words = f"{plural(self._view.ungated, 'call')} ungated"
        return [_Group(self.line().add("   ").add(words, bold=True), 3)]

    def _end(self, line: StyledLine, cells: int) -> None:
        view = self._view
        if view.alert == "lost":
            line.right(" CORE LOST ", "alarm_ink", on="alarm", bold=True)
            line.right(f"  {view.since} ", bold=True)
        elif view.alert == "pending":
            glyph, token = RISK_GLYPH.get(view.worst, ASKED), RISK_TOKEN.get(view.worst, "accent")
            line.right(f" {glyph} {view.pending} PENDING ", "bg", on=token, bold=True)
            if cells >= 80:
                line.right("  next ", "dim")
            elif cells >= 60:
                line.right("  ")
            if cells >= 60:
                line.right(view.consequence, bold=True, reverse=view.urgent)
            line.right(" ")
        else:
            line.right(f"{view.quiet} ", "dim")


def _fitting(groups: list[_Group], room: int) -> list[StyledLine]:
    """Returns the groups that have room, in their order."""
    fit = set()
    for group in sorted(groups, key=lambda each: each.rank):
        if group.line.left_cells <= room:
            room -= group.line.left_cells
            fit.add(group.rank)
    return [group.line for group in groups if group.rank in fit]
