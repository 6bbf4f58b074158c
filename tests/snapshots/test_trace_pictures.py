"""Pictures of the Traces screen; compare an SVG's diff by eye."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.snapshots.test_pictures import Picture, Shown, picture, themed
from tests.ui.picture import at_us, call_rows, quiet
from tests.ui.trace_picture import HIDDEN, PROMPT, REFUSED, call_of, routine, traced, view
from watchgate.core.state.traces import TraceView

BUSIEST = 17
"""How many lines above the newest call the one with the most hooks stands."""


def keys(*more: str, up: int = 0) -> Callable[[Shown], Awaitable[None]]:
    """Opens the traces, moves up by so many calls, and presses more keys."""

    async def press(shown: Shown) -> None:
        await shown.press("3")
        for _ in range(up):
            shown.app.pages.move(-1)
        await shown.settle()
        await shown.press(*more)

    return press


def test_traces(snap_compare: Picture) -> None:
    """120x40: the list, the waterfall with the deciding hook in accent, the chosen hook."""
    assert picture(snap_compare, traced(), (120, 40), keys("enter", up=BUSIEST))


def test_traces_on_a_light_terminal(snap_compare: Picture) -> None:
    """The light tokens; the list has the keys."""
    assert picture(snap_compare, traced(), (120, 40), keys(up=BUSIEST), options=themed("light"))


def test_traces_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24: the list alone, each call in its own words."""
    assert picture(snap_compare, traced(), (80, 24), keys(up=BUSIEST))


def test_the_hooks_of_a_call_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24 after Enter: every handler, the beginning of the chosen one, the last line."""
    assert picture(snap_compare, traced(), (80, 24), keys("enter", up=BUSIEST))


def test_the_hooks_of_a_call_in_the_smallest_full_form(snap_compare: Picture) -> None:
    """60x16: no column of kinds, the handlers around the chosen one."""
    assert picture(snap_compare, traced(), (60, 16), keys("enter", up=BUSIEST))


def test_no_trace_yet(snap_compare: Picture) -> None:
    """What a hook is, the lines that add one, where they go; `c copy the lines` in the footer."""
    assert picture(snap_compare, quiet(), (80, 24), keys())


def test_a_failed_hook_that_denied(snap_compare: Picture) -> None:
    """The failure in bold with its accent bar, an ignored verdict with its reason, the traceback.

    The extension is degraded and was restarted; its bar begins with the time in the queue.
    """
    refused = view("12:02:38", "ci", REFUSED, call=call_of("12:02:38"))
    assert picture(snap_compare, traced([refused]), (120, 40), keys("enter", "j"))


def test_a_hook_that_only_hides(snap_compare: Picture) -> None:
    """ "hidden from view, it ran" at the top, no `x` anywhere, and an event without a call."""
    hidden = view("12:03:11", "docs", HIDDEN, call=call_of("12:03:11"))
    prompt = view("12:03:20", "ci", PROMPT)
    assert picture(snap_compare, traced([hidden, prompt]), (120, 40), keys(up=1))


def test_more_calls_than_fit(snap_compare: Picture) -> None:
    """The list after moving up by a page: the cursor's call in view, the time bold over 100 ms."""
    assert picture(snap_compare, traced(many()), (120, 40), keys("pageup", "k"))


def many() -> list[TraceView]:
    """Two hundred calls, every ninth of them slow."""
    start, rows = at_us("11:00:00"), call_rows()
    traces = []
    for number in range(200):
        row = rows[number % len(rows)]
        ms = 2.0 + number % 7 + 130 * (number % 9 == 0)
        data = routine("", ms, tool=row.tool, summary=row.summary)
        traces.append(
            TraceView(
                seq=number + 1,
                at=start + number * 17_000_000,
                agent=row.agent,
                session=row.session,
                call=f"old-{number}",
                label=row.label,
                data=data,
            )
        )
    return traces
