"""docs/keys.md and the README's table of keys are what the registry says."""

from __future__ import annotations

import pytest

from scripts.keys_table import PAGE, README, TITLES, in_readme, page, table
from watchgate.ui.commands.key_registry import KEYS


def test_the_page_and_the_readme_have_the_keys_of_the_registry() -> None:
    readme = README.read_text(encoding="utf-8")
    assert in_readme(readme) == readme, "run `make keys-table`"
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make keys-table`"


def test_every_key_is_on_the_page() -> None:
    text = page()
    assert {key.group for key in KEYS} - {"palette"} <= set(TITLES)
    for key in KEYS:
        assert f"`{key.shown}`" in text or key.group == "palette", key.id


def test_every_key_that_decides_is_in_the_readme() -> None:
    for key in KEYS:
        assert key.group != "decide" or f"`{key.shown}`" in table("decide"), key.id


def test_a_readme_without_its_markers_is_an_error() -> None:
    with pytest.raises(ValueError, match="the document has no <!-- keys"):
        in_readme("# Watchgate\n")
