"""docs/dispatch.md says what the loop does."""

from __future__ import annotations

import re

import pytest

from scripts.dispatch_tables import DOCUMENT, TABLES, VERDICTS, meaning, written
from watchgate.core.dispatch.presets import CONSOLE, PRESETS, PresetName
from watchgate.core.model.verdicts import Failed, Verdict


def test_sd_b2_the_tables_of_outcomes_in_the_documents_are_those_of_the_code() -> None:
    text = DOCUMENT.read_text()
    assert written(text) == text, "run `python scripts/dispatch_tables.py`"
    assert re.findall(r"<!-- (\w+) -->", text).count("end") == len(TABLES)
    assert {name for name in TABLES if f"<!-- {name} -->" in text} == set(TABLES)


def test_sd_b2_a_change_of_a_table_is_noticed() -> None:
    text = DOCUMENT.read_text()
    assert written(text.replace("| denies, last |", "| allows |", 1)) == text


@pytest.mark.parametrize(
    ("preset", "verdict", "means"),
    [
        ("console", "block", "denies, last"),
        ("console", "modify", "rewrites"),
        ("console", "confirm", "asks"),
        ("codewhale-sinks", "block", "ignored"),
        ("codex-fork-v2", "block", "denies"),
        ("synaps-chain", "modify", "rewrites, last"),
        ("synaps-chain", "inject", "ignored"),
        ("sdk-first-match", "allow", "allows, last"),
    ],
)
def test_the_words_of_the_table_mean_what_the_loop_does(
    preset: PresetName, verdict: str, means: str
) -> None:
    assert meaning(PRESETS[preset], VERDICTS[verdict]) == means


def test_no_failure_of_a_gate_is_anything_but_a_denial_under_our_preset() -> None:
    failures: list[Verdict] = [Failed("timeout"), Failed("crash"), Failed("spawn")]
    assert {meaning(CONSOLE, failed) for failed in failures} == {"denies, last"}
