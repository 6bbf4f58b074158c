"""The console's pictures, one per state that the design draws; compare an SVG's diff by eye."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
import pytest
from textual.pilot import Pilot

from tests.ui.console_bench import OPTIONS, handed_on, keys_as_pressed
from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.picture import NOW_US, busy, first_run, long, quiet, switched_off
from watchgate.link.protocol import Snapshot
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.view_model.console_options import Options
from watchgate.ui.widgets.prompts.confirm_prompts import YesPrompt

Picture = Callable[..., bool]
Then = Callable[["Shown"], Awaitable[None]]


class Shown:
    """A console that draws one moment, with what a test does to it first."""

    def __init__(self, snapshot: Snapshot, options: Options, then: Then | None) -> None:
        self.source = FakeSource(snapshot)
        # What is drawn stands still; only what times the keys moves on.
        self.keys = FakeClock(NOW_US)
        self.app = WatchgateApp(self.source, FakeClock(NOW_US), options, self.keys.now_s)
        self.pilot: Pilot[str]
        self._then = then

    async def before(self, pilot: Pilot[str]) -> None:
        """Waits for the first picture, does what the test wants, and waits for that."""
        self.pilot = pilot
        await self.until(lambda: self.app.bridge.link.state == "attached")
        await self.settle()
        if self.source.snapshot.pending:
            await self.until(lambda: self.app.operator.drawn_id)
        if self._then is not None:
            await self._then(self)
        await self.settle()

    async def settle(self) -> None:
        """Lets the console draw the newest moment, and hear that it was drawn."""
        for _ in range(2):
            self.app.tick()
            await self.pilot.pause()
            await handed_on(self.app)

    async def until(self, ready: Callable[[], object]) -> None:
        """Waits until something is so."""
        for _ in range(400):
            if ready():
                return
            await self.pilot.pause(0.05)
        raise AssertionError("it did not come about")

    async def press(self, *keys: str) -> None:
        """Press keys one by one, as a person does."""
        for key in keys:
            self.keys.advance(1)
            with keys_as_pressed():
                await self.pilot.press(key)
                await handed_on(self.app)
            self.keys.advance(0.26)
            await self.settle()


async def nothing() -> None:
    """Stands for starting a core."""


async def no_demo() -> tuple[FakeSource, FakeClock]:
    """Stands for starting a demo."""
    return FakeSource(first_run()), FakeClock(NOW_US)


ABLE = msgspec.structs.replace(OPTIONS, start_core=nothing, log_lines=list, open_demo=no_demo)
"""A console that can start a core, read its log and play a demo."""


def picture(
    compare: Picture,
    snapshot: Snapshot,
    size: tuple[int, int],
    then: Then | None = None,
    options: Options = OPTIONS,
) -> bool:
    """Whether the console at this size looks as it did."""
    shown = Shown(snapshot, options, then)
    return compare(shown.app, terminal_size=size, run_before=shown.before)


def themed(name: str) -> Options:
    """The options with another theme."""
    return msgspec.structs.replace(OPTIONS, theme=name)


async def core_dies(shown: Shown) -> None:
    """The core is lost and stays away."""
    shown.source.lose()
    await shown.until(lambda: shown.app.bridge.link.lost)


def test_a_critical_request_in_the_dock(snap_compare: Picture) -> None:
    """120x40: strip, sessions, live calls, a CRITICAL request with marked spans."""
    assert picture(snap_compare, busy(), (120, 40))


def test_a_critical_request_on_a_light_terminal(snap_compare: Picture) -> None:
    """The light tokens."""
    assert picture(snap_compare, busy(), (120, 40), options=themed("light"))


def test_a_critical_request_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24: no sidebar, a dock of six lines, 14 calls."""
    assert picture(snap_compare, busy(), (80, 24))


