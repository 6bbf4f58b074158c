"""Every script that writes documents says in the same way that one is out of date."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.marked import as_table, written


def test_a_sign_that_divides_cells_stays_within_its_own() -> None:
    assert as_table(("key", "does"), [("`|`", "a|b")]).splitlines() == [
        "| key | does |",
        "| --- | --- |",
        "| `\\|` | a\\|b |",
    ]


def test_a_check_names_what_differs_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same, other, missing = (tmp_path / name for name in ("same.md", "other.md", "missing.md"))
    same.write_text("a")
    other.write_text("b")
    wanted = dict.fromkeys((same, other, missing), "a")

    assert written(wanted, "docs", check=True) == 1
    assert capsys.readouterr().out.splitlines() == [
        "other.md is out of date: run `make docs`",
        "missing.md is out of date: run `make docs`",
    ]
    assert (other.read_text(), missing.exists()) == ("b", False)
    assert written(wanted, "docs", check=False) == 0
    assert written(wanted, "docs", check=True) == 0
