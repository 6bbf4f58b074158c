from __future__ import annotations

import os
from pathlib import Path

import pytest
from genai_prices import update_prices

from tests.cli.conftest import Cli
from tests.service.prices.tables import NOW_US, keep, model, provider
from watchgate.cli.base.printing import Exit
from watchgate.link.paths import paths
from watchgate.service.prices.price_files import FETCHED
from watchgate.service.prices.prices import RELEASED, installed_version

OWN = """
[[price]]
model = "nova-99"
input = 0.25
output = 1.5
web_search = 2
"""


@pytest.fixture
def own() -> None:
    path = Path(os.environ["WATCHGATE_CONFIG"])
    path.parent.mkdir(parents=True)
    path.write_text(OWN, encoding="utf-8")


@pytest.fixture
def fetched() -> None:
    """A small table, as if it had been fetched."""
    tiers = {"base": 0.1, "tiers": [{"start": 100_000, "price": 0.5}]}
    prices = {"input_mtok": tiers, "output_mtok": 0.5, "cache_write_1h_mtok": 0.2}
    place = paths(os.environ).data_dir / FETCHED
    keep(place, [provider("novas", "nova", model("nova-1", prices))], NOW_US + 10**15)


def test_the_table_in_use_is_named_with_its_age(cli: Cli) -> None:
    said = cli("prices")
    assert said.code == Exit.DONE
    assert said.out.startswith(
        f"prices of {RELEASED[installed_version()]}, genai-prices {installed_version()}, "
    )
    assert said.out.rstrip().endswith("old")


def test_what_a_model_charges_in_each_tier(cli: Cli, fetched: None) -> None:
    said = cli("prices", "nova-1")
    rows = [line.split() for line in said.out.splitlines() if line.startswith("nova-1")]
    assert rows == [
        ["nova-1", "-", "0.1", "0.5", "0.1", "0.1", "0.2", "-", "table"],
        ["nova-1", "100,000", "0.5", "0.5", "0.5", "0.5", "0.2", "-", "table"],
    ]
    assert "dollars per million tokens" in said.out


def test_ones_own_price_is_said_to_be_that(cli: Cli, own: None) -> None:
    table, price = cli("prices", "nova-99", "--json").lines
    assert table["own"] == ["nova-99"]
    assert price["from"] == "own"
    assert price["tiers"] == [
        {
            "over_tokens": 0,
            "input_usd_per_mtok": "0.25",
            "output_usd_per_mtok": "1.5",
            "cache_read_usd_per_mtok": "0.25",
            "cache_write_5m_usd_per_mtok": "0.25",
            "cache_write_1h_usd_per_mtok": "0.25",
            "web_search_usd_per_thousand": "2",
        }
    ]
    assert "prices of your own: nova-99" in cli("prices").out


def test_a_model_without_a_price_is_said_and_refused(cli: Cli) -> None:
    said = cli("prices", "claude-nova-99", "--json")
    assert said.code == Exit.REFUSED
    assert said.lines[1] == {"model": "claude-nova-99", "from": None, "tiers": None}
    assert "nobody says what claude-nova-99 charges" in said.err
    assert "[[price]]" in said.err


def test_a_failed_update_is_said_and_the_table_stays(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update_prices, "DEFAULT_UPDATE_URL", "http://127.0.0.1:1/data.json")
    said = cli("prices", "--update", "--json")
    assert said.code == Exit.REFUSED
    assert "prices were not updated: http://127.0.0.1:1/data.json cannot be reached" in said.err
    assert not said.lines[0]["fetched"]
    assert not (paths(os.environ).data_dir / FETCHED).exists()


def test_a_broken_table_is_remarked_on(cli: Cli, fetched: None) -> None:
    (paths(os.environ).data_dir / FETCHED).write_bytes(b"{")
    said = cli("prices")
    assert said.code == Exit.DONE
    assert "are not used: it is broken; watchgate prices --update fetches it anew" in said.err
