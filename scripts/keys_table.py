"""Writes docs/keys.md and the README's table of keys from the console's own registry.

`python -m scripts.keys_table [--check]`. The README has the keys that decide, the page has all.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from scripts.marked import as_table, replaced, written
from watchgate.ui.commands.key_registry import KEYS
from watchgate.ui.keys.keymap import Group, Keymap
from watchgate.ui.widgets.text_pages import KeyRow, rows

ROOT: Final = Path(__file__).resolve().parent.parent
README: Final = ROOT / "README.md"
PAGE: Final = ROOT / "docs" / "keys.md"
HEAD: Final = """# Keys

`make keys-table` writes this page from the registry that the console's help, its footer and its
palette are made of. Every key can be moved: `[ui.keys]` in the configuration, by the name that
`watchgate config show` and an error about an unknown one list.

Allow does nothing until a request has been on screen for 0.6 s, and a decision key within 0.25 s of
any other key decides nothing: typing that was meant for another pane cannot allow anything. Every
other key acts at once.
"""
TITLES: Final[Mapping[Group, str]] = {
    "decide": "Decide",
    "look": "Look",
    "move": "Move",
    "find": "Find",
    "replay": "Play again",
    "leave": "Leave",
    "other": "Other",
}
"""Every group with a key of its own, in the order in which help tells them."""


def table(*groups: Group) -> str:
    """A line for each key of these groups; what belongs together is one line."""
    keymap = Keymap(KEYS)
    return as_table(
        ("key", "does"), [_cells(row) for group in groups for row in rows(keymap, group)]
    )


def page() -> str:
    """The page of every key."""
    parts = [f"## {title}\n\n{table(group)}\n" for group, title in TITLES.items()]
    return "\n".join((HEAD, *parts))


def in_readme(readme: str) -> str:
    """The README with the keys that decide in their place."""
    return replaced(readme, "keys", "keys-table", table("decide"))


def _cells(row: KeyRow) -> tuple[str, str]:
    return " ".join(f"`{name}`" for name in row.names), row.does


def main(check: bool) -> int:
    """Writes both, or with `check` say which is not what the registry says."""
    wanted = {README: in_readme(README.read_text(encoding="utf-8")), PAGE: page()}
    return written(wanted, "keys-table", check=check)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
