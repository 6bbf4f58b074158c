"""The popup as it lies over a pane: large enough for air, and at the smallest size."""

from __future__ import annotations

from collections.abc import Callable

from textual.pilot import Pilot

from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.picture import NOW_US, busy
from watchgate.ui.console.popup_app import PopupApp
from watchgate.ui.view_model.console_options import Options

SnapCompare = Callable[..., bool]


def console() -> PopupApp:
    clock = FakeClock(NOW_US)
    return PopupApp(FakeSource(busy()), clock, Options(home="/home/ana"), clock.now_s)


async def attached(pilot: Pilot[str]) -> None:
    app = pilot.app
    assert isinstance(app, PopupApp)
    for _ in range(400):
        if app.operator.drawn_id:
            break
        await pilot.pause(0.05)
    app.tick()
    await pilot.pause()


def test_a_critical_request_in_the_popup(snap_compare: SnapCompare) -> None:
    """No strip and no tabs: the whole request with its marked parts, facts and input; at the bottom
    the dock's one line with the countdown, and a footer that begins with `a allow, type yes`."""
    assert snap_compare(console(), run_before=attached, terminal_size=(102, 32))


def test_the_popup_at_its_smallest(snap_compare: SnapCompare) -> None:
    """Sixty by sixteen: chip and countdown on top, the parts, `+ lines`, and `(a allow)` disabled
    since not all was on the screen yet; deny, reply, next, close and help act."""
    assert snap_compare(console(), run_before=attached, terminal_size=(60, 16))
