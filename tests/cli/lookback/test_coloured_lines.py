"""Lines of coloured text, for a terminal and as an SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from watchgate.cli.lookback.coloured_lines import Span, apart, cut, painted, svg, width_of
from watchgate.ui.base.theme import DARK, LIGHT, Palette

LINES = [(Span(" risk  ", "critical", bold=True), Span("█▌", "high"), Span("  a <b> & c"))]


def test_a_text_is_cut_by_cells_not_letters() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abc..."
    assert cut("漢字漢字", 6) == "漢..."
    assert cut("abcdefg", 2) == ".."
    assert cut("abcdefg", 0) == ""


def test_two_ends_of_a_line_or_the_left_one_alone() -> None:
    left, right = (Span("left"),), (Span("right"),)
    assert width_of(apart(left, right, 20)) == 20
    assert width_of(apart(left, right, 9)) == 9
    assert apart(left, right, 8) == left


@pytest.mark.parametrize(
    ("colors", "term", "codes"),
    [("truecolor", "xterm-256color", "38;2;255;106;61"), ("", "xterm-256color", "38;5;")],
)
def test_a_terminal_gets_the_colours_that_it_has(
    monkeypatch: pytest.MonkeyPatch, colors: str, term: str, codes: str
) -> None:
    monkeypatch.setenv("COLORTERM", colors)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    text = painted(LINES, DARK, ascii_only=False)
    assert codes in text
    assert re.sub(r"\x1b\[[0-9;]*m", "", text) == " risk  █▌  a <b> & c\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_without_colours_there_are_no_codes(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv(name, value)
    assert painted(LINES, DARK, ascii_only=True) == " risk  ##  a <b> & c\n"


@pytest.mark.parametrize("palette", [DARK, LIGHT])
def test_the_svg_holds_every_word_on_its_own_cell(palette: Palette) -> None:
    drawn = ET.fromstring(svg(LINES, palette, title="t & t", cells=40))
    texts = {each.text: float(each.get("x", "0")) for each in drawn.iter() if each.text}
    assert {"risk", "a <b> & c", "t & t"} <= texts.keys()
    assert texts["a <b> & c"] > texts["risk"]
    bar = [each for each in drawn.iter() if each.get("fill") == palette.colors["high"]]
    assert [each.tag.rpartition("}")[2] for each in bar] == ["rect"]
