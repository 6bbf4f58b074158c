"""What a look back cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.service.usage import disk
from watchgate.agents.usage import usage_places
from watchgate.core.lookback.lookback_report import ModelCost
from watchgate.service.prices.prices import Prices
from watchgate.service.usage.transcript_look import lookback_cost


def line(model: str, call: str, at: str = disk.SAID) -> dict[str, Any]:
    usage = {"input_tokens": 1_000_000, "output_tokens": 0}
    message = {"id": call, "model": model, "stop_reason": "end_turn", "usage": usage}
    return {
        "type": "assistant",
        "sessionId": call,
        "uuid": call,
        "requestId": f"req_{call}",
        "timestamp": at,
        "message": message,
    }


def cost(home: Path) -> ModelCost:
    prices = Prices((), now_us=disk.NOON_US)
    since_us = disk.NOON_US - disk.DAY_US
    return lookback_cost(
        usage_places({}, str(home)), prices, since_us, lambda at: at // disk.DAY_US
    )


def test_calls_since_then_are_priced_and_those_of_before_are_not(tmp_path: Path) -> None:
    old = line("claude-opus-4-5", "msg_old", "2026-10-01T00:00:00Z")
    disk.write(tmp_path / ".claude/projects/p/a.jsonl", old, line("claude-opus-4-5", "msg_1"))
    found = cost(tmp_path)
    assert (found.usd_nano, found.is_lower_bound, found.unpriced) == (5_000_000_000, False, ())
    assert (found.calls, found.tokens) == (1, 1_000_000)
    assert "genai-prices" in found.prices


def test_a_model_without_a_price_makes_it_a_lower_bound_or_unknown(tmp_path: Path) -> None:
    path = tmp_path / ".claude/projects/p/a.jsonl"
    disk.write(path, line("claude-nova-99", "msg_2"))
    assert (cost(tmp_path).usd_nano, cost(tmp_path).unpriced) == (None, ("claude-nova-99",))
    disk.write(path, line("claude-nova-99", "msg_2"), line("claude-opus-4-5", "msg_1"))
    assert (cost(tmp_path).usd_nano, cost(tmp_path).is_lower_bound) == (5_000_000_000, True)


def test_without_any_usage_there_is_no_price_to_tell(tmp_path: Path) -> None:
    assert cost(tmp_path) == ModelCost()
