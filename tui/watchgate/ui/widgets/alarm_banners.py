"""The banners with the alarm's bar: core lost, gate switched off, a file of the gate changed."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

import msgspec

from watchgate.core.base.amounts import count, plural
from watchgate.core.base.text import safe_text
from watchgate.core.model.agent_state import WithoutCore
from watchgate.core.model.records import ATTEMPT, TamperedData
from watchgate.ui.base.formats import cut, short_id
from watchgate.ui.base.tamper_words import mend
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import Pane, StyledLine


class OffView(msgspec.Struct, frozen=True, kw_only=True):
    """The switched off gate: by whom, until when in words, and what has run since, by risk."""

    by: str = ""
    until: str = ""
    high: int = 0
    critical: int = 0


class OffBanner(Pane):
    """Three lines with the alarm's bar."""

    DEFAULT_CSS = "OffBanner { height: 3; }"

    ground = "s1"

    def __init__(self) -> None:
        super().__init__()
        self._view = OffView()

    def show(self, view: OffView) -> None:
        """Shows who switched the gate off and what ran since."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        view = self._view
        by = f" by {safe_text(view.by)}" if view.by else ""
        return [
            self._line().add(f"Switched off{by}, {view.until}", bold=True),
            self._line().add("Calls run by each agent's own rules. They are still recorded here."),
            self._line()
            .add(_ran(view.high, view.critical))
            .add(key_for("gate_on"), "accent", bold=True)
            .add(" switches the gate on now", bold=True),
        ]

    def _line(self) -> StyledLine:
        return self.line().add(" ", on="alarm").add(" ")


def _ran(high: int, critical: int) -> str:
    parts = [f"{high} HIGH"] * bool(high) + [f"{critical} CRITICAL"] * bool(critical)
    return f"{' and '.join(parts)} ran since then.   " if parts else ""


MARGIN_CELLS = 3
WHAT_LINES = 2


class TamperBanner(Pane):
    """Three lines with the alarm's bar: what changed and what that means, then what mends it."""

    DEFAULT_CSS = "TamperBanner { height: 3; }"

    ground = "s1"

    def __init__(self) -> None:
        super().__init__()
        self._changes: tuple[TamperedData, ...] = ()

    def show(self, changes: tuple[TamperedData, ...]) -> None:
        """Shows these changes, the newest of them in full."""
        if changes != self._changes:
            self._changes = changes
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        if not self._changes:
            return []
        newest, room = self._changes[-1], cells - MARGIN_CELLS
        what = safe_text(newest.what)
        first, *rest = textwrap.wrap(what[:1].upper() + what[1:], room) or [""]
        description = [first, " ".join(rest)] if rest else [first]
        lines = [self._line().add("".join(cut(text, room)), bold=True) for text in description]
        last = self._line().add("mend  ", "dim")
        last.add(mend(newest, cells - last.left_cells - 1), "accent", bold=True)
        if len(self._changes) > 1:
            others = len(self._changes) - 1
            more = f"{plural(others, 'other file')} changed as well"
            if any(each.part == ATTEMPT for each in self._changes):
                more = plural(others, "more alarm")
            if last.left_cells + len(more) + MARGIN_CELLS <= cells:
                last.add(f"   {more}", "dim")
        blank = [self._line()] * (WHAT_LINES - len(lines))
        return [*lines, last, *blank]

    def _line(self) -> StyledLine:
        return self.line().add(" ", on="alarm").add(" ")


_UNRECORDED: Final = "they are not recorded while there is no core"
_AGENTS: Final[dict[WithoutCore, tuple[str, str]]] = {
    "unknown": (
        'acting calls are denied where hooks gate, with the cause "no core"',
        "all others go on by each agent's own rules",
    ),
    "denied": (
        'acting calls are denied, with the cause "no core"',
        "reading calls go on by each agent's own rules",
    ),
    "watched": ("hooks only watch: calls run unasked, by each agent's own rules", _UNRECORDED),
    "unasked": ("no hooks are installed: nothing is asked", "watchgate install AGENT puts them in"),
}

NAMED = 3
"""Requests that are named; of more only the number is shown."""


class LostView(msgspec.Struct, frozen=True, kw_only=True):
    """The last known state of a core that is lost.

    `pending` are the open requests with whether their hook clients deny them by themselves, `seq`
    the last record that came (0: there never was a picture), `why` the link's reason.
    `off` says that the gate was switched off, which holds without a core too, and `calls` what the
    hooks on this machine do by themselves.
    """

    pending: tuple[tuple[str, bool], ...] = ()
    seq: int = 0
    why: str = ""
    off: bool = False
    calls: WithoutCore = "unknown"
    can_start: bool = False
    can_log: bool = False


class LostBanner(Pane):
    """An area with the alarm's bar: what the loss means for agents and journal, then the keys."""

    DEFAULT_CSS = "LostBanner { height: 10; }"

    ground = "s1"

    def __init__(self) -> None:
        super().__init__()
        self._view = LostView()

    def show(self, view: LostView) -> None:
        """Shows this loss."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        airy = rows >= 10
        blank = [self._line()] if airy else []
        title = self._line().add("The core stopped answering. What that means now", bold=True)
        if not self._view.seq:
            title = self._line().add("No core answers. What that means now", bold=True)
        agents = _AGENTS[self._view.calls]
        if self._view.off and self._view.calls != "unasked":
            agents = (
                "the gate is switched off: all calls run by each agent's own rules",
                _UNRECORDED,
            )
        return [
            *blank,
            title,
            *blank,
            self._fact("agents", agents[0]),
            self._fact("", agents[1]),
            self._fact("pending", _fate(self._view.pending)),
            self._fact("journal", f"on disk up to record {count(self._view.seq)}")
            if self._view.seq
            else self._fact("why", safe_text(self._view.why)),
            *blank,
            self._keys(),
            *blank,
        ]

    def _line(self) -> StyledLine:
        return self.line().add(" ", on="alarm").add(" ")

    def _fact(self, name: str, words: str) -> StyledLine:
        return self._line().add(name, "dim").to(12).add(words)

    def _keys(self) -> StyledLine:
        line = self._line()
        if self._view.can_start:
            line.add(key_for("start"), "accent", bold=True).add(" starts a core now      ")
        if self._view.can_log:
            line.add(key_for("log"), "accent", bold=True).add(" shows the last lines of its log")
        return line


def _fate(pending: Sequence[tuple[str, bool]]) -> str:
    if not pending:
        return "nothing was waiting"
    parts = []
    for denied, words in ((True, "denied by"), (False, "handed back by")):
        ids = [short_id(request) for request, closed in pending if closed is denied]
        if ids:
            verb, clients = ("is", "its hook client") if len(ids) == 1 else ("are", "hook clients")
            parts.append(
                f"{_named(ids)} {verb} {words} {clients if len(ids) == 1 else 'their ' + clients}"
            )
    return "; ".join(parts)


def _named(ids: Sequence[str]) -> str:
    if len(ids) > NAMED:
        return f"{len(ids)} requests"
    if len(ids) == 1:
        return ids[0]
    return f"{', '.join(ids[:-1])} and {ids[-1]}"
