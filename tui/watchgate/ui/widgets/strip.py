"""The strip: the whole state of the gate in one line, its most urgent word at the right."""

from __future__ import annotations

from typing import Literal

import msgspec

from watchgate.ui.formats import plural
from watchgate.ui.theme import RISK_GLYPH, RISK_TOKEN
from watchgate.ui.widgets.pane import Line, Pane


class StripView(msgspec.Struct, frozen=True, kw_only=True):
    """What the strip tells: counts as words, and the one thing that is most urgent.

    `alert` chooses the right end: `pending` (with `worst`, `pending` and `consequence`), `lost`
    (with `since`), `off` (with `until`), or `quiet` (with `quiet`).
    """

    profile: str = "guard"
    demo: bool = False
    sessions: int = 0
    per_minute: str = "0"
    cost: str = "$0.00"
    cost_wide: str = "$0.00"
    gated: str = ""
    alert: Literal["pending", "lost", "off", "quiet"] = "quiet"
    worst: str = "low"
    pending: int = 0
    consequence: str = ""
    urgent: bool = False
    since: str = ""
    picture_of: str = ""
    until: str = ""
    quiet: str = "nothing pending"


class StatusStrip(Pane):
    """One line; groups leave it whole, the least telling first, when it is narrow."""

    DEFAULT_CSS = "StatusStrip { height: 1; }"

    ground = "s1"

    def __init__(self) -> None:
        super().__init__()
        self._view = StripView()

    def show(self, view: StripView) -> None:
        """Show this state of the gate."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        if self._view.alert == "off":
            return [self._off(cells)]
        line = self.line().add(" ").add("watchgate", "accent", bold=True)
        self._end(line, cells)
        for group in self._groups(cells):
            if line.left_cells + group.left_cells + line.right_cells + 2 <= cells:
                line.join(group)
        return [line]

    def _off(self, cells: int) -> Line:
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

    def _groups(self, cells: int) -> list[Line]:
        view = self._view
        groups = []
        if view.demo:
            groups.append(self.line().add("  ").add(" DEMO ", "bg", on="accent", bold=True))
        if cells < 60:
            return groups
        profile = view.profile if view.profile != "watch" else "watch, NOT GATING"
        groups.append(self.line().add("  ").add(profile, bold=True))
        if view.alert == "lost":
            picture = f"   last picture of {view.picture_of}" if view.picture_of else ""
            return [*groups, self.line().add(picture, "dim")]
        number, noun = plural(view.sessions, "session").split(" ")
        sessions = self.line().add(f"   {number}").add(f" {noun}", "dim")
        if cells < 80:
            return [*groups, self.line().add(f"   {view.cost}")]
        if cells < 100:
            return [*groups, sessions, self.line().add(f"   {view.cost}")]
        groups += [sessions, self.line().add(f"   {view.per_minute}").add(" calls/min", "dim")]
        groups.append(self.line().add(f"   {view.cost_wide}"))
        if view.gated:
            groups.append(self.line().add("   gated ", "dim").add(view.gated))
        return groups

    def _end(self, line: Line, cells: int) -> None:
        view = self._view
        if view.alert == "lost":
            line.right(" CORE LOST ", "alarm_ink", on="alarm", bold=True)
            line.right(f"  {view.since} ", bold=True)
        elif view.alert == "pending":
            chip = f" {RISK_GLYPH[view.worst]} {view.pending} PENDING "
            line.right(chip, "bg", on=RISK_TOKEN[view.worst], bold=True)
            if cells >= 80:
                line.right("  next ", "dim")
            elif cells >= 60:
                line.right("  ")
            if cells >= 60:
                line.right(view.consequence, bold=True, reverse=view.urgent)
            line.right(" ")
        else:
            line.right(f"{view.quiet} ", "dim")
