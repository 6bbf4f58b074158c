"""docs/seed-coverage.md lists every row of the hook systems, and is what the tests' names say."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.seed_coverage import (
    MUTANTS,
    ROOT,
    ROWS,
    SYSTEMS,
    TABLE,
    Rows,
    count_mutants,
    faults,
    find_tests,
    ids_of,
    proofs,
    read_rows,
    render,
)

MADE_UP = """
[CW]
1 = "one"
2 = "two"
[CWb]
1 = "a flaw"
[CORE]
10 = "ten"
[not-applicable]
CW-2 = "there is no such thing here"
"""
SPANS = {
    "CW-": range(1, 30),
    "CX-": (*range(1, 32), *range(40, 51), *range(60, 72)),
    "SA-": range(1, 22),
    "SY-": range(1, 34),
    "SD-": range(1, 24),
    "CORE-": range(1, 12),
    "AP-": range(1, 21),
    "CW-b": range(1, 20),
    "CX-b": range(1, 17),
    "SA-b": range(1, 15),
    "SY-b": range(1, 17),
    "SD-b": range(1, 12),
}


def tree(folder: Path, *names: str) -> Path:
    tests = folder / "tests" / "core"
    tests.mkdir(parents=True)
    body = "\n".join(f"def {name}():\n    pass" for name in names)
    (tests / "test_some.py").write_text(
        f"{body}\n\nclass TestMore:\n    async def test_cw_1_more(self):\n        pass\n"
    )
    (tests / "builders.py").write_text("def test_cw_2_is_no_test_file():\n    pass\n")
    return folder / "tests"


def made_up(folder: Path, *names: str) -> tuple[Rows, dict[str, dict[str, list[str]]]]:
    return read_rows(MADE_UP), proofs(find_tests(tree(folder, *names)))


def test_every_row_is_proven_or_says_why_not() -> None:
    assert faults(read_rows(ROWS.read_text()), proofs(find_tests(ROOT / "tests"))) == []


def test_the_table_is_what_the_tests_names_say() -> None:
    found = proofs(find_tests(ROOT / "tests"))
    expected = render(read_rows(ROWS.read_text()), found, count_mutants(MUTANTS))
    assert TABLE.read_text() == expected, "run `make seed-coverage`"


def test_the_rows_are_those_of_the_specification() -> None:
    expected = {f"{prefix}{number}" for prefix, span in SPANS.items() for number in span}
    assert set(read_rows(ROWS.read_text()).titles) == expected
    assert {row.partition("-")[0] for row in expected} == set(SYSTEMS)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("test_cw_7_nobody_listens", ["CW-7"]),
        ("test_sd_b11_a_timeout", ["SD-b11"]),
        ("test_sy_8_sy_9_core_10_the_chain_ends", ["SY-8", "SY-9", "CORE-10"]),
        ("test_core_is_pure", []),
        ("test_cw_7", []),
        ("test_a_name_with_cw_7_inside", []),
    ],
)
def test_a_tests_name_says_which_rows_it_proves(name: str, rows: list[str]) -> None:
    assert ids_of(name) == rows


def test_a_tree_of_tests_is_read_without_running_it(tmp_path: Path) -> None:
    rows, found = made_up(tmp_path, "test_core_10_it_is_so", "test_cw_b1_is_mended", "test_other")
    assert faults(rows, found) == []
    assert found["CW-1"] == {"tests/core/test_some.py": ["test_cw_1_more"]}
    lines = render(rows, found, {"CORE-10": 3}).splitlines()
    assert "| CW-1 | one | tests/core/test_some.py: `test_cw_1_more` |" in lines
    assert "| CW-2 | two | does not apply: there is no such thing here |" in lines
    assert "| CORE-10 | ten | tests/core/test_some.py: `test_core_10_it_is_so` | 3 |" in lines
    assert "| CW-b1 | a flaw | tests/core/test_some.py: `test_cw_b1_is_mended` |" in lines
    assert [line for line in lines if line.startswith("##")] == [
        "## CodeWhale",
        "## CodeWhale: flaws",
        "## The joint core",
    ]


def test_a_row_without_a_test_or_reason_is_a_fault(tmp_path: Path) -> None:
    rows, found = made_up(tmp_path, "test_cw_b1_is_mended")
    assert [fault.partition(":")[0] for fault in faults(rows, found)] == ["CORE-10"]
    assert "| CORE-10 | ten | **no test yet** |" in render(rows, found, {})


def test_a_row_with_a_test_and_a_reason_is_a_fault(tmp_path: Path) -> None:
    rows, found = made_up(tmp_path, "test_cw_b1_x", "test_core_10_x", "test_cw_2_x")
    assert faults(rows, found) == ["CW-2: has a test and a reason why it has none"]


def test_a_test_for_no_row_is_a_fault(tmp_path: Path) -> None:
    rows, found = made_up(tmp_path, "test_cw_b1_x", "test_core_10_x", "test_cw_30_x")
    assert faults(rows, found) == ["CW-30: a test is named for it, but there is no such row"]


def test_a_reason_for_no_row_is_a_fault(tmp_path: Path) -> None:
    text = MADE_UP + 'CW-31 = "nor this"\n'
    found = proofs(find_tests(tree(tmp_path, "test_cw_b1_x", "test_core_10_x")))
    assert faults(read_rows(text), found) == ["CW-31: a reason is given, but there is no such row"]
