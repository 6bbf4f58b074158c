"""What Claude Code reports of tokens, money and its context, in its status line and its stream."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given

from tests.agents.usage.reads import JSON
from watchgate.agents.claude import claude_status, stream
from watchgate.agents.proxied.wrapped import WrappedMessage
from watchgate.core.model.events import Usage
from watchgate.core.model.usage_records import Limit

NEWEST = {
    "input_tokens": 8,
    "output_tokens": 512,
    "cache_creation_input_tokens": 3_100,
    "cache_read_input_tokens": 257_892,
}


def test_the_status_line_tells_of_the_newest_call_and_the_context() -> None:
    payload = {
        "model": {"id": "m"},
        "cost": {"total_cost_usd": 1.5},
        "context_window": {"context_window_size": 1_000_000, "current_usage": NEWEST},
    }

    assert claude_status.status_usage(payload) == Usage(
        input=8,
        output=512,
        cache_read=257_892,
        cache_write=3_100,
        total_cost_usd=1.5,
        model="m",
        counts="newest",
        context_used=261_000,
        context_size=1_000_000,
    )


def test_the_share_of_the_context_will_do_where_no_call_is_told() -> None:
    window = {"context_window_size": 200_000, "used_percentage": 26}

    assert claude_status.status_usage({"context_window": window}).context_used == 52_000
    assert (
        claude_status.status_usage({"context_window": {"used_percentage": 26}}).context_used is None
    )


def test_a_result_tells_of_all_models_so_far() -> None:
    models = {
        "big": {"inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 9},
        "small": {"inputTokens": 1, "outputTokens": 1},
    }

    assert stream.usage({"modelUsage": models, "usage": NEWEST, "total_cost_usd": 0.5}) == Usage(
        input=6, output=3, cache_read=9, total_cost_usd=0.5, counts="total"
    )


def test_a_result_without_models_tells_of_its_turn() -> None:
    assert stream.usage({"usage": NEWEST}) == Usage(
        input=8, output=512, cache_read=257_892, cache_write=3_100
    )


FIVE_HOURS = {"used_percentage": 42.0, "resets_at": 1_793_700_000}
SEVEN_DAYS = {"used_percentage": 36.1, "resets_at": 1_794_100_000}
LIMITS = {"five_hour": FIVE_HOURS, "seven_day": SEVEN_DAYS}


def test_the_status_line_tells_of_the_rate_limits_of_the_account() -> None:
    assert claude_status.status_usage({"rate_limits": LIMITS}).limits == (
        Limit(
            name="five_hour",
            used_percent=42.0,
            window_min=300,
            resets_at=1_793_700_000_000_000,
        ),
        Limit(
            name="seven_day",
            used_percent=36.1,
            window_min=10_080,
            resets_at=1_794_100_000_000_000,
        ),
    )


def test_the_printed_line_has_the_windows_that_are_told() -> None:
    told = {"model": {"display_name": "Opus"}, "cost": {"total_cost_usd": 1.5}}

    assert claude_status.status_text(told) == "watchgate · Opus · $1.50"
    assert (
        claude_status.status_text(told | {"rate_limits": LIMITS})
        == "watchgate · Opus · $1.50 · 5h 42% · 7d 36%"
    )
    assert (
        claude_status.status_text({"rate_limits": {"seven_day": SEVEN_DAYS}})
        == "watchgate · 7d 36%"
    )


@pytest.mark.parametrize(
    "window",
    [
        {"resets_at": 5},
        {"used_percentage": "42"},
        {"used_percentage": -1},
        {"used_percentage": 10**400},
        [],
        None,
    ],
)
def test_a_window_of_which_nobody_says_how_full_it_is_is_none(window: Any) -> None:
    assert claude_status.status_usage({"rate_limits": {"five_hour": window}}).limits == ()


def test_when_a_window_ends_may_not_be_told() -> None:
    told = {"five_hour": {"used_percentage": 0, "resets_at": "soon"}, "odd": {"used_percentage": 7}}

    assert claude_status.status_usage({"rate_limits": told}).limits == (
        Limit(name="five_hour", used_percent=0, window_min=300),
        Limit(name="odd", used_percent=7),
    )


def meaning(info: Any) -> Any:
    line = {"type": "rate_limit_event", "rate_limit_info": info, "session_id": "s"}
    return stream.meaning(WrappedMessage(message=line), {})


def test_a_stream_tells_of_all_windows_or_of_one() -> None:
    windows = {
        "five_hour": {"utilization": 0.25, "resetsAt": 1_790_421_000},
        "seven_day": {"utilization": 0.5, "resetsAt": 1_790_470_800},
    }
    five = Limit(
        name="five_hour", used_percent=25.0, window_min=300, resets_at=1_790_421_000_000_000
    )
    kind, body = meaning({"status": "allowed", "unifiedWindows": windows})
    assert (kind, body.limits[0], len(body.limits)) == ("usage", five, 2)
    one = windows["five_hour"] | {"status": "allowed_warning", "rateLimitType": "five_hour"}
    assert meaning(one) == ("usage", Usage(limits=(five,)))


def test_a_stream_that_says_only_that_all_is_well_is_a_notice() -> None:
    kind, _ = meaning({"status": "allowed", "rateLimitType": "five_hour", "resetsAt": 5})

    assert kind == "notice"


@given(JSON)
def test_whatever_a_status_line_has_is_no_error(odd: Any) -> None:
    for payload in (
        {"rate_limits": odd},
        {"rate_limits": {"five_hour": odd}},
        {"rate_limits": {"five_hour": {"used_percentage": odd, "resets_at": odd}}},
        {"cost": {"total_cost_usd": odd}},
    ):
        assert claude_status.status_text(payload).startswith("watchgate")
        msgspec.json.encode(claude_status.status_usage(payload))
    assert meaning(odd)