def test_without_colours(snap_compare: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    """`NO_COLOR`: the mono theme, nothing lost."""
    monkeypatch.setenv("NO_COLOR", "1")
    assert picture(snap_compare, busy(), (80, 24))


@pytest.mark.parametrize(("colorterm", "term"), [("", "xterm-256color"), ("", "xterm")])
def test_with_few_colours(
    snap_compare: Picture, monkeypatch: pytest.MonkeyPatch, colorterm: str, term: str
) -> None:
    """256 colours keep the surfaces; with 16 a rule stands above the dock."""
    monkeypatch.setenv("COLORTERM", colorterm)
    monkeypatch.setenv("TERM", term)
    assert picture(snap_compare, busy(), (80, 24))


def test_a_request_in_full_beside_the_calls(snap_compare: Picture) -> None:
    """160x45: the request under the cursor at 46 columns, nothing of it cut."""
    assert picture(snap_compare, busy(), (160, 45))


def test_detail_beside_the_calls(snap_compare: Picture) -> None:
    """160x45: sidebar and detail; following is off after moving up."""

    async def move_up(shown: Shown) -> None:
        for _ in range(17):
            shown.app.pages.move(-1)
        await shown.pilot.pause()

    assert picture(snap_compare, busy(), (160, 45), move_up)


def test_nothing_pending(snap_compare: Picture) -> None:
    """The dock is one line with the last decision; decision keys stand in parentheses."""
    assert picture(snap_compare, quiet(), (120, 40))


def test_first_run(snap_compare: Picture) -> None:
    """No agent is connected: the demo, and the install lines."""
    assert picture(snap_compare, first_run(), (80, 24), options=ABLE)


def test_core_lost(snap_compare: Picture) -> None:
    """What happened, what it means, every row in `off`."""
    assert picture(snap_compare, busy(), (80, 24), core_dies, ABLE)


def test_gate_off(snap_compare: Picture) -> None:
    """The red strip, the calls that ran ungated, the key that helps."""
    assert picture(snap_compare, switched_off(), (80, 24))


def test_the_smallest_full_form(snap_compare: Picture) -> None:
    """60x16: no tabs, a dock of five lines."""
    assert picture(snap_compare, busy(), (60, 16))


def test_the_tiny_form(snap_compare: Picture) -> None:
    """48x12: one line per request, allow disabled with the reason."""
    assert picture(snap_compare, busy(), (48, 12))


def test_help(snap_compare: Picture) -> None:
    """Every key and mark on one page, the dock below it."""
    assert picture(snap_compare, busy(), (120, 40), lambda shown: shown.press("question_mark"))


def test_a_request_on_its_own_page(snap_compare: Picture) -> None:
    """The whole request: command, reasons, facts, input; the dock's one line below."""
    assert picture(snap_compare, busy(), (120, 40), lambda shown: shown.press("v"))


def test_a_high_request_in_the_dock(snap_compare: Picture) -> None:
    """80x24: HIGH is text, not a chip; what an allow leads to is told where it settles nothing."""
    assert picture(snap_compare, busy(), (80, 24), lambda shown: shown.press("tab"))


def test_a_request_that_was_jumped_over(snap_compare: Picture) -> None:
    """The last line of the page names what was not shown, and the allow stands in parentheses."""
    assert picture(snap_compare, long(), (80, 24), lambda shown: shown.press("v", "G"))


def test_the_typed_yes(snap_compare: Picture) -> None:
    """A critical request asks for its word in a prompt of its own."""

    async def allow(shown: Shown) -> None:
        await shown.press("a")
        await shown.until(lambda: isinstance(shown.app.focused, YesPrompt))

    assert picture(snap_compare, busy(), (120, 40), allow)


def test_the_sessions_over_the_calls(snap_compare: Picture) -> None:
    """At 80 columns `s` lays the sessions over the table."""
    assert picture(snap_compare, quiet(), (80, 24), lambda shown: shown.press("s"))


def test_the_frozen_view_of_a_demo(snap_compare: Picture) -> None:
    """The banners: DEMO in the strip, FROZEN in the line of screens."""
    options = msgspec.structs.replace(OPTIONS, demo=True)
    assert picture(snap_compare, busy(), (80, 24), lambda shown: shown.press("z"), options)


def test_the_list_of_commands(snap_compare: Picture) -> None:
    """Every command with its key; what cannot be done now says why."""
    assert picture(snap_compare, quiet(), (80, 24), lambda shown: shown.press("colon"))
