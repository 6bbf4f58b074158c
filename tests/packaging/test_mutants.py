"""Every row of the broker and of the core is held by patches that its tests notice.

`make mutants` tries them; here they are only read.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.mutants.patches import (
    Mutant,
    all_mutants,
    fault,
    named_tests,
    patched,
    read_mutants,
)
from scripts.mutants.patches import tests_of as of_mutant
from scripts.mutants.trying import judged
from scripts.seed_coverage import MUTANTS, ROWS, count_mutants, find_tests, read_rows

ROOT = Path(__file__).resolve().parents[2]
HELD = ("AP-", "CORE-")


def test_every_row_of_the_broker_and_of_the_core_has_a_mutant() -> None:
    rows = {row for row in read_rows(ROWS.read_text()).titles if row.startswith(HELD)}
    assert rows <= set(count_mutants(MUTANTS))


def test_every_mutant_changes_one_place_of_the_program_as_it_is() -> None:
    assert [
        f"{each.row}: {each.name}: {fault(each)}" for each in all_mutants() if fault(each)
    ] == []


def test_every_mutant_has_tests_and_a_name_of_its_own() -> None:
    known = {f"{place}::{name}" for place, name in find_tests(ROOT / "tests")}
    named = named_tests()
    for each in all_mutants():
        tests = {test.partition("[")[0] for test in of_mutant(each, named)}
        assert tests, each.name
        assert tests <= known, each.name
        assert each.old != each.new, each.name
    names = [(each.row, each.name) for each in all_mutants()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("code", "output", "fate"),
    [
        (0, "3 passed", "survived"),
        (1, "FAILED tests/a.py::test_x[1] - assert 1 == 2", "killed"),
        (1, "FAILED tests/a.py::test_x - Failed: DID NOT RAISE Refused", "killed"),
        (1, "FAILED tests/a.py::test_x - NameError: name 'x' is not defined", "no assertion"),
        (1, "FAILED tests/a.py::test_x - ImportError: cannot import", "no assertion"),
        (1, "ERROR tests/a.py::test_x - ValueError: in a fixture", "no assertion"),
        (2, "ERROR tests/a.py - SyntaxError: invalid syntax", "no assertion"),
        (4, "no tests ran", "no assertion"),
    ],
)
def test_only_a_test_that_fails_kills(code: int, output: str, fate: str) -> None:
    assert judged(code, output)[0] == fate


def test_a_patch_is_applied_once_and_undone(tmp_path: Path) -> None:
    file = tmp_path / "tui" / "watchgate" / "core" / "some.py"
    file.parent.mkdir(parents=True)
    file.write_text("a = 1\nb = 1\n")
    before = file.stat().st_mtime_ns
    (mutant,) = read_mutants(
        '[[mutant]]\nrow = "AP-1"\nname = "x"\nfile = "core/some.py"\n'
        'old = "a = 1"\nnew = "a = 2"\n'
    )
    assert fault(mutant, tmp_path) == ""
    patch = patched(mutant, tmp_path)
    assert file.read_text() == "a = 2\nb = 1\n"
    patch.undo()
    assert (file.read_text(), file.stat().st_mtime_ns) == ("a = 1\nb = 1\n", before)


@pytest.mark.parametrize(("old", "count"), [(" = 1", 2), ("c = 1", 0)])
def test_a_patch_that_fits_not_exactly_once_is_stale(tmp_path: Path, old: str, count: int) -> None:
    file = tmp_path / "tui" / "watchgate" / "some.py"
    file.parent.mkdir(parents=True)
    file.write_text("a = 1\nb = 1\n")
    stale = Mutant("AP-1", "x", "some.py", old, "")
    assert fault(stale, tmp_path) == f"`old` occurs {count} times in some.py, not once"
