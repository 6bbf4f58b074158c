"""Where a film stands: by records, by time, by the keys; idle gaps are cut."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.model.records import Record
from watchgate.ui.source.film import IDLE_S, Film
from watchgate.ui.source.replay_source import SPEEDS, Player


def film(*seconds: float, kinds: str = "") -> Film:
    """Records at these seconds; of `kinds`, `c` is a call and `r` a request."""
    named = {"c": "tool.pre", "r": "approval.requested"}
    return Film(
        [
            Record(v=1, seq=seq, core="core", at=round(second * 1_000_000), data={},
                   kind=named.get(kinds[seq - 1 : seq], "notice"))
            for seq, second in enumerate(seconds, 1)
        ]
    )  # fmt: skip


def test_records_are_played_when_their_time_has_come() -> None:
    player = Player(film(0, 1, 3))
    seen = [player.played]
    for _ in range(3):
        player.advance(1.0)
        seen.append(player.played)
    assert seen == [1, 2, 2, 3]
    assert player.over


def test_the_time_shown_is_the_recorded_one() -> None:
    player = Player(film(10, 12))
    player.advance(1.5)
    assert player.now_us == 11_500_000


def test_an_idle_gap_is_cut_and_told() -> None:
    player = Player(film(0, 2_465, 2_466))
    assert player.film.end_s == IDLE_S + 1
    player.advance(IDLE_S - 0.5)
    assert (player.played, player.skipped_s) == (1, 0)
    player.advance(0.5)
    assert (player.played, player.skipped_s) == (2, 2_460)
    assert player.now_us == 2_465_000_000


def test_what_was_cut_is_no_longer_told_after_a_while() -> None:
    player = Player(film(0, 100, 104.9))
    player.advance(IDLE_S)
    told = [player.skipped_s]
    for _ in range(4):
        player.advance(1.0)
        told.append(player.skipped_s)
    assert told == [95, 95, 95, 95, 0]


def test_a_clock_that_was_set_back_holds_nothing_up() -> None:
    player = Player(film(100, 40, 101))
    assert player.played == 2
    assert player.film.end_s == 1


def test_paused_it_stands_still() -> None:
    player = Player(film(0, 1))
    player.pause()
    player.advance(10)
    assert player.played == 1
    player.pause()
    player.advance(10)
    assert player.played == 2


def test_after_the_end_it_starts_again() -> None:
    player = Player(film(0, 1))
    player.to_end()
    player.pause()
    assert (player.played, player.paused, player.over) == (1, False, False)


def test_a_step_stops_at_the_next_record_even_of_the_same_moment() -> None:
    player = Player(film(0, 5, 5, 5))
    player.step(+1)
    assert (player.played, player.paused) == (2, True)
    player.step(+1)
    assert player.played == 3
    player.step(-2)
    assert player.played == 1
    player.step(-1)
    assert player.played == 1


@pytest.mark.parametrize(
    ("move", "places"),
    [(Player.step_call, [2, 4, 6, 6]), (Player.step_request, [3, 7, 7])],
)
def test_it_goes_from_call_to_call_and_from_request_to_request(
    move: Callable[[Player, int], None], places: list[int]
) -> None:
    player = Player(film(0, 1, 1, 2, 3, 4, 5, kinds=" crc cr"))
    went = []
    for _ in places:
        move(player, +1)
        went.append(player.played)
    assert went == places
    move(player, -1)
    assert player.played == places[-3 if places[-2] == places[-1] else -2]


def test_a_minute_is_one_of_the_film() -> None:
    player = Player(film(*range(0, 200, 2)))
    player.seek(60)
    assert player.film_s == 60
    player.seek(-90)
    assert (player.film_s, player.played) == (0, 1)


def test_the_speed_goes_up_and_down_between_its_ends() -> None:
    player = Player(film(0, 1), speed=3.0)
    player.faster()
    assert player.speed == 4.0
    for _ in SPEEDS:
        player.faster()
    assert player.speed == SPEEDS[-1]
    for _ in SPEEDS:
        player.slower()
    assert player.speed == SPEEDS[0]


def test_an_empty_recording_is_no_film() -> None:
    with pytest.raises(ValueError, match="without records"):
        film()


MOVES = st.one_of(
    st.tuples(st.just("advance"), st.floats(0, 50)),
    st.tuples(st.sampled_from(["seek"]), st.floats(-200, 200)),
    st.tuples(st.sampled_from(["step", "step_call", "step_request"]), st.sampled_from([-1, 1])),
    st.tuples(st.sampled_from(["pause", "to_start", "to_end", "faster", "slower"]), st.none()),
)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=30), st.text("cr ", max_size=30),
       st.lists(MOVES, max_size=30))  # fmt: skip
def test_wherever_it_goes_it_shows_what_was_recorded_by_then(
    seconds: list[int], kinds: str, moves: list[tuple[str, float | None]]
) -> None:
    player = Player(film(*seconds, kinds=kinds.ljust(30)))
    for name, by in moves:
        getattr(player, name)(*(() if by is None else (by,)))
        times, last = player.film.at_us, player.played - 1
        assert 1 <= player.played <= player.count
        assert times[last] <= player.now_us
        assert player.over or player.now_us <= times[player.played]
        assert 0 <= player.film_s <= player.film.end_s
        assert player.played <= player.film.played_at(player.film_s)
