"""The whole of a request or call, and when all of it was shown."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.ui.requests import COMMAND, FINDINGS, NOW, pending, row
from tests.ui.trace_picture import ran, skipped
from tests.ui.widgets_app import Stage, texts
from watchgate.core.model.assessment import Finding, Segment
from watchgate.core.model.events import Tool
from watchgate.core.model.records import Fact, TraceData
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.views import PendingView
from watchgate.core.state.state import State
from watchgate.core.state.traces import TraceView
from watchgate.ui.base.theme import DARK
from watchgate.ui.widgets.base.request_words import reasons_of
from watchgate.ui.widgets.base.sheet import Sheet
from watchgate.ui.widgets.request.call_lines import call_lines, hooks_of, outcome
from watchgate.ui.widgets.request.request_detail import Detail
from watchgate.ui.widgets.request.request_lines import DRAWN_PARTS, live_lines, request_lines


def shown(view: PendingView, cells: int = 100) -> list[str]:
    sheet = Sheet(cells, DARK, "/home/alice")
    lines = [line.strip(cells) for line in request_lines(view, None, sheet)]
    assert all(strip.cell_length == cells for strip in lines)
    return [strip.text.rstrip() for strip in lines]


def edit(**fields: object) -> Tool:
    return Tool("Edit", "Edit", "edit", {"file_path": "a.py", **fields}, "h")


class Watching(Stage):
    """Collects which requests were shown whole."""

    def __init__(self, detail: Detail) -> None:
        super().__init__(detail)
        self.whole: list[str] = []

    def on_detail_all_shown(self, message: Detail.AllShown) -> None:
        self.whole.append(message.request)


def test_a_request_tells_everything_there_is() -> None:
    text = "\n".join(shown(pending(findings=FINDINGS, mode="bypass", runs_unasked=True)))
    for words in (
        COMMAND,
        "1 line, 57 characters",
        "^^  runs what 2/3 downloads\n",
        "session      api-fix  claude  s1",
        "cwd          ~/src/api",
        "mode         bypass",
        "lane         gate, PreToolUse",
        "asked by     pid 48213",
        "held by      net.pipe-to-shell",
        "digest       sha256 9f3c1b7e9f3c...",
        "after allow  Claude runs it at once, nothing else asks",
        "after b      Claude runs it without asking",
        '"command": "rm -rf build/',
    ):
        assert words in text, words


@pytest.mark.parametrize("cells", [46, 60, 80, 120])
def test_who_asks_and_what_silence_does_is_whole_at_every_width(cells: int) -> None:
    lines = live_lines(pending(), NOW, cells, DARK)
    assert max(line.left_cells for line in lines) < cells
    text = " ".join(line.strip(cells).text for line in lines)
    for words in ("CRITICAL", "api-fix", "#a41f", "denied in 0:23", "Claude is told nobody"):
        assert words in text


@pytest.mark.parametrize(("air", "above", "below"), [(0, 1, 0), (1, 1, 1), (2, 2, 1)])
def test_sections_stand_apart_as_far_as_there_are_rows(air: int, above: int, below: int) -> None:
    lines = request_lines(pending(), None, Sheet(80, DARK, air=air))
    text = [line.strip(80).text.strip() for line in lines]
    at = text.index("facts")
    assert text[at - above : at] == [""] * above
    assert text[at - above - 1]
    assert text[at + 1 : at + 1 + below] == [""] * below
    assert text[at + 1 + below]


@pytest.mark.anyio
@pytest.mark.parametrize(("rows", "gap"), [(24, 1), (31, 1), (40, 2)])
async def test_a_request_is_given_air_only_where_all_of_it_still_fits(rows: int, gap: int) -> None:
    detail = Detail()
    app = Watching(detail)
    async with app.run_test(size=(80, rows)) as pilot:
        detail.show_request(pending(findings=FINDINGS), State(), NOW, place="1 of 2")
        await pilot.pause()
        text = texts(detail)
        assert text[0].endswith("1 of 2")
        at = text.index("  why")
        assert text[at - gap : at] == [""] * gap
        assert text[at - gap - 1]


def test_reasons_read_on_as_one_sentence() -> None:
    findings = (Finding("a", "Deletes folders", "high"), Finding("b", "SQL is dropped", "high"))
    said = reasons_of(pending(reason="Runs code from the network", findings=findings).data)
    assert said == "runs code from the network; deletes folders; SQL is dropped"
    text = shown(pending(findings=findings))
    assert "  !!   deletes folders  a" in text


def test_the_words_of_a_hook_that_holds_stand_before_what_the_policy_found() -> None:
    findings = (Finding("policy.unknown", "No rule knows this command", "unknown"),)
    asked = pending(reason="rewritten by handler guard", rule="handler guard", findings=findings)
    text = shown(asked)
    at = text.index("  why")
    assert text[at + 1] == "  rewritten by handler guard"
    assert text[at + 2] == "  !!   no rule knows this command  policy.unknown"


def test_a_command_of_many_lines_is_shown_line_by_line() -> None:
    text = shown(pending("cat <<EOF\n  a\nEOF"))
    assert text[2:5] == ["  cat <<EOF\\n", "    a\\n", "  EOF"]
    assert text[1].endswith("3 lines, 17 characters")


def test_an_edit_shows_what_it_takes_away_and_adds() -> None:
    tool = edit(old_string="x = 1", new_string="x = 2\ny\u200b = 3")
    text = shown(pending("a.py +2 -1", tool=tool))
    start = next(number for number, line in enumerate(text) if line.startswith("  a.py   +2 -1"))
    assert text[start + 1 : start + 4] == [
        "      1       - x = 1",
        "           1  + x = 2",
        "           2  + y<U+200B> = 3",
    ]


def test_hostile_input_is_escaped_everywhere() -> None:
    view = pending(
        "ls\x1b]0;pwned\x07\n\u202eevil",
        label="\x1b[2J",
        cwd="/\u2066",
        reason="[red]\x9b",
        mode="\x1b",
    )
    text = "\n".join(shown(view))
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2066")


def test_a_call_tells_how_it_ended() -> None:
    session = SessionView(agent="claude", session="s1", label="api-fix", cwd="/home/alice/src")
    call = row(glyph="=", took_ms=12_400, tool="Bash", summary="uv run pytest")
    lines = call_lines(call, session, NOW, 46, DARK, "/home/alice")
    text = [line.strip(46).text.rstrip() for line in lines]
    assert "  uv run pytest" in text
    assert "  outcome      = by rule, done" in text
    assert "  took         12.4 s" in text
    assert "  cwd          ~/src" in text


LONG = "echo hello; " * 200
"""A command of more lines than a screen of 80 by 24 has."""


@pytest.mark.anyio
async def test_a_request_was_shown_once_every_line_of_it_was_on_the_screen() -> None:
    detail = Detail()
    app = Watching(detail)
    view = pending(LONG)
    async with app.run_test(size=(80, 24)) as pilot:
        detail.show_request(view, State(), NOW)
        await pilot.pause()
        assert texts(detail)[23].startswith("  +")
        assert app.whole == []
        for _ in range(9):
            detail.scroll_pages(1)
            await pilot.pause()
        assert app.whole == [view.id]


@pytest.mark.anyio
async def test_a_jump_to_the_end_shows_no_more_than_the_end_and_names_what_it_left_out() -> None:
    detail = Detail()
    app = Watching(detail)
    view = pending(LONG)
    async with app.run_test(size=(80, 24)) as pilot:
        detail.show_request(view, State(), NOW)
        await pilot.pause()
        detail.scroll_lines(100_000)
        await pilot.pause()
        await pilot.pause()
        assert app.whole == []
        why = next(n for n, line in enumerate(shown(view, 80), 3) if line.strip() == "why")
        assert texts(detail)[23] == (
            f"  lines 24-{why - 2} not shown, so no allow yet   PgUp goes there"
        )
        for _ in range(9):
            detail.scroll_pages(-1)
            await pilot.pause()
        assert app.whole == [view.id]
        detail.scroll_lines(100_000)
        await pilot.pause()
        assert "not shown" not in texts(detail)[23]


@pytest.mark.anyio
async def test_what_a_jump_left_out_is_named_while_lines_follow_below() -> None:
    detail = Detail()
    async with Watching(detail).run_test(size=(80, 24)) as pilot:
        detail.show_request(pending(LONG), State(), NOW)
        await pilot.pause()
        detail.scroll_lines(100_000)
        await pilot.pause()
        detail.scroll_lines(-2)
        await pilot.pause()
        assert texts(detail)[23].startswith("  +2 lines   j down   lines 24-")


@pytest.mark.anyio
async def test_lines_that_look_alike_are_shown_as_well() -> None:
    detail = Detail()
    app = Watching(detail)
    view = pending("\n" * 300)
    async with app.run_test(size=(80, 24)) as pilot:
        detail.show_request(view, State(), NOW)
        await pilot.pause()
        for _ in range(30):
            detail.scroll_pages(1)
            await pilot.pause()
        assert app.whole == [view.id]


@pytest.mark.anyio
async def test_a_request_that_was_shown_before_names_no_line_as_missing() -> None:
    detail = Detail()
    async with Watching(detail).run_test(size=(80, 24)) as pilot:
        detail.show_request(pending(LONG), State(), NOW, was_all_shown=True)
        await pilot.pause()
        detail.scroll_lines(100_000)
        await pilot.pause()
        assert "not shown" not in "\n".join(texts(detail))


@pytest.mark.anyio
async def test_another_width_is_another_text_to_be_shown() -> None:
    detail = Detail()
    app = Watching(detail)
    async with app.run_test(size=(80, 24)) as pilot:
        detail.show_request(pending(LONG), State(), NOW)
        await pilot.pause()
        detail.scroll_pages(1)
        await pilot.pause()
        await pilot.resize_terminal(70, 24)
        await pilot.pause()
        detail.scroll_lines(100_000)
        await pilot.pause()
        assert "lines 3-" in texts(detail)[23]
        assert app.whole == []


@pytest.mark.anyio
async def test_what_is_too_long_never_reports_its_end() -> None:
    detail = Detail()
    app = Watching(detail)
    async with app.run_test(size=(80, 24)) as pilot:
        detail.show_request(pending("x" * 70_000), State(), NOW)
        detail.scroll_lines(100_000)
        await pilot.pause()
        await pilot.pause()
        assert app.whole == []
        assert "too long to be shown to its end" in texts(detail)[-1]


@pytest.mark.anyio
async def test_the_call_under_the_cursor_shows_its_open_request() -> None:
    detail = Detail()
    view = pending()
    state = State()
    state.pending[view.id] = view
    async with Watching(detail).run_test(size=(80, 40)) as pilot:
        detail.show(row(request=view.id, stage="pending", ended_at=None), state, NOW)
        await pilot.pause()
        assert texts(detail)[0] == "   !!! CRITICAL    Bash   api-fix  claude   #a41f"
        assert texts(detail)[2].startswith("  denied in 0:23   ━━━")
        state.pending.clear()
        detail.show(row(stage="done"), state, NOW)
        await pilot.pause()
        assert texts(detail)[0].startswith("  Read   api-fix  claude")
        detail.show(None, state, NOW)
        await pilot.pause()
        assert texts(detail)[0] == "  no call under the cursor"


@pytest.mark.anyio
async def test_a_hidden_detail_has_shown_nothing() -> None:
    detail = Detail()
    detail.display = False
    app = Watching(detail)
    async with app.run_test(size=(80, 40)) as pilot:
        detail.show_request(pending(), State(), NOW)
        detail.show_request(pending(risk="high"), State(), NOW)
        detail.scroll_pages(1)
        await pilot.pause(0.1)
        assert app.whole == []


def test_more_parts_than_anybody_reads_are_drawn_as_one_text_with_each_reason_once() -> None:
    count = DRAWN_PARTS + 1
    text = "x;" * count
    segments = tuple(Segment(at + 1, (2 * at, 2 * at + 1)) for at in range(count))
    found = tuple(
        Finding("policy.no-rule", "No rule knows it", "medium", each.span, each.number)
        for each in segments
    )
    page = shown(pending(text, segments=segments, findings=found))
    assert page[1].endswith(f"{count} parts, 5 lines, {2 * count} characters")
    assert "".join(line.strip() for line in page[2:7]) == text
    assert [line for line in page if "no rule knows it" in line] == [
        "  !    no rule knows it  policy.no-rule"
    ]


def test_what_it_would_touch_is_the_first_fact() -> None:
    facts = (Fact("412 files"), Fact("3 untracked", grave=True))
    view = msgspec.structs.replace(pending(), facts=facts, cut=True)
    page = shown(view)
    assert page[page.index("  facts") + 1] == (
        "  would touch  412 files, 3 untracked  not everything was looked at"
    )
    none = msgspec.structs.replace(pending(), cut=True)
    assert "  would touch  not known" in shown(none)


def test_a_raised_risk_says_why() -> None:
    page = shown(pending(raised="One level higher: denied 9 s ago as rm -rf x"))
    assert "  one level higher: denied 9 s ago as rm -rf x" in page


def test_how_the_session_was_answered_so_far_is_the_last_fact() -> None:
    session = SessionView(
        agent="claude", session="s1", label="x", answered=41, allowed=40, waits=(0.4, 0.6, 70.0)
    )
    lines = request_lines(pending(), session, Sheet(80, DARK))
    text = [line.strip(80).text.rstrip() for line in lines]
    assert "  so far       you approved 40 of 41, median 0.6 s" in text


def test_a_call_tells_which_hooks_it_met_and_who_decided() -> None:
    call = row(glyph="=", took_ms=12_400, tool="Bash", summary="uv run pytest", rule="shell.tests")
    rows = (
        ran("./hooks/fmt.sh", 0.4, 214),
        ran("policy", 241, 0.3, "allow"),
        skipped("slack-notify", "filter"),
    )
    data = TraceData(native="PreToolUse", kind="tool.pre", decision="allow", decided_by="policy",
                     took_ms=243, rows=rows)  # fmt: skip
    state = State()
    state.traces.ring.append(
        TraceView(
            seq=9,
            at=call.at,
            agent=call.agent,
            session=call.session,
            call=call.call,
            label=call.label,
            data=data,
        )
    )
    hooks = hooks_of(state, call)
    assert hooks is not None
    lines = call_lines(call, None, NOW, 46, DARK, "", hooks)
    assert all(line.left_cells + line.right_cells <= 46 for line in lines)
    text = [line.strip(46).text.rstrip() for line in lines]
    assert "  rule         shell.tests" in text
    assert "  took         12.4 s   243 ms in hooks" in text
    assert "  hooks   2 hooks, 243 ms      3 shows traces" in text
    assert text[-3].startswith("  ./hooks/fmt.sh       214 ms ━━━")
    assert text[-2].startswith("  policy               0.3 ms")
    assert text[-1] == "  1 skipped"
    assert hooks_of(state, row(number=5)) is None


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"glyph": "", "stage": "done"}, "done"),
        ({"glyph": "x", "stage": "denied"}, "x denied"),
        ({"glyph": "T", "stage": "timed out"}, "T timed out, denied"),
        ({"glyph": "+", "stage": "running"}, "+ by operator, running"),
        ({"glyph": "?", "stage": "pending"}, "? pending"),
        ({"glyph": "x", "stage": "DENIED BUT RAN", "alarm": True}, "x DENIED BUT RAN"),
    ],
)
def test_an_outcome_says_who_decided_and_where_the_call_stands(
    facts: dict[str, Any], words: str
) -> None:
    assert outcome(row(**facts)) == words
