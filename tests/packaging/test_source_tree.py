"""The tree stays readable: small files, one idea each, nothing that ties it to one machine."""

from __future__ import annotations

import ast
import re
import statistics
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tui", "styles", "tests", "bench", "scripts", "docs", ".ci")
TEXTS = {".py", ".tcss", ".md", ".toml", ".json", ".jsonl", ".sh", ""}
LONGEST = 450
LONGEST_OF = {"tui/watchgate/ui/console/app.py": 300}
MEDIAN = 140


def length(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def python_files(*folders: str) -> dict[str, int]:
    files = (file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return {file.relative_to(ROOT).as_posix(): length(file) for file in files}


def own_texts() -> list[Path]:
    below = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.is_file()]
    top = [file for file in ROOT.iterdir() if file.is_file() and file.name != "uv.lock"]
    return [file for file in below + top if file.suffix in TEXTS]


def test_no_python_file_outgrows_its_idea() -> None:
    sizes = python_files("tui", "tests", "bench", "scripts")
    assert {
        name: lines for name, lines in sizes.items() if lines > LONGEST_OF.get(name, LONGEST)
    } == {}


def test_files_of_the_package_are_small_on_the_whole() -> None:
    written = [lines for lines in python_files("tui").values() if lines]
    assert 90 <= statistics.median(written) <= MEDIAN


def test_core_and_agents_open_no_file() -> None:
    # The import contracts cannot see a builtin.
    pure = [
        *(ROOT / "tui/watchgate/core").rglob("*.py"),
        *(ROOT / "tui/watchgate/agents").rglob("*.py"),
    ]
    opening = [
        file.relative_to(ROOT).as_posix()
        for file in pure
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"
    ]
    assert opening == []


@pytest.mark.parametrize("place", [ROOT, Path(sys.base_prefix)], ids=["checkout", "interpreter"])
def test_no_file_names_the_machine_that_it_was_written_on(place: Path) -> None:
    # A place as general as /usr or /src is a word that anybody may use.
    if len(place.parts) > 2:
        named = re.compile(re.escape(str(place)) + r"(?![\w-])")
        found = [
            str(file.relative_to(ROOT))
            for file in own_texts()
            if named.search(file.read_text(encoding="utf-8"))
        ]
        assert found == []
