"""Documents that scripts write: whole ones or a part between two comments, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path


def replaced(document: str, name: str, target: str, text: str) -> str:
    """The document with `text` between the markers of `name`, which `make TARGET` writes.

    Raises:
        ValueError: the document has no such markers.
    """
    begin, end = f"<!-- {name}: written by `make {target}` -->", f"<!-- {name}: end -->"
    head, found, rest = document.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the document has no {begin} ... {end}")
    return f"{head}{begin}\n{text}\n{end}{tail}"


def as_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    cells = (head, ["---"] * len(head), *([_cell(each) for each in row] for row in rows))
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def written(documents: Mapping[Path, str], target: str, *, check: bool) -> int:
    """Writes each document its text; with `check` name those that differ. The exit code."""
    code = 0
    for path, text in documents.items():
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path.name} is out of date: run `make {target}`")
            code = 1
    return code
