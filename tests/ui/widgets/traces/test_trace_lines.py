"""What the Traces screen says of a call's hooks, line by line."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from tests.ui.trace_picture import (
    AFTER,
    BEFORE,
    HIDDEN,
    REFUSED,
    ran,
    skipped,
    view,
)
from watchgate.core.model.records import TraceData
from watchgate.core.model.verdicts import Run, SkipReason, TraceRow
from watchgate.core.state.traces import TracedCall, TraceView
from watchgate.ui.base.theme import DARK
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.traces.trace_detail import conclusion, detail_lines
from watchgate.ui.widgets.traces.trace_page import SNIPPET
from watchgate.ui.widgets.traces.trace_words import SKIPPED, decides, millis, verdict, whole_ms
from watchgate.ui.widgets.traces.waterfall import (
    DispatchBlocks,
    Scale,
    axis,
    bar,
    head_lines,
    scale,
)

HOSTILE = "\x1b[31m\x07\u202e\u200b\r\n[bold]x[/]"


def line_of(trace: TraceView) -> TracedCall:
    """The line of one trace."""
    return TracedCall(key=trace.key, traces=(trace,))


def page(data: TraceData, cells: int = 82) -> str:
    """The waterfall of one dispatch, as a reader sees it."""
    call = line_of(view("12:03:11", "docs", data, call="c"))
    blocks = DispatchBlocks(call, cells, DARK, chosen=0, active=True).lines
    head = head_lines(call, None, cells, DARK, None)
    return text([*head, *blocks, *conclusion(call, None, cells, DARK)], cells)


def detail(row: TraceRow, data: TraceData, cells: int = 82) -> str:
    """What is told of one handler."""
    return text(detail_lines(row, data, cells, DARK, airy=True), cells)


def text(lines: list[StyledLine], cells: int) -> str:
    """Lines as a reader sees them."""
    return "\n".join(line.strip(cells).text.rstrip() for line in lines)


def test_every_reason_to_be_skipped_has_words_that_fit_where_a_bar_would_be() -> None:
    assert set(SKIPPED) == set(get_args(SkipReason))
    assert all(len(words) <= 25 for words in SKIPPED.values())


def test_sy_21_a_row_tells_handler_verdict_time_health_and_restarts() -> None:
    row = REFUSED.rows[0]
    shown = page(REFUSED) + detail(row, REFUSED)
    for told in ("PreToolUse", "acme-guard", "added text", "31.2 ms", "degraded", "twice"):
        assert told in shown
    timed_out = ran("a", 0, 200, "failed", detail="timeout: no answer in 0.2 s")
    assert verdict(timed_out, REFUSED) == "T timed out"


def test_sd_14_a_hidden_event_is_labelled_as_one_that_was_not_prevented() -> None:
    shown = page(HIDDEN)
    assert "hid from view" in shown
    assert "hidden from view, nothing was prevented" in shown
    assert "these hooks change what is shown, never what runs" in shown


def test_sd_15_a_rewrite_of_what_is_shown_never_says_that_it_changed_the_input() -> None:
    rows = (ran("tidy", 0, 2, "modify"),)
    written = msgspec.structs.replace(
        HIDDEN, decision="none", decided_by="tidy", rows=rows, shown="make all"
    )
    shown = page(written)
    assert "rewrote view" in shown
    assert "shown rewritten, nothing was changed" in shown
    assert "rewrote input" not in shown
    elsewhere = msgspec.structs.replace(written, preset="console", shown="")
    assert "would rewrite" in page(elsewhere)


@pytest.mark.parametrize("preset", ["console", "sdk-first-match", "codewhale-sinks"])
@pytest.mark.parametrize("said", ["block", "abort", "confirm"])
def test_core_7_nothing_about_a_view_says_that_it_prevented_anything(
    said: str, preset: str
) -> None:
    rows = (ran("guard", 0, 2, said),)
    data = msgspec.structs.replace(HIDDEN, preset=preset, decided_by="guard", rows=rows)
    if said == "confirm":
        data = msgspec.structs.replace(data, decision="confirm")
    shown = page(data) + detail(rows[0], data)
    for claim in ("denied", "x would", "x hid", "prevented", "stopped", "blocked", "x docs"):
        assert claim not in shown.replace("othing was prevented", "")


def test_the_decision_and_its_author_stand_out() -> None:
    lines = DispatchBlocks(
        line_of(view("12:02:52", "api-fix", BEFORE)), 82, DARK, chosen=0, active=True
    )
    accent = DARK.style("accent", "bg")
    strips = [line.strip(82) for line in lines.lines]
    marked = [s.text for s in strips if any(seg.style == accent for seg in s if "━" in seg.text)]
    assert len(marked) == 1
    assert marked[0].startswith("  policy")


def test_a_handler_without_an_opinion_decides_nothing() -> None:
    data = msgspec.structs.replace(BEFORE, decision="none", decided_by="redact")
    assert decides(data.rows[0], data)
    assert not decides(ran("redact", 0, 1), data)
    assert not decides(skipped("redact", "once"), data)


def test_bars_share_one_scale_and_a_short_one_takes_a_cell() -> None:
    on = scale((*BEFORE.rows, *AFTER.rows), 27)
    assert on.ms == pytest.approx(242.3)
    first, fmt, skips = (bar(BEFORE.rows[n], on) for n in (0, 1, 4))
    assert first is not None
    assert (first.before, first.running) == (0, 1)
    assert fmt is not None
    assert fmt.queued == 1
    assert fmt.running > 20
    assert skips is None


@pytest.mark.parametrize("cells", [0, 1, 5, 12, 27, 200])
@pytest.mark.parametrize("ms", [0.0, 1e-9, 0.3, 1.0, 243.0, 5e6])
def test_an_axis_fits_at_every_width(cells: int, ms: float) -> None:
    on = scale([ran("a", 0, ms)], cells)
    assert len(axis(on)) == max(1, cells)
    drawn = bar(ran("a", ms / 2, ms / 2), on)
    assert drawn is not None
    assert drawn.before >= 0
    assert drawn.running >= 1
    assert drawn.before + drawn.queued + drawn.running <= on.cells


def test_the_axis_names_round_times_where_they_lie() -> None:
    assert axis(Scale(27, 243)).split() == ["0", "100", "200", "ms"]


def test_the_last_line_says_what_the_decision_waited_for() -> None:
    assert "Hooks and rules took 243 ms. 214 ms of it is ./hooks/fmt.sh." in page(BEFORE)
    assert "Nothing was prevented" in page(HIDDEN)
    watched = msgspec.structs.replace(BEFORE, effect="view")
    assert "Hooks and rules took" in page(watched), "the policy decided, whatever the preset"
    watched = msgspec.structs.replace(watched, decided_by="acme-guard")
    assert "Nothing was decided: these hooks only watched." in page(watched)


def test_times_are_never_nothing_when_something_was_measured() -> None:
    assert [millis(ms) for ms in (None, 0.26, 26.14, 213.7, 12_400)] == [
        "-",
        "0.3 ms",
        "26.1 ms",
        "214 ms",
        "12.4 s",
    ]
    assert [whole_ms(ms) for ms in (0, 0.01, 3.2, 243, 12_400)] == [
        "0 ms",
        "0.1 ms",
        "3 ms",
        "243 ms",
        "12.4 s",
    ]


@pytest.mark.parametrize(
    ("run", "detail_", "words"),
    [
        (Run(exit_code=3), "exit: exit code 3", "failed: exit 3"),
        (Run(signal="SIGKILL"), "crash: killed", "killed: SIGKILL"),
        (Run(), "it failed, and fails open: spawn: no such file", "cannot start"),
        (Run(), "timeout", "T timed out"),
        (Run(), "", "failed"),
    ],
)
def test_a_failure_names_its_cause(run: Run, detail_: str, words: str) -> None:
    assert verdict(ran("a", 0, 1, "failed", detail=detail_, run=run), BEFORE) == words


def test_an_observer_was_told_and_its_denial_had_no_say() -> None:
    told = ran("a", 0, 1, "allow", role="observer", ignored=True, detail="it is registered as")
    says = ran(
        "b", 0, 1, "block", role="observer", ignored=True, detail="it is registered as observer: no"
    )
    shown = page(msgspec.structs.replace(BEFORE, rows=(told, says)))
    assert "told" in shown
    assert shown.count("ignored") == 1
    assert "ignored: it is registered as observer" in shown


def test_a_handler_is_told_in_full() -> None:
    told = detail(BEFORE.rows[1], BEFORE)
    for words in (
        "command, gate",
        "exit      0   stdout was empty",
        "stdin     612 B",
        "stderr    ruff 0.14.5: 3 files left unchanged",
        "env       9 variables",
        "CLAUDE_PROJECT_DIR",
        "limit     5 s   used 4 %",
        "queue     9.0 ms",
    ):
        assert words in told
    assert "twice   a rewrite of the input ran it again" in detail(BEFORE.rows[0], BEFORE)
    assert "preset sdk-first-match" in detail(HIDDEN.rows[0], HIDDEN)


def test_nothing_from_outside_reaches_the_screen_unescaped() -> None:
    row = ran(
        HOSTILE,
        0,
        1,
        "failed",
        kind=HOSTILE,
        ignored=True,
        detail=HOSTILE,
        run=Run(signal=HOSTILE, stdout=HOSTILE, stderr=HOSTILE, env=(HOSTILE,)),
    )
    left_out = TraceRow(handler=HOSTILE, role="gate", status="skipped", detail=HOSTILE)
    odd = ran(HOSTILE, 0, 1, HOSTILE)
    data = TraceData(
        native=HOSTILE,
        kind=HOSTILE,
        decision="deny",
        preset=HOSTILE,
        decided_by=HOSTILE,
        reason=HOSTILE,
        tool=HOSTILE,
        summary=HOSTILE,
        rows=(row, left_out, odd),
    )
    call = line_of(view("12:03:11", "docs", data, call="c"))
    call = TracedCall(
        key=call.key,
        traces=(msgspec.structs.replace(call.traces[0], label=HOSTILE, agent=HOSTILE),),
    )
    shown = text(head_lines(call, None, 300, DARK, None), 300) + page(data, 200)
    shown += "".join(detail(each, data, 200) for each in data.rows)
    assert not [char for char in shown if char in "\x1b\x07\u202e\u200b\r"]
    assert "<U+001B>" in shown
    assert "[bold]x[/]" in shown


def test_the_offered_lines_are_a_configuration_that_loads() -> None:
    from watchgate.core.config.config import load

    (handler,) = load(SNIPPET, "config.toml").handler
    assert handler.id == "no-force-push"
