"""Writes docs/seed-coverage.md: every row of the hook systems with the tests that are named for it.

`python -m scripts.seed_coverage [--check]`. A test proves row CW-7 by being called
`test_cw_7_...`, several at once by `test_cw_7_cw_8_...`, the third known flaw of CodeWhale by
`test_cw_b3_...`.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from scripts.marked import as_table, written

ROOT = Path(__file__).resolve().parent.parent
ROWS = ROOT / "scripts" / "seed-rows.toml"
MUTANTS = ROOT / "tests" / "mutants"
TABLE = ROOT / "docs" / "seed-coverage.md"
SYSTEMS = {
    "CW": "CodeWhale",
    "CX": "Codex, its fork and upstream",
    "SA": "sandbox-agent",
    "SY": "SynapsCLI",
    "SD": "codex-cli-sdk",
    "CORE": "The joint core",
    "AP": "The approval broker",
}
_ROW = r"(?:cw|cx|sa|sy|sd|core|ap)_b?\d+_"
_NAMED = re.compile(rf"test_((?:{_ROW})+)")
HEAD = """# Seed coverage

Watchgate's core carries five hook systems and a broker of approvals. Each line is one row of their
specification, with the tests that prove it or the reason why it does not apply to a monitor. `b`
rows are known flaws of the originals, with the tests that show the right behaviour.
`make seed-coverage` writes this file from the names of the tests. `mutants` counts the patches that
break a row, each of which its tests are proven to notice (`make mutants`).
"""


class Rows(NamedTuple):
    """What has to be covered: a title for each id such as `CW-7` or `CW-b3`, reasons for some."""

    titles: Mapping[str, str]
    reasons: Mapping[str, str]


def read_rows(text: str) -> Rows:
    """The rows of the TOML text, in its order."""
    tables: dict[str, dict[str, str]] = tomllib.loads(text)
    reasons = tables.pop("not-applicable", {})
    titles = {
        f"{table.removesuffix('b')}-{'b' * table.endswith('b')}{number}": title
        for table, rows in tables.items()
        for number, title in rows.items()
    }
    return Rows(titles, reasons)


def count_mutants(folder: Path) -> Counter[str]:
    """How many mutants the TOML files of a folder hold for each row."""
    files = sorted(folder.glob("*.toml"))
    tables = [tomllib.loads(file.read_text(encoding="utf-8"))["mutant"] for file in files]
    return Counter(str(each["row"]) for table in tables for each in table)


def ids_of(test: str) -> list[str]:
    """The rows that a test's name says it proves."""
    named = _NAMED.match(test)
    if named is None:
        return []
    words = named.group(1).rstrip("_").split("_")
    return [f"{words[n].upper()}-{words[n + 1]}" for n in range(0, len(words), 2)]


def find_tests(folder: Path) -> Iterator[tuple[str, str]]:
    """Every test function below a folder, as path and name, in a fixed order; nothing is run."""
    for path in sorted(folder.rglob("test_*.py")):
        place = path.relative_to(folder.parent).as_posix()
        module = ast.parse(path.read_text(encoding="utf-8"))
        classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
        for node in (*module.body, *(each for group in classes for each in group.body)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield place, node.name


def proofs(tests: Iterable[tuple[str, str]]) -> dict[str, dict[str, list[str]]]:
    """The tests of each row, by the file that they are in."""
    found: dict[str, dict[str, list[str]]] = {}
    for place, name in tests:
        for row in ids_of(name):
            found.setdefault(row, {}).setdefault(place, []).append(name)
    return found


def faults(rows: Rows, found: Mapping[str, object]) -> list[str]:
    """What keeps the table from being whole, one line each."""
    return [
        *(
            f"{row}: no test is named for it, and no reason is given in {ROWS.name}"
            for row in rows.titles
            if row not in found and row not in rows.reasons
        ),
        *(
            f"{row}: has a test and a reason why it has none"
            for row in rows.reasons
            if row in found
        ),
        *(
            f"{row}: a test is named for it, but there is no such row"
            for row in found
            if row not in rows.titles
        ),
        *(
            f"{row}: a reason is given, but there is no such row"
            for row in rows.reasons
            if row not in rows.titles
        ),
    ]


def render(
    rows: Rows, found: Mapping[str, Mapping[str, list[str]]], mutants: Mapping[str, int]
) -> str:
    """The table as Markdown, one line an id; with a column more where rows have mutants."""
    parts = [HEAD]
    for system, name in SYSTEMS.items():
        for title, prefix in ((name, f"{system}-"), (f"{name}: flaws", f"{system}-b")):
            ids = [
                row
                for row in rows.titles
                if row.startswith(prefix) and row.startswith(f"{system}-b") == (prefix[-1] == "b")
            ]
            if ids:
                cells = [[row, rows.titles[row], _proof(row, rows, found)] for row in ids]
                heads = ["id", "row", "proof"]
                if any(row in mutants for row in ids):
                    heads.append("mutants")
                    cells = [[*each, str(mutants.get(each[0], 0))] for each in cells]
                parts.append(f"## {title}\n\n{as_table(heads, cells)}")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _proof(row: str, rows: Rows, found: Mapping[str, Mapping[str, list[str]]]) -> str:
    if row in found:
        return "<br>".join(
            f"{place}: {', '.join(f'`{name}`' for name in names)}"
            for place, names in found[row].items()
        )
    reason = rows.reasons.get(row)
    return "**no test yet**" if reason is None else f"does not apply: {reason}"


def main(check: bool) -> int:
    """Writes the table, or with `check` say whether it differs; 1 when rows are left open."""
    rows, found = read_rows(ROWS.read_text(encoding="utf-8")), proofs(find_tests(ROOT / "tests"))
    text, wrong = render(rows, found, count_mutants(MUTANTS)), faults(rows, found)
    print("\n".join(wrong) or f"{len(rows.titles)} rows, all covered")
    return written({TABLE: text}, "seed-coverage", check=check) or int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
