"""docs/performance.md and the README show what bench/report.json has, and say what misses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.figures import Beside, Figure
from bench.plan import PARTS
from bench.running import key, regressed, standing
from scripts.performance_table import DOCUMENT, README, REPORT, TELLING, WHY, document, front

TAKEN = {
    "date": "2026-01-02",
    "machine": "a machine",
    "load": 0.5,
    "versions": {"Python": "3.11.7"},
}


def told(value: float, limit: float | None = 1.5, *, absolute: bool = False) -> dict[str, Any]:
    figure = Figure("a thing", value, "us", Beside("another", 2.0), limit, "a note", absolute)
    return {"group": "Ingest", "part": "ingest", **figure.told()}


def page(*figures: dict[str, Any]) -> str:
    return document({"taken": TAKEN, "figures": list(figures)})


def test_the_documents_are_what_was_measured() -> None:
    report = json.loads(REPORT.read_text())

    assert DOCUMENT.read_text() == document(report), "run `make performance-table`"
    assert front(report) in README.read_text(), "run `make performance-table`"


def test_every_file_of_figures_is_in_the_report_or_could_not_run_there() -> None:
    report = json.loads(REPORT.read_text())
    parts = {figure["part"] for figure in report["figures"]}

    assert set(PARTS) - parts <= {each["part"] for each in report["left_out"]}
    assert parts <= set(PARTS)


def test_each_row_of_the_readme_is_in_the_report() -> None:
    keys = {key(figure) for figure in json.loads(REPORT.read_text())["figures"]}

    assert {f"{wanted.name} / {wanted.beside}" for wanted in TELLING} <= keys


def test_each_reason_is_of_a_figure() -> None:
    names = [figure["name"] for figure in json.loads(REPORT.read_text())["figures"]]

    assert [why for why in WHY if not any(name.startswith(why) for name in names)] == []


def test_what_was_not_measured_is_said_with_its_reason() -> None:
    missing = [{"part": "client", "name": "instructions", "why": "there is no valgrind"}]
    text = document({"taken": TAKEN, "figures": [told(2.2)], "left_out": missing})

    assert "## What was not measured\n\n- instructions: there is no valgrind.\n" in text
    assert "not measured" not in page(told(2.2))


def test_no_two_figures_of_the_report_can_be_mistaken_for_each_other() -> None:
    keys = [key(figure) for figure in json.loads(REPORT.read_text())["figures"]]

    assert len(keys) == len(set(keys))


def test_a_figure_is_shown_with_what_it_stands_beside() -> None:
    row = "| a thing | 2.20 us | 2.00 us: another | 1.10 x | 1.5 x | kept | a note |"

    assert row in page(told(2.2))
    assert "Nothing did in this run." in page(told(2.2))


def test_what_misses_its_limit_is_said_before_all_tables() -> None:
    text = page(told(4.0))

    assert "- a thing (beside another): 2.00 x, limit 1.5 x." in text
    assert text.index("misses its limit\n\n- a thing") < text.index("## Ingest")
    assert "| **missed** |" in text


def test_an_absolute_limit_is_on_the_value() -> None:
    assert told(4.0, 3.0, absolute=True)["ok"] is False
    assert told(4.0, 3.0)["ok"] is True


@pytest.mark.parametrize(
    ("figure", "word"),
    [
        (told(2.2), "ok"),
        (told(3.2), "over"),
        (told(3.4), "MISSED"),
        (told(9.0, 3.0, absolute=True), "over"),
        (told(9.0, None), "told"),
    ],
)
def test_only_a_ratio_can_be_missed(figure: dict[str, Any], word: str) -> None:
    assert standing(figure) == word


@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        (told(2.0), told(2.8), ""),
        (told(1.0), told(2.8), "times the 0.5 x of the report"),
        (told(2.0), told(3.4), "over its limit of 1.5 x"),
        (told(2.0, 3.0, absolute=True), told(2.8, 3.0, absolute=True), ""),
        (told(2.0, 3.0, absolute=True), told(4.0, 3.0, absolute=True), "of the report"),
        (told(4.0), told(5.0), ""),
        (told(4.0), told(6.4), "times the 2 x of the report"),
        (told(2.0, None), told(90.0, None), ""),
    ],
    ids=[
        "as before",
        "well over",
        "over",
        "busy machine",
        "absolute but worse",
        "a known miss",
        "a known miss that got worse",
        "only told",
    ],
)
def test_a_ratio_regresses_over_its_limit_or_well_over_the_report(
    before: dict[str, Any], now: dict[str, Any], why: str
) -> None:
    found = regressed(now, {key(before): before})

    assert why in found
    assert bool(found) == bool(why)


def test_a_figure_that_the_report_has_not_is_held_to_its_limit_alone() -> None:
    assert regressed(told(2.8), {}) == ""
    assert regressed(told(9.0), {}) != ""
