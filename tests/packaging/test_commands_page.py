"""docs/commands.md is what the parsers say."""

from __future__ import annotations

import pytest

from scripts import commands_page
from scripts.commands_page import PAGE, SECTIONS, render
from watchgate.cli import GROUPS


def test_the_page_is_the_one_that_the_parsers_make() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run `make commands-page`"


def test_every_command_stands_in_one_section() -> None:
    named = [command for commands in SECTIONS.values() for command in commands]
    assert sorted(named) == sorted(command for group in GROUPS.values() for command in group)


def test_a_command_that_is_forgotten_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands_page, "SECTIONS", {"Look": ("demo",)})
    with pytest.raises(ValueError, match="only one of the sections"):
        render()
