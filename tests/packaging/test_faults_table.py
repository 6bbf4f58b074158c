"""docs/faults.md is what the fault matrix says."""

from __future__ import annotations

import msgspec

from scripts.faults_table import DOCUMENT, LANES, ROOT, render
from tests.faults.matrix import FAULTS
from tests.faults.words import Gets


def test_the_document_is_what_the_tests_run() -> None:
    assert DOCUMENT.read_text() == render(FAULTS), "run `make faults-table`"


def test_a_change_of_one_cell_changes_the_document() -> None:
    first = FAULTS[0]
    other = msgspec.structs.replace(first, gate=Gets.KILLED)

    assert Gets.KILLED in render([other])
    assert Gets.KILLED not in render([first]).partition("## ")[2]


def test_every_row_has_a_cell_for_every_lane() -> None:
    rows = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| ")]
    for fault in FAULTS:
        (row,) = [row for row in rows if row.startswith(f"| {fault.what} |")]
        assert row.count(" | ") == len(LANES) + 2


def test_the_front_page_counts_the_rows() -> None:
    assert f" {len(FAULTS)} rows," in (ROOT / "README.md").read_text()
