"""The notices that a change of the picture calls for, and their announcement.

`Notices` is pure: it is shown one picture after the other and remembers what it announced, so that
no request, alarm or outage is announced twice, whatever happens to the link, the screen or the demo
meanwhile. `Announcer` sends them to bell, desktop and title.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Literal

import msgspec

from watchgate.core.base.amounts import plural
from watchgate.core.model.agent_state import WITHOUT_CORE
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import TamperedData
from watchgate.core.model.views import GateView, PendingView
from watchgate.core.state.gate_folds import is_off
from watchgate.core.state.state import State
from watchgate.ui.approval.consequences import seconds_left, silence
from watchgate.ui.base.formats import clock, covered, short_id
from watchgate.ui.base.theme import RISK_RANK
from watchgate.ui.costs.budget_words import standing, words
from watchgate.ui.notifications.terminal_sequences import (
    TITLE,
    Telling,
    plain,
    sequence,
    set_title,
    title,
)
from watchgate.ui.source.core_bridge import Link

LAST_S = 10.0
"""Seconds left of a request when it is announced once more."""

GAP_US = 1_000_000
"""Seconds within which requests are announced together."""

LOOKED_AT = 1000
"""The newest calls among which the cause of an alarm is searched."""

NOTICES_MAX = 10_000
"""Ids that are remembered as announced."""

Kind = Literal["requests", "last", "alarm", "tampered", "lost", "found", "off", "on", "budget"]


class Notice(msgspec.Struct, frozen=True):
    """One notification for an operator who looks elsewhere; `text` is not yet safe to show.

    `rings` says that the bell goes with it.
    """

    kind: Kind
    text: str
    rings: bool = True


class _SentNotices:
    """Ids of notices that were sent; the oldest are forgotten."""

    def __init__(self) -> None:
        self._names: dict[object, None] = {}

    def fresh(self, names: Iterable[object]) -> list[object]:
        """Returns the ids that were not announced yet, and remembers them."""
        fresh = [name for name in names if name not in self._names]
        self._names.update(dict.fromkeys(fresh))
        while len(self._names) > NOTICES_MAX:
            del self._names[next(iter(self._names))]
        return fresh


class Notices:
    """The notices of one core's picture; with `command` they include what would run."""

    def __init__(self, *, command: bool = False) -> None:
        self._command = command
        self._asked = _SentNotices()
        self._last = _SentNotices()
        self._alarmed = _SentNotices()
        self._waiting: dict[str, None] = {}
        self._announced_us: int | None = None
        self._alarms: int | None = None
        self._lost = False
        self._off: dict[str, bool] = {}
        self._tampered: dict[str, frozenset[TamperedData]] = {}
        self._budgets: frozenset[object] | None = None
        self._attached: set[str] = set()
        self._away: set[str] = set()

    def look(self, state: State, link: Link, now_us: int) -> list[Notice]:
        """Returns the notices that this picture calls for, the gravest first."""
        notices: list[Notice] = []
        if link.lost != self._lost:
            self._lost = link.lost
            if self._off:  # A core that was never seen is not lost: the screen says so.
                notices.append(_LOST if link.lost else _CORE_BACK)
        if link.state != "attached":
            return notices
        notices += self._hosts(state)
        for host, gate in _gates(state):
            notices += self._gate(host, gate, now_us)
            notices += self._tampering(host, gate)
        notices += self._alarm(state)
        notices += self._budget(state, now_us)
        notices += self._requests(state, now_us)
        notices += self._running_out(state, now_us)
        return notices

    def _hosts(self, state: State) -> list[Notice]:
        here = {host.name for host in state.hosts.values() if host.here}
        gone = {host.name for host in state.hosts.values() if host.state == "lost"}
        lost, returned = gone & self._attached - self._away, self._away & here
        self._attached |= here
        self._away = (self._away | lost) - here
        words = "acting calls there are denied where hooks gate, until it is back"
        return [
            *(Notice("lost", f"{host} lost: {words}") for host in sorted(lost)),
            *(Notice("found", f"{host} is back", rings=False) for host in sorted(returned)),
        ]

    def _gate(self, host: str, gate: GateView, now_us: int) -> list[Notice]:
        off = is_off(gate, now_us)
        before = self._off.get(host)
        self._off[host] = off
        if before is None or off == before:
            return []
        on = f"on {host} " if host else ""
        if not off:
            return [Notice("on", f"the gate {on}is on again", rings=False)]
        restarts = "it" if host else "this machine"
        until = f"until {clock(gate.off_until)}" if gate.off_until else f"until {restarts} restarts"
        by = f" by {gate.off_by}" if gate.off_by else ""
        return [Notice("off", f"GATE OFF {on}{until}{by}: no call is held")]

    def _tampering(self, host: str, gate: GateView) -> list[Notice]:
        before, now = self._tampered.get(host), frozenset(gate.tampered)
        self._tampered[host] = now
        if before is None:
            return []  # The picture it begins with shows them.
        on = f"on {host}: " if host else ""
        fresh = (each for each in gate.tampered if each not in before)
        return [Notice("tampered", f"{on}{each.what}") for each in fresh]

    def _budget(self, state: State, now_us: int) -> list[Notice]:
        """Budgets that have come near their end, or to it, since the last picture."""
        before = self._budgets
        notices = {
            (each.key, each.data.level, each.data.day): each for each in standing(state, now_us)
        }
        self._budgets = frozenset(notices)
        if before is None:
            return []  # The picture it begins with shows them.
        fresh = [each for key, each in notices.items() if key not in before]
        return [Notice("budget", words(each), each.data.level == "used-up") for each in fresh]

    def _alarm(self, state: State) -> list[Notice]:
        first, before = self._alarms is None, self._alarms
        self._alarms = state.totals.alarms
        if self._alarms == before:
            return []
        rows = {_key(row): row for row in state.rows.tail(LOOKED_AT) if row.alarm}
        fresh = self._alarmed.fresh(rows)
        if first:
            return []  # The picture it begins with shows them.
        alarms = [rows[key] for key in fresh if key in rows]
        if not alarms and before is not None and state.totals.alarms < before:
            return []  # Another day has begun.
        return [_alarm_notice(alarms, state.totals.alarms)]

    def _requests(self, state: State, now_us: int) -> list[Notice]:
        self._waiting.update(dict.fromkeys(str(i) for i in self._asked.fresh(state.pending)))
        self._waiting = {i: None for i in self._waiting if i in state.pending}
        soon = self._announced_us is not None and 0 <= now_us - self._announced_us < GAP_US
        if not self._waiting or soon:
            return []
        self._announced_us = now_us
        views = [state.pending[i] for i in self._waiting]
        self._waiting = {}
        for view in views:
            left_s = seconds_left(view.data, now_us)
            if left_s is not None and left_s <= 2 * LAST_S:
                self._last.fresh([view.id])  # Once is enough for what lasts as short as this.
        return [Notice("requests", self._asks(views, now_us))]

    def _running_out(self, state: State, now_us: int) -> list[Notice]:
        urgent = (view for view in state.by_deadline() if view.id not in self._waiting)
        due = [view for view in urgent if _ends(view, now_us)]
        fresh = set(self._last.fresh(view.id for view in due))
        views = [view for view in due if view.id in fresh]
        return [Notice("last", self._asks(views, now_us))] if views else []

    def _asks(self, views: Sequence[PendingView], now_us: int) -> str:
        if len(views) > 1:
            worst = max(views, key=lambda view: RISK_RANK.get(view.data.risk, 2))
            risk = f", the worst {worst.data.risk.upper()}"
            return f"{plural(len(views), 'request')} waiting{risk if _risky(worst) else ''}"
        (view,) = views
        data = view.data
        asks = data.risk.upper() if _risky(view) else data.asks.upper()
        end = silence(data, view.agent, seconds_left(data, now_us))
        text = f"{asks} {data.tool.name} of {view.label} {short_id(view.id)}: {end}"
        return f"{text}: {covered(data.summary)}" if self._command else text


