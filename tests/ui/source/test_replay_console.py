"""A session is played in the console: its banner, its keys, and the way back."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import pytest

from tests.ui.console_bench import Bench, running
from tests.ui.past_picture import NEWEST, past
from tests.ui.picture import CRITICAL, quiet
from tests.ui.replay_bench import (
    IDLE_AT,
    REFUSED,
    answers,
    go_to,
    idle,
    player_of,
    recorded,
    replayed,
    replaying,
    session,
)
from watchgate.core.model.records import Record
from watchgate.link.protocol import Refusal
from watchgate.ui.commands.key_registry import KEYS
from watchgate.ui.keys.keymap import Keymap
from watchgate.ui.screens.history_screen import HistoryScreen
from watchgate.ui.source import replay_source

NAMES = {
    "?": "question_mark", ":": "colon", ",": "comma", ".": "full_stop", "<": "less_than_sign",
    ">": "greater_than_sign", "{": "left_curly_bracket", "}": "right_curly_bracket",
    "$": "dollar_sign", "-": "minus", "+": "plus", "=": "equals_sign",
}  # fmt: skip
LOST_WAY = "the core is lost, and with it the way to its records"
ASKED = next(place for place, r in enumerate(recorded(), 1) if r.kind == "approval.requested")
MIDDLE = 60


def first(wanted: Callable[[Record], bool], after: int = 0) -> int:
    """The first place behind another at which such a record is the last that was played."""
    return next(p for p, r in enumerate(recorded(), 1) if p > after and wanted(r))


def is_call(record: Record) -> bool:
    return record.kind == "tool.pre"


def is_request(record: Record) -> bool:
    return record.kind == "approval.requested"


def last(wanted: Callable[[Record], bool], before: int) -> int:
    """The last place in front of another."""
    return max(p for p, r in enumerate(recorded(), 1) if p < before and wanted(r))


async def test_the_banner_says_that_it_is_one_and_where_it_stands() -> None:
    async with replaying() as hands:
        await go_to(hands, IDLE_AT)
        banner = hands.screen.splitlines()[0]
        assert " REPLAY   paused   " in banner
        assert "0:27 of 1:28" in banner
        assert f"record {IDLE_AT} of {len(recorded())}" in banner
        assert "watchgate  guard" in hands.screen


async def test_it_plays_by_itself_at_the_recorded_pace() -> None:
    async with replaying() as hands:
        hands.clock.advance(10)
        await hands.settle()
        assert player_of(hands.app).film_s == pytest.approx(10)
        await hands.press("plus")
        before = player_of(hands.app).film_s
        hands.clock.advance(10)
        await hands.settle()
        assert player_of(hands.app).film_s == pytest.approx(before + 20)
        assert "2x" in hands.screen


async def test_what_was_left_out_is_told_at_every_size() -> None:
    async with replaying(idle(2_465), size=(48, 12)) as hands:
        await go_to(hands, IDLE_AT + 1)
        banner = hands.screen.splitlines()[0]
        assert " REPLAY " in banner
        assert "idle 41 min skipped" in banner
        await go_to(hands, IDLE_AT + 4)
        assert "skipped" not in hands.screen.splitlines()[0]


ACTS = [
    (",", MIDDLE - 1),
    (".", MIDDLE + 1),
    ("<", last(is_call, MIDDLE)),
    (">", first(is_call, MIDDLE)),
    ("{", MIDDLE),
    ("}", first(is_request, MIDDLE)),
    ("0", 1),
    ("$", len(recorded())),
]


async def test_the_keys_go_there() -> None:
    async with replaying() as hands:
        for key, place in ACTS:
            await go_to(hands, MIDDLE)
            await hands.press(NAMES.get(key, key))
            assert player_of(hands.app).played == place, key
            assert hands.app.bridge.state.seq == recorded()[place - 1].seq, key
        await go_to(hands, MIDDLE)
        await hands.press(*["full_stop"] * 5, apart_s=0.03)
        assert player_of(hands.app).played == MIDDLE + 5, "a key that is held down"


async def test_it_pauses_and_goes_on_faster_slower_and_by_minutes() -> None:
    async with replaying() as hands:
        player = player_of(hands.app)
        assert "space pause" in hands.screen
        await hands.press("space")
        assert player.paused
        assert "space go on" in hands.screen
        before = player.film_s
        await hands.press("right")
        assert player.film_s == pytest.approx(before + 60)
        await hands.press("left")
        assert player.film_s == pytest.approx(before)
        speeds = []
        for key in "+=--":
            await hands.press(NAMES[key])
            speeds.append(player.speed)
        assert speeds == [2.0, 4.0, 2.0, 1.0]
        await hands.press("space")
        assert not player.paused


def test_every_key_that_plays_is_pressed_here() -> None:
    pressed = {key for key, _ in ACTS} | {"space", "left", "right", "+", "=", "-"}
    keymap = Keymap(KEYS)
    assert pressed == {name for key in keymap.group("replay") for name in key.keys}


async def test_a_request_that_waited_looks_as_it_looked_at_the_recorded_time() -> None:
    async with replaying() as hands:
        await go_to(hands, ASKED)
        for told in ("HIGH", "git push --force origin docs/install", "denied in 0:59", "PENDING"):
            assert told in hands.screen
        player_of(hands.app).pause()
        hands.clock.advance(4)
        await hands.settle()
        assert "denied in 0:55" in hands.screen


async def test_ap_15_a_key_that_would_do_something_says_why_it_does_not() -> None:
    async with replaying() as hands:
        await go_to(hands, ASKED)
        for key, reason in REFUSED.items():
            await hands.press(key)
            assert hands.app.desk.note == reason, key
            assert player_of(hands.app).played == ASKED
            assert hands.app.bridge.state.pending
        for action in ("stop", "gate_off"):
            hands.app.perform(action)
            assert hands.app.desk.note == "a replay has no core; q leaves it"
        await go_to(hands, 5)
        for key, says in (("d", "nothing is decided here"), ("y", "no key decides here")):
            await hands.press(key)
            assert hands.app.desk.note == f"a replay: {says}"


async def test_nothing_is_said_of_a_gate_that_nothing_was_recorded_of() -> None:
    async with replaying(session()) as hands:
        assert "watchgate" in hands.screen
        assert "guard" not in hands.screen


async def test_every_screen_shows_the_recording() -> None:
    async with replaying() as hands:
        await go_to(hands, len(recorded()))
        for key in "2345":
            await hands.press(key)
            if key != "2":
                await hands.until(lambda: "api-fix" in hands.screen)
            assert " REPLAY " in hands.screen
        await hands.press("enter")
        await hands.until(lambda: "asked" in hands.screen)
        await hands.press("p")
        assert hands.app.desk.note == "this is a replay already"


async def test_help_and_palette_tell_its_keys() -> None:
    async with replaying() as hands:
        await hands.press("question_mark")
        assert "play the recording" in hands.screen
        assert "a record back, on" in hands.screen
        assert "deny, and tell the model why" not in hands.screen
        await hands.press("colon")
        await hands.type("film_end")
        await hands.press("enter")
        await hands.settle()
        assert player_of(hands.app).over


async def test_a_console_that_was_opened_on_a_recording_is_left_with_a_line() -> None:
    async with replaying() as hands:
        await hands.press("q")
        left = hands.app.return_value
        assert left == "watchgate: the replay is over; nothing of it reached a core or an agent"


async def test_p_in_the_history_plays_the_session_of_the_call() -> None:
    async with replayed() as bench:
        asked = [r for r in bench.source.asked if (r.verb, r.what) == ("search", "records")]
        mine = past()[0]
        assert f"agent:{mine.agent} session:{mine.session}" in {r.filter for r in asked}
        assert player_of(bench.app).count == len(recorded())
        assert bench.app.pages.top is bench.app.monitor
        await bench.press("ctrl+c")
        assert bench.app.desk.note == "ctrl+c again leaves the replay"
        await bench.press("ctrl+c")
        assert not bench.app.stage.replaying


async def test_q_goes_back_to_the_call_that_it_was_started_from() -> None:
    async with running(quiet()) as bench:
        bench.source.answer = answers
        await bench.press("5")
        await bench.until(lambda: bench.app.screen.items)  # type: ignore[attr-defined]
        await bench.press("slash")
        await bench.type("agent:claude")
        await bench.press("enter", "j")
        chosen = _history(bench).selected
        await bench.press("enter", "p")
        await bench.until(lambda: bench.app.stage.replaying)
        await bench.settle()
        await bench.press("q")
        await bench.until(lambda: isinstance(bench.app.screen, HistoryScreen))
        await bench.until(lambda: _history(bench).past.begun)
        await bench.settle()
        assert _history(bench).where == "timeline"
        assert _history(bench).narrowed == "agent:claude"
        assert _history(bench).selected == chosen is not None
        assert bench.app.bridge.state.seq == quiet().seq
        assert "REPLAY" not in bench.screen


def _history(bench: Bench) -> HistoryScreen:
    screen = bench.app.screen
    assert isinstance(screen, HistoryScreen)
    return screen


async def test_the_cursor_of_the_calls_and_their_filter_are_where_they_were() -> None:
    async with running(quiet()) as bench:
        bench.source.answer = answers
        await bench.press("slash")
        await bench.type("session:docs")
        await bench.press("enter", "k", "k")
        row = bench.app.monitor.table.selected
        await bench.press("5")
        await bench.until(lambda: bench.app.screen.items)  # type: ignore[attr-defined]
        await bench.press("p")
        await bench.until(lambda: bench.app.stage.replaying)
        await bench.settle()
        assert bench.app.desk.filter == ""
        await bench.press("dollar_sign", "q", "1")
        assert bench.app.desk.filter == "session:docs"
        assert bench.app.monitor.table.selected == row is not None
        assert not bench.app.monitor.table.follow


async def test_who_waits_meanwhile_is_told() -> None:
    async with replayed(quiet()) as bench:
        assert "PENDING" not in bench.screen
        bench.source.feed(*_requested())
        tells = re.compile(r"1 request now: [A-Z]+ denied in \d:\d\d, q leaves the replay")
        await bench.until(lambda: tells.search(bench.screen))
        await bench.press("q")
        await bench.until(lambda: "1 PENDING" in bench.screen)


def _requested() -> list[Record]:
    """Some call that is held at the core now."""
    place = ASKED - 1
    about = recorded()[place].call
    held = [r for r in recorded()[: place + 1] if r.call == about]
    return [msgspec.structs.replace(r, seq=NEWEST + 100 + n) for n, r in enumerate(held)]


async def test_what_was_pressed_in_a_replay_counts_for_nothing_behind_it() -> None:
    """The same request, open at the core, is shown anew: its keys wait as for any other."""
    async with replayed() as bench:
        assert CRITICAL in bench.app.stage.live.state.pending  # type: ignore[union-attr]
        await bench.press("d", "q", apart_s=0.3)
        await bench.settle()
        assert not [r for r in bench.source.asked if r.verb == "decide"]
        assert bench.app.operator.drawn_id is None or not bench.app.operator.shown_in_full


async def test_records_that_do_not_come_are_told() -> None:
    async with running(quiet()) as bench:
        bench.source.answer = answers
        await bench.press("5")
        await bench.until(lambda: bench.app.screen.items)  # type: ignore[attr-defined]
        bench.source.answer = lambda r: Refusal(id=r.id, refused="failed", message="disk gone")
        await bench.press("p")
        assert "not played: disk gone" in bench.screen
        assert not bench.app.stage.replaying


async def test_of_a_very_long_session_the_newest_records_are_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replay_source, "RECORDS_MAX", 70)
    async with replayed() as bench:
        assert [r.seq for r in player_of(bench.app).film.records] == [
            r.seq for r in recorded()[-70:]
        ]
        assert "its newest 70 records; `watchgate replay` plays all of them" in bench.screen


async def test_a_page_of_one_session_plays_it() -> None:
    async with running(quiet()) as bench:
        bench.source.answer = answers
        await bench.press("s", "v")
        chosen = bench.app.pages.top.playable
        await bench.press("p")
        about = f"agent:{chosen[0]} session:{chosen[1]}" if chosen else ""
        assert about in {r.filter for r in bench.source.asked}
        await bench.until(lambda: bench.app.stage.replaying)
        await bench.press("q")
        assert bench.app.pages.top.playable == chosen is not None


async def test_without_its_core_no_session_is_played() -> None:
    async with running(quiet()) as bench:
        bench.source.answer = answers
        await bench.press("5")
        await bench.until(lambda: bench.app.screen.items)  # type: ignore[attr-defined]
        bench.source.lose()
        await bench.until(lambda: bench.app.bridge.link.lost)
        await bench.press("p")
        assert bench.app.desk.note == LOST_WAY


async def test_a_name_in_a_file_never_reaches_the_terminal_as_a_command() -> None:
    hostile = "\x1b]0;evil\x07\u202e"
    records = tuple(
        msgspec.structs.replace(each, request=hostile) if each.request else each
        for each in recorded()
    )
    async with replaying(records) as hands:
        await go_to(hands, ASKED)
        assert not set(hostile[:1] + hostile[-1:]) & set(hands.screen)
        assert "<U+001B>]0;" in hands.screen
