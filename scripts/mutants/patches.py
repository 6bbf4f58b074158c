"""Small patches that break the program, `tests/mutants/*.toml`, and the tests that must notice."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scripts.seed_coverage import MUTANTS, ROOT, find_tests, proofs

PACKAGE = Path("tui") / "watchgate"
E2E = "tests/e2e/"


class Mutant(NamedTuple):
    """One patch: `old`, which occurs once in `file` (below the package), becomes `new`.

    `tests` are what must notice it, as pytest names them; without any, all tests named for `row`.
    """

    row: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()


def read_mutants(text: str) -> list[Mutant]:
    """The mutants of one TOML file, in its order; raises `TypeError` for a key that none has."""
    tables: list[dict[str, Any]] = tomllib.loads(text).get("mutant", [])
    return [Mutant(**{**table, "tests": tuple(table.get("tests", ()))}) for table in tables]


def all_mutants(folder: Path = MUTANTS) -> list[Mutant]:
    """The mutants of every file, file by file."""
    files = sorted(folder.glob("*.toml"))
    return [each for file in files for each in read_mutants(file.read_text(encoding="utf-8"))]


def named_tests(root: Path = ROOT) -> dict[str, list[str]]:
    """Every row with the tests that are named for it, as pytest names them.

    Those in `tests/e2e` are left out: they start the installed program, which no patch reaches.
    """
    return {
        row: [
            f"{place}::{name}"
            for place, names in places.items()
            for name in names
            if not place.startswith(E2E)
        ]
        for row, places in proofs(find_tests(root / "tests")).items()
    }


def tests_of(mutant: Mutant, named: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What is run against a mutant."""
    return mutant.tests or tuple(named.get(mutant.row, ()))


def fault(mutant: Mutant, root: Path = ROOT) -> str:
    """Why the patch cannot be applied to the tree; empty when it can."""
    path = root / PACKAGE / mutant.file
    if not path.is_file():
        return f"there is no file {PACKAGE / mutant.file}"
    count = path.read_text(encoding="utf-8").count(mutant.old)
    return "" if count == 1 else f"`old` occurs {count} times in {mutant.file}, not once"


class Patched(NamedTuple):
    """A file with a patch in it, and how it was before."""

    path: Path
    kept: str
    stat: os.stat_result

    def undo(self) -> None:
        """Puts the file back, with its time: its bytecode is told by that."""
        self.path.write_text(self.kept, encoding="utf-8")
        os.utime(self.path, ns=(self.stat.st_atime_ns, self.stat.st_mtime_ns))


def patched(mutant: Mutant, tree: Path) -> Patched:
    """Applies a mutant to a copy."""
    path = tree / PACKAGE / mutant.file
    kept, stat = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(kept.replace(mutant.old, mutant.new), encoding="utf-8")
    return Patched(path, kept, stat)
