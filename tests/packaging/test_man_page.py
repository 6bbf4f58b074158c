"""The man page is what the parsers say, and one that man can show."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from scripts.man_page import PAGE, render
from watchgate.cli import GROUPS


def test_the_page_is_the_one_that_the_parsers_make() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run `make man-page`"


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_every_command_can_be_read_in_it_and_nothing_is_warned_of() -> None:
    said = subprocess.run(
        ["groff", "-ww", "-man", "-Tutf8", PAGE], capture_output=True, text=True, check=True
    )
    assert said.stderr == ""
    words = " ".join(re.sub(r".\x08", "", said.stdout).split())
    for command in (command for group in GROUPS.values() for command in group):
        assert f"watchgate {command}" in words
    assert "no core is reachable" in words
