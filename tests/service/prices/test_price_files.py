"""Which table is in use, how old it is, and what is kept of it from start to start."""

from __future__ import annotations

import re
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.service.prices.tables import DAY_US, NOW_US, PICO, call, keep, model, provider
from watchgate.core.usage.pricing import Tariff
from watchgate.core.usage.usage_calls import UsageCall
from watchgate.service.prices import price_table, prices
from watchgate.service.prices.price_files import write_resolved
from watchgate.service.prices.prices import PACKAGE, RELEASED, Prices, installed_version
from watchgate.service.prices.tariffs import Schedule

TABLE = [provider("novas", "nova", model("nova-1", {"input_mtok": 3, "output_mtok": 15}))]
DEARER = [provider("novas", "nova", model("nova-1", {"input_mtok": 4, "output_mtok": 15}))]


def rate(found: Prices, asked: UsageCall | None = None) -> int | None:
    tariff = found.tariff_of(asked or call("nova-1"))
    return None if tariff is None else tariff.rates(0).input // PICO


@pytest.fixture
def unloadable(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on, whoever loads the table fails."""

    def fail(_raw: object = None) -> None:
        raise AssertionError("the table was loaded")

    monkeypatch.setattr(price_table, "RateTable", fail)


def test_the_release_that_is_locked_has_a_day() -> None:
    lock = Path(__file__).parents[3] / "uv.lock"
    packages = tomllib.loads(lock.read_text(encoding="utf-8"))["package"]
    locked = next(each for each in packages if each["name"] == PACKAGE)
    uploaded = locked["sdist"]["upload-time"]
    told = uploaded if isinstance(uploaded, str) else uploaded.isoformat()
    assert RELEASED[locked["version"]] == told[:10]


def test_the_table_of_the_program_is_as_old_as_its_release() -> None:
    table = Prices(now_us=NOW_US).table
    assert (table.name, table.version, table.fetched) == (PACKAGE, installed_version(), False)
    assert table.date == RELEASED[installed_version()]
    assert table.age_days == 12
    assert table.words == f"prices of 2026-11-10, genai-prices {installed_version()}"


@pytest.mark.parametrize(("days", "old"), [(0, False), (33, False), (34, True)])
def test_an_old_table_is_remarked_on(days: int, old: bool) -> None:
    found = Prices(now_us=NOW_US + days * DAY_US)
    assert found.table.old is old
    assert ("watchgate prices --update" in found.remark()) is old


def test_a_clock_that_is_behind_makes_no_negative_age() -> None:
    assert Prices(now_us=0).table.age_days == 0


def test_an_unlisted_release_is_of_the_last_day_for_which_it_has_a_price(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prices, "RELEASED", {})
    found = Prices(now_us=NOW_US)
    assert (found.table.date, found.table.age_days, found.table.old) == ("", None, False)
    assert found.words() == f"prices, genai-prices {installed_version()}"
    found.tariff_of(call("claude-opus-5-5"))
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", found.table.date)


def test_a_fetched_table_is_used_and_says_so(tmp_path: Path) -> None:
    keep(tmp_path / "prices.json", TABLE, NOW_US - 2 * DAY_US)
    found = Prices(fetched=tmp_path / "prices.json", now_us=NOW_US)
    assert rate(found) == 3
    assert (found.table.fetched, found.table.age_days) == (True, 2)
    assert found.words() == f"prices fetched 2026-11-20, genai-prices {installed_version()}"


def test_a_table_that_was_fetched_before_the_release_is_left_aside(tmp_path: Path) -> None:
    keep(tmp_path / "prices.json", TABLE, NOW_US - 30 * DAY_US)
    found = Prices(fetched=tmp_path / "prices.json", now_us=NOW_US)
    assert rate(found) is None
    assert not found.table.fetched


DEEP = b"[" * 50_000 + b"]" * 50_000
FETCHED = b'{"fetched_us":%b,"url":"","providers":%b}'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"fetched_us": 1}',
        b"\xff\x00",
        FETCHED % (b"9000000000000000000", b"[]"),
    ],
    ids=["empty", "torn", "partial", "odd", "no date"],
)
def test_a_broken_fetched_file_is_said_and_not_used(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "prices.json"
    place.write_bytes(content)
    place.chmod(0o600)
    found = Prices(fetched=place, now_us=NOW_US)
    assert "are not used" in found.remark()
    assert rate(found, call("claude-opus-5-5")) == 4


def test_a_fetched_file_that_is_too_deep_is_said_once_it_is_looked_into(tmp_path: Path) -> None:
    place = tmp_path / "prices.json"
    place.write_bytes(FETCHED % (b"1795000000000000", DEEP))
    place.chmod(0o600)
    found = Prices(fetched=place, now_us=NOW_US)
    assert rate(found, call("claude-opus-5-5")) == 4
    assert "are not used" in found.remark()


def test_a_fetched_table_that_turns_out_to_be_none_is_said_and_not_used(tmp_path: Path) -> None:
    keep(tmp_path / "prices.json", [{"id": 1}])
    found = Prices(fetched=tmp_path / "prices.json", now_us=NOW_US)
    assert rate(found, call("claude-opus-5-5")) == 4
    assert "not built as a table" in found.remark()
    assert not found.table.fetched


def test_a_file_that_others_may_write_is_not_used(tmp_path: Path) -> None:
    place = tmp_path / "prices.json"
    keep(place, TABLE)
    place.chmod(0o666)
    found = Prices(fetched=place, now_us=NOW_US)
    assert rate(found) is None
    assert "others" in found.remark()


def test_what_was_asked_once_is_known_at_the_next_start(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    cache = tmp_path / "state" / "tariffs.json"
    asked = [call("claude-opus-5-5", context="fast"), call("deepseek-v4-flash"), call("gpt-99")]
    before = Prices(cache=cache)
    first = [before.tariff_of(each) for each in asked]
    assert first[0] is not None
    assert first[2] is None
    assert stat.S_IMODE(cache.stat().st_mode) == 0o600
    assert [each.name for each in cache.parent.iterdir()] == [cache.name]
    request.getfixturevalue("unloadable")
    after = Prices(cache=cache)
    assert [after.tariff_of(each) for each in asked] == first


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\x00", b'{"format":1,"table":"x"}', b'{"x":%b}' % DEEP],
    ids=["empty", "list", "nothing", "odd", "partial", "deep"],
)
def test_a_broken_cache_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    cache = tmp_path / "tariffs.json"
    cache.write_bytes(content)
    cache.chmod(0o600)
    assert rate(Prices(cache=cache), call("claude-opus-5-5")) == 4


@pytest.mark.parametrize("days", [(), ((0, ()),), ((5, ((0, None),)),), ((0, ((0, Tariff(())),)),)])
def test_a_cache_with_a_gap_in_time_is_as_good_as_none(tmp_path: Path, days: Any) -> None:
    cache = tmp_path / "tariffs.json"
    asked = call("claude-opus-5-5")
    write_resolved(cache, installed_version(), "", {("", asked.model, ""): Schedule(days)})
    assert rate(Prices(cache=cache), asked) == 4


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = tmp_path / "file" / "tariffs.json"
    assert rate(Prices(cache=cache), call("claude-opus-5-5")) == 4


def test_another_table_makes_what_was_kept_void(tmp_path: Path) -> None:
    place, cache = tmp_path / "prices.json", tmp_path / "tariffs.json"
    keep(place, TABLE)
    assert rate(Prices(fetched=place, cache=cache, now_us=NOW_US)) == 3
    keep(place, DEARER, NOW_US + 1)
    assert rate(Prices(fetched=place, cache=cache, now_us=NOW_US)) == 4


def test_a_table_fetched_while_the_program_runs_is_taken_up(tmp_path: Path) -> None:
    place = tmp_path / "prices.json"
    keep(place, TABLE)
    found = Prices(fetched=place, now_us=NOW_US)
    assert rate(found) == 3
    assert not found.renew(NOW_US + DAY_US)
    assert found.table.age_days == 1
    keep(place, DEARER, NOW_US + DAY_US)
    assert found.renew(NOW_US + DAY_US)
    assert rate(found) == 4


def test_made_up_names_do_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prices, "MAX_STORED", 3)
    monkeypatch.setattr(prices, "MAX_CACHED", 5)
    cache = tmp_path / "tariffs.json"
    found = Prices(cache=cache)
    for number in range(20):
        found.tariff_of(call(f"made-up-{number}"))
    kept = cache.read_text(encoding="utf-8")
    assert kept.count("made-up") <= 3
    assert rate(found, call("claude-opus-5-5")) == 4
