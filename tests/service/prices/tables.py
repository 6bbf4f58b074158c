"""A small table of prices in the form in which genai-prices publishes its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from watchgate.core.usage.usage_calls import UsageCall
from watchgate.service.prices.price_files import FetchedTable, write_fetched

DAY_US = 86_400_000_000
NOW_US = 1_795_305_600_000_000  # 2026-11-22
PICO = 1_000_000
"""Pico-dollars a token, for each dollar of a million tokens."""


def model(name: str, prices: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "match": {"equals": name}, "prices": prices, **more}


def provider(name: str, begins: str, *models: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "api_pattern": f"https://{name}",
        "model_match": {"starts_with": begins},
        "models": list(models),
    }


def keep(path: Path, table: Any, at_us: int = NOW_US) -> None:
    raw = msgspec.Raw(msgspec.json.encode(table))
    write_fetched(path, FetchedTable(fetched_us=at_us, url="https://prices.test", providers=raw))


def call(name: str, **more: Any) -> UsageCall:
    return UsageCall(id="c", session="s", model=name, **{"at_us": NOW_US, **more})
