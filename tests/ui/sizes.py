"""A console that is resized again and again, and what must be so at every size."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from textual.events import Resize
from textual.geometry import Size

from tests.ui.console_bench import Bench, handed_on
from watchgate.ui.commands.key_registry import footer
from watchgate.ui.screens.screen_frame import Frame

SIZES = (
    (60, 16), (60, 24), (79, 24), (80, 24), (99, 30), (100, 30), (111, 40), (112, 40), (120, 40),
    (139, 45), (140, 45), (159, 45), (160, 45), (200, 60),
)  # fmt: skip
TINY = ((48, 12), (30, 6), (20, 4), (1, 1))
HINTED_FROM = 20
"""Columns from which a hint of its own width must stand whole in the footer."""


async def resize(bench: Bench, size: tuple[int, int]) -> None:
    """Gives the terminal another size, and lets the console draw it."""
    driver = bench.app._driver
    assert driver is not None
    driver._size = size
    bench.app.post_message(Resize(Size(*size), Size(*size)))
    for _ in range(400):
        await bench.pilot.pause()  # Textual lays out anew only when it has nothing else to do
        bench.app.tick()
        await handed_on(bench.app)
        screen = bench.app.screen
        if bench.app.size == screen._compositor.size == size and not screen._layout_required:
            break
    await handed_on(bench.app)


def lines(bench: Bench) -> list[str]:
    """The screen, every line with all of its cells."""
    return [strip.text for strip in bench.app.screen._compositor.render_strips()]


def check(bench: Bench) -> None:
    """Every line as wide as the terminal, hints whole, what decides and what helps among them."""
    app = bench.app
    columns, rows = app.size
    assert app._exception is None
    drawn = app.screen._compositor.render_strips()
    assert len(drawn) == rows
    for strip in drawn:
        cells = sum(cell_len(segment.text) for segment in strip)
        assert cells == columns, (cells, strip.text)
    frame = app.screen
    assert isinstance(frame, Frame)
    moment = app.moment()
    if columns < HINTED_FROM or moment.note:
        return
    hints = bench.text(frame.footer)
    shown = [
        f"{hint.key} {hint.label}" if hint.enabled else f"({hint.key} {hint.label})"
        for hint in moment.hints
    ]
    assert hints == " " + "  ".join(shown), "a hint is cut"
    if app.prompts._open is not None or moment.link.lost:
        return
    named = footer(moment.context)
    if "help" in named:
        assert "? help" in hints, hints
    if moment.docked is not None and "deny" in named:
        assert "d deny" in hints, hints


def columns(bench: Bench, words: frozenset[str]) -> dict[str, set[int]]:
    """For each of the words: the cells in which it begins, as a word of its own."""
    found: dict[str, set[int]] = {}
    for line in lines(bench):
        for word, at in _words(line):
            if word in words:
                found.setdefault(word, set()).add(cell_len(line[:at]))
    return found


def _words(line: str) -> Iterator[tuple[str, int]]:
    at = 0
    for word in line.split(" "):
        if word:
            yield word, at
        at += len(word) + 1