_LOST = Notice("lost", f"core lost: {WITHOUT_CORE['unknown']} until it is back")
_CORE_BACK = Notice("found", "the core is back", rings=False)


def _risky(view: PendingView) -> bool:
    return view.data.asks == "approval"


def _ends(view: PendingView, now_us: int) -> bool:
    left_s = seconds_left(view.data, now_us)
    return left_s is not None and 0 < left_s <= LAST_S


def _key(row: CallRow) -> object:
    return (row.agent, row.session, row.call)


def _gates(state: State) -> list[tuple[str, GateView]]:
    """The gate of each machine that answers, by its name; of a single core without one."""
    hosts = [(host.name, host.gate) for host in state.hosts.values() if host.here]
    return hosts if state.hosts else [("", state.gate)]


def _alarm_notice(rows: Sequence[CallRow], today: int) -> Notice:
    if not rows:
        return Notice("alarm", f"an alarm of an older call: {plural(today, 'alarm')} today")
    newest = rows[-1]
    more = f", and {plural(len(rows) - 1, 'more alarm')}" if len(rows) > 1 else ""
    return Notice("alarm", f"{newest.stage.upper()}: {newest.tool} of {newest.label}{more}")


Start = Callable[[Callable[[], Coroutine[None, None, None]]], object]


class Announcer:
    """Sends the notices that each picture of a core calls for, and sets the terminal's title.

    `ring` rings the bell, `write` writes to the terminal, `start` runs something in the background.
    `focused` is whether the terminal has the focus, None while it has not said.
    """

    def __init__(
        self,
        ring: Callable[[], None],
        write: Callable[[str], None],
        telling: Telling | None = None,
        start: Start | None = None,
    ) -> None:
        self.focused: bool | None = None
        self._ring = ring
        self._write = write
        self._telling = telling or Telling()
        self._start = start
        self._notices = Notices(command=self._telling.command)
        self._demo: Notices | None = None
        self._title = ""

    def announce(self, state: State, link: Link, now_us: int, *, demo: bool = False) -> None:
        """Sends the notices that were not sent yet; those of a demo are kept apart."""
        if not demo:
            self._demo = None
        elif self._demo is None:
            self._demo = Notices(command=self._telling.command)
        notices = (self._demo or self._notices).look(state, link, now_us)
        if notices and self._telling.bell and any(notice.rings for notice in notices):
            self._ring()
        if not (self._telling.unfocused and self.focused):
            for notice in notices:
                self._tell(notice, demo=demo)
        words = title(len(state.pending), lost=link.lost, off=is_off(state.gate, now_us))
        if self._telling.title and words != self._title:
            self._title = words
            self._write(set_title(words))

    def _tell(self, notice: Notice, *, demo: bool) -> None:
        telling = self._telling
        named = f"{TITLE} demo" if demo else TITLE
        written = sequence(notice.text, way=telling.way, wrap=telling.wrap, title=named)
        around, start = telling.around, self._start
        if around is None or start is None:
            if written:
                self._write(written)
            return

        async def tell() -> None:
            if not await around(f"{named}: {plain(notice.text)}") and written:
                self._write(written)

        start(tell)
