"""The dock at its four sizes, and what it claims to have shown."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.ui.requests import COMMAND, FINDINGS, NOW, pending
from tests.ui.widgets_app import Stage, strips, texts
from watchgate.core.model.assessment import Finding, Segment
from watchgate.core.model.events import OwnRules, Tool
from watchgate.core.model.records import Fact
from watchgate.core.model.views import PendingView, Settled
from watchgate.ui.base.theme import DARK, DARK_16
from watchgate.ui.widgets.base.countdown import filled_cells
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import Piece, draw_row
from watchgate.ui.widgets.dock import Dock
from watchgate.ui.widgets.dock_lines import DockPicture, DockView, dock_rows, draw_dock

CONFINED = OwnRules("confined", "runs-or-asks")
REQUEST = pending(findings=FINDINGS)
LAST = Settled(
    request="c0d9xxxx",
    at=NOW - 70_000_000,
    word="allowed-by-operator",
    by="operator alice",
    label="docs",
    tool="Bash",
    summary="git push origin docs/install",
    waited_s=3.0,
)


def docked(view: PendingView | None = REQUEST, **facts: Any) -> DockView:
    return DockView(now_us=NOW, pending=view, home="/home/alice", **facts)


def drawn(what: DockView, cells: int, rows: int) -> DockPicture:
    return draw_dock(what, cells, rows, DARK)


def lines(what: DockView, cells: int, rows: int) -> list[str]:
    shown = [line.strip(cells) for line in drawn(what, cells, rows).lines]
    assert all(strip.cell_length == cells for strip in shown)
    return [strip.text.rstrip() for strip in shown]


def test_eight_lines_from_100_columns_and_30_rows() -> None:
    shown = lines(docked(count=2), 120, 8)
    assert len(shown) == 8
    assert shown[1] == (
        "   !!! CRITICAL    Bash   api-fix  claude   #a41f   1 of 2"
        + " " * 20
        + "━" * 10
        + "─" * 14
        + "   denied in 0:23"
    )
    assert shown[3] == "  " + COMMAND
    assert shown[5].startswith("  why    runs in a shell what it downloads; deletes recursively")
    assert shown[6] == "  cwd    ~/src/api     rule  net.pipe-to-shell"
    assert shown[0] == shown[2] == shown[4] == shown[7] == ""


def test_six_lines_at_80_by_24() -> None:
    shown = lines(docked(count=2), 80, 6)
    assert len(shown) == 6
    assert shown[0].startswith("   !!! CRITICAL    Bash   api-fix  claude   #a41f")
    assert shown[0].endswith("denied in 0:23")
    assert shown[2] == "  " + COMMAND
    assert shown[5].endswith("1 of 2")


def test_five_lines_at_60_columns() -> None:
    shown = lines(docked(count=2), 60, 5)
    assert shown[0] == "   !!! CRITICAL    Bash   api-fix   #a41f            1 of 2"
    assert shown[1] == "  " + COMMAND
    assert shown[2].startswith("  why  runs in a shell")
    assert shown[4].startswith("  denied in 0:23  ━━━")


def test_one_line_outside_the_monitor() -> None:
    (shown,) = lines(docked(count=2, one_line=True), 120, 1)
    assert "#a41f   rm -rf build/" in shown
    assert shown.endswith("denied in 0:23")
    assert "━━━" in shown
    assert not drawn(docked(one_line=True), 120, 1).complete


def test_the_size_follows_the_screen() -> None:
    assert dock_rows(120, 40, docked()) == 8
    assert dock_rows(120, 24, docked()) == 6
    assert dock_rows(60, 16, docked()) == 5
    assert dock_rows(120, 40, docked(one_line=True)) == 1
    assert dock_rows(120, 40, docked(None)) == 1


def test_nothing_pending_keeps_the_last_decision() -> None:
    (shown,) = lines(docked(None, last=LAST), 131, 1)
    assert shown == (
        "  nothing pending     last: + allowed  #c0d9  git push origin docs/install"
        "  by operator alice, 1 min ago      silence means denied"
    )
    (short,) = lines(docked(None, last=LAST), 120, 1)
    assert "git push origin d...  by operator alice, 1 min ago   silence means denied" in short
    (narrow,) = lines(docked(None, last=LAST), 80, 1)
    assert narrow == (
        "  nothing pending     last: + allowed  #c0d9  1 min ago    silence means denied"
    )


def test_a_lost_core_is_no_place_where_nothing_pends() -> None:
    (shown,) = lines(docked(None, idle="core lost", quiet="acting calls are denied"), 80, 1)
    assert shown.startswith("  core lost  ")
    assert shown.endswith("acting calls are denied")


def test_a_rule_stands_above_it_where_all_surfaces_look_the_same() -> None:
    assert DARK_16.flat
    assert dock_rows(80, 24, docked(), flat=True) == 7
    shown = [line.strip(80).text for line in draw_dock(docked(), 80, 7, DARK_16).lines]
    assert shown[0] == "─" * 80
    assert [line.rstrip() for line in shown[1:]] == lines(docked(), 80, 6)
    assert dock_rows(60, 16, docked(), flat=True) == 6
    assert len(draw_dock(docked(), 60, 6, DARK_16).lines) == 6


def test_at_60_columns_the_consequence_is_whole_and_the_path_keeps_its_end() -> None:
    codex = docked(pending(agent="codex", own_rules=CONFINED, cwd="/srv/www/sites/shop/backend"))
    told = lines(codex, 60, 5)[3]
    assert told == "  Codex runs it, in its sandbox if any     cwd  .../backend"
    assert drawn(codex, 60, 5).complete
    wider = docked(pending(agent="codex", own_rules=CONFINED, cwd="/srv/www/sites/shop"), count=2)
    assert lines(wider, 80, 6)[5] == (
        "  cwd    /srv/www/sites/shop     Codex runs it, in its sandbox if any    1 of 2"
    )


def test_ap_12_a_long_command_says_how_much_is_missing_and_is_not_complete() -> None:
    long = docked(pending("echo one two three; " * 30))
    shown = lines(long, 80, 6)
    assert shown[3].endswith("...  +5 lines, v to view")
    assert not drawn(long, 80, 6).complete
    assert drawn(docked(), 80, 6).complete


@pytest.mark.parametrize(("cells", "rows"), [(120, 8), (80, 6), (60, 5), (60, 1)])
def test_ap_12_what_is_cut_is_complete_at_no_size(cells: int, rows: int) -> None:
    long = docked(pending("echo one two three; " * 30), one_line=rows == 1)
    assert not drawn(long, cells, rows).complete


def test_other_input_is_told_and_what_cannot_be_told_is_not_complete() -> None:
    def shell(**more: object) -> DockView:
        tool = Tool("Bash", "Bash", "shell", {"command": "ls", **more}, "h")
        return docked(pending("ls", tool=tool))

    assert drawn(shell(description="list", timeout=5), 80, 6).complete
    outside = shell(dangerouslyDisableSandbox=True)
    assert "input  dangerouslyDisableSandbox=true" in lines(outside, 80, 6)[5]
    assert drawn(outside, 80, 6).complete
    assert not drawn(shell(stdin="x" * 500), 120, 8).complete
    edit = Tool("Edit", "Edit", "edit", {"file_path": "a.py", "new_string": "x = 1\n" * 90}, "h")
    assert not drawn(docked(pending("a.py +90 -0", tool=edit)), 120, 8).complete


def test_the_card_says_when_an_allow_or_a_handback_is_not_what_it_seems() -> None:
    codex = docked(pending(agent="codex", own_rules=CONFINED))
    assert lines(codex, 120, 8)[7] == "  Codex runs it, in its sandbox if any"
    assert "Codex runs it, in its sandbox if any" in lines(codex, 80, 6)[5]
    bypass = docked(pending(runs_unasked=True, mode="bypass"))
    assert lines(bypass, 120, 8)[7] == "  handed back, Claude in bypass mode runs it"


def test_the_last_seconds_are_reversed() -> None:
    soon = docked(pending(deadline_at=NOW + 9_000_000))
    head = drawn(soon, 80, 6).lines[0].strip(80)
    words = next(segment for segment in head if segment.text == "denied in 0:09")
    assert words.style
    assert words.style.bgcolor
    assert words.style.bgcolor.name == DARK.colors["fg"]


def test_the_bar_is_empty_only_when_time_is_over() -> None:
    assert [filled_cells(left, 60, 24) for left in (60, 30, 0.5, 0, 90)] == [24, 12, 1, 0, 24]


def test_hostile_words_stay_words() -> None:
    hostile = pending(
        "ls\x1b[2J\u202e",
        label="\x1b]0;pwned\x07",
        agent="\x9b2J",
        reason="[bold]no[/bold]\x1b[31m",
        cwd="/tmp/\u2066x",
        rule="r\x1b",
    )
    text = "\n".join(lines(docked(hostile), 160, 8))
    assert not set(text) & set("\x1b\x9b\x07\u202e\u2066")
    assert "[bold]no[/bold]<U+001B>[31m" in text


@pytest.mark.anyio
async def test_it_reports_each_new_card_once_it_is_drawn_and_draws_only_what_changed() -> None:
    dock = Dock()
    app = Watching(dock)
    async with app.run_test(size=(120, 40)) as pilot:
        dock.show(docked())
        await pilot.pause()
        assert dock.size.height == 8
        assert [card and card.id for card in app.cards] == [REQUEST.id]
        dock.show(docked(blocked={"allow": "not now"}))
        await pilot.pause()
        assert app.cards[-1].blocked == {"allow": "not now"}
        dock.show(docked())
        await pilot.pause()
        before = strips(dock)[0]
        dock.show(DockView(now_us=NOW, pending=REQUEST, home="/home/alice"))
        assert strips(dock)[0] is before
        dock.show(docked(None))
        await pilot.pause()
        assert dock.size.height == 1
        assert app.cards[-1] is None
        assert texts(dock) == ["  nothing pending" + " " * 82 + "silence means denied"]


class Watching(Stage):
    """Collects what the dock reports."""

    def __init__(self, dock: Dock) -> None:
        super().__init__(dock)
        self.cards: list[Any] = []

    def on_dock_drawn(self, message: Dock.Drawn) -> None:
        self.cards.append(message.card)


SEGMENTS = (Segment(1, (0, 13), risk="critical"), Segment(2, (17, 52)), Segment(3, (55, 57)))
FACTS = (Fact("412 files", 1), Fact("3 untracked", 1, grave=True))


def test_the_reasons_name_the_part_that_each_is_about() -> None:
    shown = lines(docked(pending(findings=FINDINGS, segments=SEGMENTS)), 150, 8)
    assert shown[5] == (
        "  why    runs in a shell what it downloads; 1/3 deletes recursively, without asking; "
        "3/3 runs what 2/3 downloads; 2/3 plain http, bare address"
    )


def test_what_it_would_touch_stands_first_and_what_is_lost_for_good_is_bold() -> None:
    view = msgspec.structs.replace(pending(findings=FINDINGS, segments=SEGMENTS), facts=FACTS)
    row = drawn(docked(view), 120, 8).lines[6].strip(120)
    assert row.text.rstrip() == (
        "  touch  1/3 412 files, 3 untracked     cwd  ~/src/api     rule  net.pipe-to-shell"
    )
    bold = [segment.text for segment in row if segment.style and segment.style.bold]
    assert bold == ["3 untracked"]
    assert lines(docked(view, count=2), 80, 6)[-1] == (
        "  touch  1/3 412 files, 3 untracked     cwd  ~/src/api                   1 of 2"
    )


def test_a_raised_risk_says_so_first() -> None:
    raised = pending(findings=FINDINGS, raised="One level higher: denied 9 s ago as rm -rf x")
    assert lines(docked(raised), 120, 8)[5].startswith(
        "  why    one level higher: denied 9 s ago as rm -rf x; runs in a shell"
    )


@pytest.mark.parametrize(("cells", "rows", "at"), [(120, 8, 7), (80, 6, 4)])
def test_a_safer_way_is_told_at_every_height(cells: int, rows: int, at: int) -> None:
    way = Finding("git.force", "Rewrites", "high", suggest="git push --force-with-lease")
    shown = lines(docked(pending("git push -f", findings=(way,))), cells, rows)
    assert shown[at] == "  safer  git push --force-with-lease"
    assert "cwd" in shown[-1 if rows == 6 else 6]


def test_how_the_session_was_answered_so_far_is_a_quiet_word_at_the_end() -> None:
    shown = lines(docked(hint="you approved 41 of 41, median 0.6 s"), 120, 8)
    assert shown[7].strip() == "you approved 41 of 41, median 0.6 s"


def test_ap_9_marked_requests_are_counted_in_the_head() -> None:
    assert "1 of 3   marked 2" in lines(docked(count=3, marked=2), 120, 8)[1]


def test_what_is_lost_for_good_comes_first_where_not_all_can_be_told() -> None:
    facts = (Fact("412 files in 17 folders and 9 more below them"), Fact("3 untracked", grave=True))
    view = msgspec.structs.replace(pending(), facts=facts)
    wide = lines(docked(view), 120, 8)[6]
    assert "touch  412 files in 17 folders and 9 more below them, 3 untracked" in wide
    assert "touch  3 untracked, 412 files in 17 fol" in lines(docked(view), 80, 6)[5]


def test_the_path_is_cut_before_what_would_be_lost_for_good() -> None:
    """At 80 columns, where the folder's whole name would cut the fact to "3 not i..."."""
    lost = Fact("415 files, 830 B, 3 not in git", grave=True)
    view = msgspec.structs.replace(pending(cwd="/srv/internal/projects/api"), facts=(lost,))
    shown = drawn(docked(view, count=2), 80, 6)
    row = shown.lines[5].strip(80).text
    assert "touch  415 files, 830 B, 3 not in git     cwd  ...nal/projects/api  " in row
    assert shown.complete


def test_a_row_that_is_cut_between_its_pieces_stays_within_its_cells() -> None:
    row = (Piece("abcdefg"), Piece(", "), Piece("more"))
    line = StyledLine(DARK)
    draw_row(line, row, 10)
    assert line.left_cells == 10


def test_a_reason_that_several_parts_share_is_said_once() -> None:
    segments = (Segment(1, (0, 5)), Segment(2, (9, 14)))
    reason = "No rule knows this command"
    unknown = [
        Finding("policy.no-rule", reason, "medium", each.span, each.number) for each in segments
    ]
    view = pending("foo a && bar b", reason=reason, findings=tuple(unknown), segments=segments)
    assert lines(docked(view), 120, 8)[5] == "  why    1/2, 2/2 no rule knows this command"
