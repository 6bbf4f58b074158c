"""The README's table of keys is what the registry says."""

from __future__ import annotations

import pytest

from scripts.keys_table import BEGIN, END, README, render, replaced
from watchgate.ui.keys.registry import KEYS


def test_the_readme_has_the_table_that_the_registry_makes() -> None:
    readme = README.read_text(encoding="utf-8")
    assert replaced(readme) == readme, "run `make keys-table`"


def test_every_key_is_in_the_table() -> None:
    table = render()
    for key in KEYS:
        assert f"`{key.shown}`" in table or key.group == "palette", key.id


def test_a_readme_without_its_markers_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"README\.md has no"):
        replaced("# Watchgate\n")
    assert replaced(f"a\n{BEGIN}\nold\n{END}\nb\n") == f"a\n{BEGIN}\n{render()}\n{END}\nb\n"
