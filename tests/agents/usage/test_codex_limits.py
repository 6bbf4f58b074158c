"""The rate limits that rollouts tell."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.usage.codex_rollout import AT, AT_US, line, read
from watchgate.core.model.usage_records import Limit

RESETS_S, RESETS_US = 1_793_700_000, 1_793_700_000_000_000


def told(*windows: Any, at: str = AT, **over: Any) -> dict[str, Any]:
    names = ("primary", "secondary")
    limits = {**dict(zip(names, windows, strict=False)), **over}
    return line("event_msg", {"type": "token_count", "info": None, "rate_limits": limits}, at)


def window(used: Any, minutes: Any, **over: Any) -> dict[str, Any]:
    return {"used_percent": used, "window_minutes": minutes, "resets_at": RESETS_S, **over}


def test_windows_are_named_by_their_length_and_the_shorter_comes_first() -> None:
    facts = read(told(window(36.1, 10_080), window(12.5, 300))).facts
    assert facts.limits == (
        Limit(name="5 h", used_percent=12.5, window_min=300, resets_at=RESETS_US),
        Limit(name="7 d", used_percent=36.1, window_min=10_080, resets_at=RESETS_US),
    )
    assert facts.limits_at_us == AT_US


@pytest.mark.parametrize(
    ("minutes", "name"),
    [
        (299, "5 h"),
        (10_079, "7 d"),
        (1_440, "1 d"),
        (45, "45 min"),
        (90, "90 min"),
        (None, "limit"),
    ],
)
def test_a_window_a_minute_short_has_the_name_people_give_it(minutes: Any, name: str) -> None:
    assert [limit.name for limit in read(told(window(1, minutes))).facts.limits] == [name]


def test_the_newest_telling_counts() -> None:
    later = told(window(20, 300), at="2026-11-02T09:00:02.123Z")
    facts = read(told(window(10, 300)), later, told(None, None)).facts
    assert [limit.used_percent for limit in facts.limits] == [20]
    assert facts.limits_at_us == AT_US + 1_000_000


def test_a_window_that_tells_when_it_resets_from_now_is_counted_from_its_line() -> None:
    old = {"used_percent": 3, "window_minutes": 300, "resets_in_seconds": 60}
    assert [limit.resets_at for limit in read(told(old)).facts.limits] == [AT_US + 60_000_000]


def test_limits_of_one_model_are_not_taken_for_those_of_the_account() -> None:
    own = told(window(10, 300), limit_id="codex", limit_name=None)
    other = told(window(99, 300), limit_id="codex_spark", limit_name="Spark")
    assert [limit.used_percent for limit in read(own, other).facts.limits] == [10]


@pytest.mark.parametrize("used", [None, "12", True, -1, {}, 1e300])
def test_a_window_without_a_sensible_percentage_is_left_out(used: Any) -> None:
    reader = read(told(window(used, 300), window(5, 10_080, resets_at="soon")))
    assert [(limit.name, limit.resets_at) for limit in reader.facts.limits] == [("7 d", 0)]
    assert reader.unreadable == 0


def test_limits_of_another_shape_do_not_spoil_the_usage_beside_them() -> None:
    info = {"total_token_usage": {"input_tokens": 7}}
    payload = {"type": "token_count", "info": info, "rate_limits": ["?"]}
    reader = read(line("event_msg", payload))
    assert ([call.input for call in reader.take()], reader.unreadable) == ([7], 0)
