"""What Claude Code reports of tokens, money and its context, in its status line and its stream."""

from __future__ import annotations

from watchgate.agents.claude import status, stream
from watchgate.core.events import Usage

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

    assert status.usage(payload) == Usage(
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

    assert status.usage({"context_window": window}).context_used == 52_000
    assert status.usage({"context_window": {"used_percentage": 26}}).context_used is None


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
