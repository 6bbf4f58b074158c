"""The frame that every screen has: strip and tabs above, prompt, dock and footer below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Key
from textual.screen import Screen
from textual.widget import Widget

from watchgate.core.model.agent_state import WITHOUT_CORE
from watchgate.core.state.gate_folds import is_off
from watchgate.ui.base.formats import clock
from watchgate.ui.base.tamper_words import tampered_words
from watchgate.ui.base.theme import RISK_RANK
from watchgate.ui.costs.budget_words import chip as budget_chip
from watchgate.ui.fleet.fleet_words import host_chips
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.keymap import Where
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.view_model.overview import journal_words, pause_words, policy_words, strip_view
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.alarm_banners import (
    LostBanner,
    LostView,
    OffBanner,
    OffView,
    TamperBanner,
)
from watchgate.ui.widgets.base.request_words import approval_history
from watchgate.ui.widgets.dock import Dock
from watchgate.ui.widgets.dock_lines import DockView
from watchgate.ui.widgets.key_bars import Chip, Footer, Part, Tabs, TabsView
from watchgate.ui.widgets.status_strip import ReplayBar, StatusStrip

PAGE_LINES = 10
HINT_FROM = 5
"""Answers of one session after which the dock counts those that were an allow."""

LOST_LINES = (10, 8)
"""The lines that the loss of the core takes, with and without its empty rows."""


class Frame(Screen[None], inherit_bindings=False):
    """A screen of the console; subclasses give the body and show a moment in it."""

    where: Where = "monitor"
    tab = ""
    full_dock = False
    shows_request = False
    lists_tiny = False
    """Lists the open requests here on a tiny terminal, instead of the dock's one line."""
    docks = True
    """Shows the request in the dock; false where the body shows all of it."""
    narrowed: str | None = None
    revision = 0
    """Grows when something changed that the frame itself holds."""
    AUTO_FOCUS = None

    def __init__(self) -> None:
        super().__init__()
        self.reel = ReplayBar()
        self.reel.display = False
        self.strip = StatusStrip()
        self.tabs = Tabs()
        self.prompt = Vertical(id="prompt")
        self.dock = Dock()
        self.lost = LostBanner()
        self.off = OffBanner()
        self.tampered = TamperBanner()
        self.lost.display = self.off.display = self.tampered.display = False
        self.footer = Footer()

    def compose(self) -> ComposeResult:
        yield self.reel
        yield self.strip
        yield self.tabs
        with Horizontal(id="body"):
            yield from self.body()
        yield self.prompt
        yield self.tampered
        yield self.dock
        yield self.lost
        yield self.off
        yield self.footer

    def on_screen_resume(self) -> None:
        self.dock.again()

    def body(self) -> Iterable[Widget]:
        """Returns the widgets between tabs and dock."""
        raise NotImplementedError

    def show(self, moment: ViewModel) -> None:
        """Shows this moment in the parts that every screen has."""
        shape = moment.shape
        self.reel.display = moment.replay is not None or moment.waiting.count > 0
        self.reel.show(moment.replay, moment.waiting)
        strip = strip_view(moment.state, moment.link, moment.now_us, demo=moment.demo)
        if moment.replay is not None and not moment.replay.gate_recorded:
            strip = msgspec.structs.replace(strip, profile="")
        self.strip.show(msgspec.structs.replace(strip, locked=moment.context.locked))
        self.tabs.display = shape.tabs
        self.tabs.styles.height = 2 if shape.tall else 1
        self.tabs.show(TabsView(self.tab, self.aside(moment), self.chips(moment)))
        self._show_dock(moment)
        self.footer.show(moment.hints, moment.note)

    def catch(self, event: Key) -> bool:
        """Takes a key that was meant for what is on the screen; false where none reads keys."""
        return False

    def move(self, lines: int) -> None:
        """Moves the cursor or scrolls; a screen without either stays as it is."""

    def page(self, pages: int) -> None:
        """Moves by about what is visible."""
        self.move(pages * PAGE_LINES)

    @property
    def copied(self) -> str | None:
        """Returns the text to copy here; None where that is the monitor's call."""
        return None

    def enter(self) -> bool:
        """Opens what the cursor is on within the page; false where that is the monitor's call."""
        return False

    @property
    def playable(self) -> tuple[str, str] | None:
        """The agent and the session that a replay would be of; None where there is none."""
        return None

    def once_more(self) -> Frame | None:
        """A screen that shows what this one does; None where that is the monitor."""
        return None

    def leave(self) -> bool:
        """Leaves what is open within the page; returns whether there was anything."""
        return False

    @property
    def items(self) -> int:
        """Counts the lines of this screen's list, where it has one besides the calls."""
        return 0

    def do(self, action: str) -> bool:
        """Does an action that only some screens have; false where this one has not."""
        return False

    def jumps(self) -> Sequence[Jump]:
        """The lines that are visible now and can be gone to, in their order."""
        return ()

    def narrow(self, text: str) -> bool:
        """Takes a filter, which is then `narrowed`; false where filters are the monitor's."""
        return False

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns the words at the right end of the tabs."""
        if moment.link.lost:
            left = max(0, moment.link.retry_at_us - moment.now_us) / 1_000_000
            return (
                (f"try {moment.link.tries + 1}, next in ", "dim", False),
                (f"{left:.0f} s", "fg", True),
            )
        return ()

    def chips(self, moment: ViewModel) -> tuple[Chip, ...]:
        """Returns the urgent facts, the most urgent first; each whole, and in short."""
        state, now_us = moment.state, moment.now_us
        hosts = host_chips(state, now_us)
        if moment.frozen_us is not None:
            goes_on = f"{key_for('freeze')} goes on"
            at = clock(moment.frozen_us)
            return ((f"FROZEN at {at}, {goes_on}", f"FROZEN, {goes_on}"), *hosts)
        gate = state.gate
        chips = (
            *hosts,
            (tampered_words(gate, whole=True), tampered_words(gate, whole=False)),
            (journal_words(gate, whole=True), journal_words(gate, whole=False)),
            budget_chip(state, now_us),
            (pause_words(state, now_us, whole=True), pause_words(state, now_us, whole=False)),
            (policy_words(gate, whole=True), policy_words(gate, whole=False)),
        )
        return tuple(chip for chip in chips if chip[0])

    def _tells_of_tampering(self, moment: ViewModel) -> bool:
        """Returns whether there is room to name the changed file; an open request needs it more."""
        free = moment.docked is None and not moment.link.lost and not moment.shape.tiny
        return bool(moment.state.gate.tampered) and self.full_dock and free

    def _show_dock(self, moment: ViewModel) -> None:
        state, shape = moment.state, moment.shape
        lost = moment.link.lost and self.full_dock and not shape.tiny
        off = (
            is_off(state.gate, moment.now_us)
            and not moment.link.lost
            and moment.docked is None
            and self.full_dock
            and not shape.tiny
        )
        self.lost.display, self.off.display = lost, off
        self.tampered.display = self._tells_of_tampering(moment) and not off
        if self.tampered.display:
            self.tampered.show(state.gate.tampered)
        docks = self.docks and not (lost or off or (shape.tiny and self.lists_tiny))
        if docks and not self.dock.display:
            self.dock.again()
        self.dock.display = docks
        if lost:
            self.lost.styles.height = LOST_LINES[0 if shape.rows >= 24 else 1]
            self.lost.show(
                LostView(
                    pending=tuple((v.id, v.data.silence == "deny") for v in moment.pending),
                    seq=state.seq,
                    why=moment.link.why,
                    off=moment.context.off,
                    calls=moment.without_core,
                    can_start=moment.context.can_start,
                    can_log=moment.context.can_log,
                )
            )
        elif off:
            self.off.show(off_view(moment))
        elif self.dock.display:
            self.dock.show(
                DockView(
                    now_us=moment.now_us,
                    pending=None if moment.link.lost else moment.docked,
                    place=moment.index + 1,
                    count=len(moment.pending),
                    last=None if moment.link.lost else state.last,
                    idle="core lost" if moment.link.lost else "nothing pending",
                    one_line=not self.full_dock,
                    blocked=moment.blocked,
                    home=moment.home,
                    quiet=quiet_words(moment),
                    marked=_marked(moment),
                    bare=moment.bare,
                    hint=_hint(moment),
                )
            )


def _marked(moment: ViewModel) -> int:
    """Returns the number of marked requests; 0 unless the docked one is among them."""
    docked = moment.docked
    return len(moment.marked) if docked and docked.id in moment.marked else 0


def _hint(moment: ViewModel) -> str:
    """Says how requests of the docked one's session were answered, once there were several."""
    docked = moment.docked
    session = docked and moment.state.session(docked.agent, docked.session)
    return approval_history(session) if session and session.answered >= HINT_FROM else ""


def off_view(moment: ViewModel) -> OffView:
    """Says who switched the gate off, and how many risky calls ran ungated among those kept."""
    gate = moment.state.gate
    ran = [row.risk for row in moment.state.rows.tail(1000) if row.stage == "ran ungated"]
    until = "until this machine restarts"
    if gate.off_until:
        until = f"until {clock(gate.off_until)}"
    return OffView(
        by=gate.off_by,
        until=until,
        high=sum(1 for risk in ran if RISK_RANK.get(risk, 2) == RISK_RANK["high"]),
        critical=ran.count("critical"),
    )


def quiet_words(moment: ViewModel) -> str:
    """Returns the words for what silence will mean to the next request."""
    if moment.replay is not None:
        return "as it was then"
    if moment.context.off:
        return "gate off: nothing is held"
    if moment.link.lost:
        return WITHOUT_CORE[moment.without_core]
    if moment.state.gate.profile == "watch":
        return "not gating: nothing is held"
    return "silence means denied"
