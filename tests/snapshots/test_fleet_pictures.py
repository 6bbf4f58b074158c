"""Pictures of a console on several machines; compare an SVG's diff by eye."""

from __future__ import annotations

import msgspec
from textual.pilot import Pilot

from tests.snapshots.test_pictures import Picture, Shown
from tests.ui.console_bench import OPTIONS
from tests.ui.fake_source import FakeClock
from tests.ui.fleet_bench import Fleet, asked, call, empty
from tests.ui.picture import NOW_US, busy
from watchgate.core.model.views import GateView
from watchgate.ui.console.app import WatchgateApp


class Several(Shown):
    """A console on this machine, on one that is lost, and on one whose gate is off."""

    def __init__(self) -> None:
        super().__init__(busy(), OPTIONS, None)
        self.fleet = Fleet("here", "lab2", "lab3", clock=FakeClock(NOW_US))
        off = msgspec.structs.replace(empty(), gate=GateView(off_until=0))
        self.fleet.cores["here"].snapshot = busy()
        self.fleet.cores["lab3"].snapshot = off
        clock = FakeClock(NOW_US)
        self.app = WatchgateApp(self.fleet.source, clock, OPTIONS, self.keys.now_s)

    async def before(self, pilot: Pilot[str]) -> None:
        """Lets all attach, one ask and be lost, and another one work."""
        self.pilot = pilot
        cores, bridge = self.fleet.cores, self.app.bridge
        await self.until(lambda: [*map(self.fleet_state, cores)] == ["attached"] * 3)
        cores["lab2"].feed(call(11, "make deploy"), asked(12, "far", "make deploy"))
        await self.until(lambda: len(bridge.state.pending) == len(busy().pending) + 1)
        cores["lab3"].feed(call(11, "pytest -q", cwd="/src/ml"))
        cores["lab2"].lose("Timeout, server lab2 not responding.")
        await self.until(lambda: self.fleet_state("lab2") == "lost")
        await self.until(lambda: len(bridge.state.rows) == len(busy().rows) + 2)
        await self.settle()
        await self.until(lambda: self.app.operator.drawn_id)
        await self.settle()

    def fleet_state(self, name: str) -> str:
        """How a machine stands."""
        host = self.app.bridge.state.hosts.get(name)
        return host.state if host is not None else ""


def _drawn(compare: Picture, size: tuple[int, int]) -> bool:
    shown = Several()
    return compare(shown.app, terminal_size=size, run_before=shown.before)


def test_three_machines(snap_compare: Picture) -> None:
    """120x40: `2 of 3 hosts, 1 NOT GATING`; chips name lab2 and lab3; lab2's part is greyed."""
    assert _drawn(snap_compare, (120, 40))


def test_three_machines_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24: the sessions' column holds host and label; the count of hosts stays in the strip."""
    assert _drawn(snap_compare, (80, 24))
