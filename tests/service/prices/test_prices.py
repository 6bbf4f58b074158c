"""What a model charges: by its date, hour, tier and context, by one's own price, or not known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.service.prices.tables import DAY_US, NOW_US, PICO, call, keep, model, provider
from watchgate.core.config.config_sections import PriceConfig
from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.pricing import Rates, cost
from watchgate.service.prices.prices import Prices

EVEN = {"input_mtok": 3, "output_mtok": 15}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "prices.json"


def priced(place: Path, prices: Any, **more: Any) -> Prices:
    """The prices of a table with one model, `nova-1`."""
    keep(place, [provider("novas", "nova", model("nova-1", prices, **more))])
    return Prices(fetched=place, now_us=NOW_US)


def rates(prices: Prices, read: int = 0, **more: Any) -> Rates:
    tariff = prices.tariff_of(call("nova-1", **more))
    assert tariff is not None
    return tariff.rates(read)


def test_a_cache_without_a_price_costs_what_other_tokens_cost(place: Path) -> None:
    assert rates(priced(place, EVEN)) == Rates(
        input=3 * PICO, output=15 * PICO, cache_read=3 * PICO, cache_5m=3 * PICO, cache_1h=3 * PICO
    )


def test_an_hour_in_a_cache_costs_what_five_minutes_cost_unless_it_has_a_price(place: Path) -> None:
    short = rates(priced(place, EVEN | {"cache_write_mtok": 3.75}))
    both = rates(priced(place, EVEN | {"cache_write_mtok": 3.75, "cache_write_1h_mtok": 6}))
    assert (short.cache_5m, short.cache_1h) == (3_750_000, 3_750_000)
    assert (both.cache_5m, both.cache_1h) == (3_750_000, 6_000_000)


def test_more_tokens_than_a_tier_starts_at_are_charged_by_it_as_a_whole(place: Path) -> None:
    tiers = {"base": 3, "tiers": [{"start": 200_000, "price": 6}, {"start": 400_000, "price": 9}]}
    prices = priced(place, EVEN | {"input_mtok": tiers})
    found = [rates(prices, read).input for read in (200_000, 200_001, 400_000, 400_001)]
    assert found == [3 * PICO, 6 * PICO, 6 * PICO, 9 * PICO]
    assert rates(prices, 400_001).output == 15 * PICO


def test_a_call_is_charged_by_the_prices_of_its_day(place: Path) -> None:
    later = {"constraint": {"start_date": "2026-11-22"}, "prices": {**EVEN, "input_mtok": 4}}
    prices = priced(place, [{"prices": EVEN}, later])
    assert rates(prices, at_us=NOW_US - 1).input == 3 * PICO
    assert rates(prices, at_us=NOW_US).input == 4 * PICO


def test_a_call_is_charged_by_the_prices_of_its_hour(place: Path) -> None:
    night = {"start_time": "23:00:00Z", "end_time": "02:30:00Z"}
    cheap = {"constraint": night, "prices": {**EVEN, "input_mtok": 1}}
    prices = priced(place, [{"prices": EVEN}, cheap])
    hour = DAY_US // 24
    found = {
        hours: rates(prices, at_us=NOW_US + int(hours * hour)).input // PICO
        for hours in (0, 2.25, 2.5, 12, 22.75, 23, 47.5)
    }
    assert found == {0: 1, 2.25: 1, 2.5: 3, 12: 3, 22.75: 3, 23: 1, 47.5: 1}


def test_hours_count_from_the_nearest_quarter_however_calls_are_read(place: Path) -> None:
    cheap = {"start_time": "10:04:00Z", "end_time": "12:59:59Z"}
    prices = [
        {"prices": {"input_mtok": 4, "output_mtok": 8}},
        {"constraint": cheap, "prices": {"input_mtok": 1, "output_mtok": 2}},
    ]
    keep(place, [provider("acme", "m", model("m-hours", prices))])
    table = Prices(fetched=place, now_us=NOW_US)
    minutes = (9 * 60 + 59, 10 * 60 + 1, 10 * 60 + 6, 12 * 60 + 59, 13 * 60)
    calls = [
        msgspec.structs.replace(
            call("m-hours", at_us=NOW_US + minute * 60_000_000, input=1), id=str(minute)
        )
        for minute in minutes
    ]
    at_once, one_by_one = (Ledger(table.tariff_of, lambda at_us: at_us // DAY_US) for _ in "12")
    at_once.put("f", "claude", calls)
    for each in calls:
        one_by_one.put("f", "claude", [each])
    assert at_once.rows() == one_by_one.rows()
    costs = {counted.call.id: counted.computed for counted in at_once.calls()}
    assert list(costs.values()) == [4 * PICO, PICO, PICO, PICO, 4 * PICO]


def test_an_hour_that_changes_near_midnight_counts_from_midnight(place: Path) -> None:
    day = {"start_time": "00:05:00Z", "end_time": "23:58:00Z"}
    cheap = {"constraint": day, "prices": {**EVEN, "input_mtok": 1}}
    prices = priced(place, [{"prices": EVEN}, cheap])
    minutes = (0, 5, 12 * 60, 24 * 60 - 1)
    found = [rates(prices, at_us=NOW_US + at * 60_000_000).input for at in minutes]
    assert found == [PICO] * 4


def test_words_of_context_choose_another_price(place: Path) -> None:
    quick = {"when": {"speed": "fast"}, "prices": {"input_mtok": 6}}
    first = {"when": {"service_tier": "priority"}, "prices": {"input_mtok": 9}}
    bulk = {"when": {"processing": "batch"}, "prices": {"output_mtok": 7.5}}
    prices = priced(place, EVEN, price_variants=[quick, first, bulk])
    assert rates(prices, context="fast").input == 6 * PICO
    assert rates(prices, context="priority").input == 9 * PICO
    assert rates(prices, context="batch").output == 7_500_000
    assert rates(prices, context="us something").input == 3 * PICO


def test_a_surcharge_that_leaves_a_fraction_is_rounded_up(place: Path) -> None:
    odd = {"input_mtok": 0.000003, "output_mtok": 1, "web_searches_kcount": 10}
    keep(place, [provider("anthropic", "claude", model("claude-x", odd))])
    tariff = Prices(fetched=place, now_us=NOW_US).tariff_of(call("claude-x", context="us"))
    assert tariff is not None
    assert tariff.rates(0).input == 4  # 3.3
    assert tariff.rates(0).output == 1_100_000
    assert tariff.rates(0).web_search == 10_000_000_000


def test_fees_for_searches_calls_and_reasoning(place: Path) -> None:
    fees = {"web_searches_kcount": 10, "requests_kcount": 5, "output_reasoning_mtok": 3}
    prices = priced(place, EVEN | fees)
    used = call("nova-1", output=10, reasoning=4, web_searches=2)
    tariff = prices.tariff_of(used)
    assert tariff is not None
    assert cost(used, tariff) == (6 * 15 + 4 * 3) * PICO + 2 * 10_000_000_000 + 5_000_000_000


@pytest.mark.parametrize(
    "name", ["claude-nova-99", "gpt-99", "nothing like it", "", "<synthetic>", "claude" * 100]
)
def test_a_model_that_is_in_no_table_has_no_price(name: str) -> None:
    assert Prices().tariff_of(call(name)) is None


@pytest.mark.parametrize("prices", [{}, {"input_mtok": 3}, {"output_mtok": 3}])
def test_what_has_no_price_for_reading_and_writing_is_not_free(place: Path, prices: Any) -> None:
    assert priced(place, prices).tariff_of(call("nova-1")) is None


def test_a_price_of_zero_is_one(place: Path) -> None:
    assert rates(priced(place, {"input_mtok": 0, "output_mtok": 0})).input == 0


def test_a_provider_that_the_table_knows_decides_and_another_says_nothing(place: Path) -> None:
    mine = provider("novas", "nova", model("nova-1", EVEN))
    other = provider("stars", "star", model("nova-1", EVEN | {"input_mtok": 1}))
    keep(place, [mine, other])
    prices = Prices(fetched=place, now_us=NOW_US)
    assert rates(prices).input == 3 * PICO
    assert rates(prices, provider="stars").input == 1 * PICO
    assert rates(prices, provider="a proxy").input == 3 * PICO
    assert prices.tariff_of(call("star-1", provider="novas")) is None


def test_ones_own_price_takes_the_place_of_the_table_for_this_very_name(place: Path) -> None:
    own = PriceConfig(model="nova-1", input=0.1, output=0.2, cache_read=0.01, web_search=3)
    keep(place, [provider("novas", "nova", model("nova-1", EVEN), model("nova-1b", EVEN))])
    prices = Prices([own], fetched=place, now_us=NOW_US)
    assert rates(prices, context="fast us", provider="novas") == Rates(
        input=100_000,
        output=200_000,
        cache_read=10_000,
        cache_5m=100_000,
        cache_1h=100_000,
        web_search=3_000_000_000,
    )
    tariff = prices.tariff_of(call("nova-1b"))
    assert tariff is not None
    assert tariff.rates(0).input == 3 * PICO


def test_nothing_but_a_question_loads_the_table() -> None:
    code = (
        "import sys; from watchgate.service.prices.prices import Prices; p = Prices(); p.words();"
        "p.remark(); print([name for name in sys.modules if name.startswith('genai')])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
