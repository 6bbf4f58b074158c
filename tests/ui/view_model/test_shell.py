"""Small parts of the shell: breakpoints, stylesheets, the docked request, the farewell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui.picture import CRITICAL, HIGH, busy
from watchgate.core.model.views import Totals
from watchgate.core.state.state import State
from watchgate.ui.base.terminal_shape import TerminalShape
from watchgate.ui.base.theme import stylesheets
from watchgate.ui.source.core_bridge import Link
from watchgate.ui.view_model.dock_state import DockState
from watchgate.ui.view_model.overview import farewell

PENDING = busy().pending


@pytest.mark.parametrize(
    ("columns", "sidebar", "detail"),
    [
        (80, False, False),
        (111, False, False),
        (112, True, False),
        (140, False, True),
        (160, True, True),
    ],
)
def test_what_stands_beside_the_calls(columns: int, sidebar: bool, detail: bool) -> None:
    shape = TerminalShape(columns, 40)
    assert (shape.sidebar, shape.detail) == (sidebar, detail)


@pytest.mark.parametrize(
    ("columns", "rows", "tiny"), [(60, 16, False), (59, 16, True), (60, 15, True), (200, 15, True)]
)
def test_a_request_needs_sixty_by_sixteen_cells(columns: int, rows: int, tiny: bool) -> None:
    assert TerminalShape(columns, rows).tiny is tiny


def test_stylesheets_lie_in_the_package_or_beside_the_source_root(tmp_path: Path) -> None:
    package, checkout = tmp_path / "package", tmp_path / "checkout"
    checkout.mkdir()
    assert stylesheets("base", places=(package, checkout)) == [checkout / "base.tcss"]
    package.mkdir()
    assert stylesheets("base", places=(package, checkout)) == [package / "base.tcss"]


def test_missing_stylesheets_are_an_error_that_tells_the_mend(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="install watchgate again"):
        stylesheets("base", places=(tmp_path / "nowhere",))


def test_a_new_request_never_takes_the_place_of_the_docked_one() -> None:
    desk = DockState()
    assert desk.look(PENDING[1:])[0] is PENDING[1]
    view, place = desk.look(PENDING)
    assert (view, place) == (PENDING[1], 1)


def test_going_round_the_open_requests() -> None:
    desk = DockState()
    desk.turn(PENDING, +1)
    assert desk.docked == HIGH
    desk.turn(PENDING, +1)
    assert desk.docked == CRITICAL
    desk.turn((), +1)
    assert desk.look(())[0] is None


def test_what_was_said_is_gone_after_a_moment() -> None:
    desk = DockState()
    desk.say("copied", now_s=10.0)
    assert not desk.forget(13.9)
    assert desk.note == "copied"
    assert desk.forget(14.0)
    assert desk.note == ""


def test_the_farewell_says_what_goes_on() -> None:
    state = State()
    state.totals = Totals(allowed_by_operator=1, denied_by_operator=1, denied_by_timeout=1)
    state.pending = {view.id: view for view in PENDING}
    said = farewell(state, Link(state="attached"), demo=False)
    assert "1 allowed, 2 denied (1 in silence); 2 requests still open" in said
    lost = farewell(state, Link(state="lost"), demo=False)
    assert "no core runs: acting calls are denied where hooks gate; `watchgate` starts" in lost
    lost = farewell(state, Link(state="lost"), demo=False, calls="unasked")
    assert "no core runs: nothing is asked; `watchgate` starts one" in lost
    assert "leaves nothing behind" in farewell(state, Link(state="attached"), demo=True)
