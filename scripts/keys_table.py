"""Writes the README's table of keys from the registry that the console itself is made of.

`python -m scripts.keys_table [--check]`. Everything between the two markers is replaced.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from watchgate.ui.keys.keymap import Group, Keymap
from watchgate.ui.keys.registry import KEYS
from watchgate.ui.keys.rows import Row, rows

ROOT: Final = Path(__file__).resolve().parent.parent
README: Final = ROOT / "README.md"
BEGIN: Final = "<!-- keys: written by `make keys-table` -->"
END: Final = "<!-- keys: end -->"
GROUPS: Final[tuple[Group, ...]] = ("decide", "look", "move", "find", "replay", "leave", "other")


def render() -> str:
    """The table: what belongs together in one line, in the order in which help tells it."""
    keymap = Keymap(KEYS)
    lines = [row for group in GROUPS for row in rows(keymap, group)]
    return "\n".join(("| key | does |", "|---|---|", *map(_line, lines)))


def replaced(readme: str) -> str:
    """The README with the table in its place; raises `ValueError` where the markers are not."""
    head, begin, rest = readme.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{README.name} has no {BEGIN} ... {END}")
    return f"{head}{BEGIN}\n{render()}\n{END}{tail}"


def _line(row: Row) -> str:
    names = " ".join(f"`{name}`" for name in row.names)
    return f"| {names} | {row.does} |".replace("`|`", "`\\|`")


def main(check: bool) -> int:
    """Write the table, or with `check` say whether it is what the registry says."""
    now = README.read_text(encoding="utf-8")
    wanted = replaced(now)
    if not check:
        README.write_text(wanted, encoding="utf-8")
    elif now != wanted:
        print(f"{README.name} is out of date: run `make keys-table`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
