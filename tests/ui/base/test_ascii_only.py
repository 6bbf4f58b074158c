"""Where a terminal shows ASCII alone: nothing is lost that a decision hangs on, no cell moves."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.ui.console_bench import OPTIONS, running
from tests.ui.foreign import WORDS, everything, foreign, foreign_past
from tests.ui.past_picture import answering
from watchgate.core.base.text import safe_text
from watchgate.ui.base.ascii_only import OWN, ascii_cells, ask_ascii, spelled
from watchgate.ui.base.formats import covered
from watchgate.ui.notifications.terminal_sequences import plain
from watchgate.ui.view_model.console_options import Options
from watchgate.ui.view_model.overview import BARS
from watchgate.ui.widgets.base.request_text import lay_out
from watchgate.ui.widgets.base.text_masking import mask_text
from watchgate.ui.widgets.prompts.text_editing import EditText

ASCII = msgspec.structs.replace(OPTIONS, ascii=True)


@pytest.fixture
def ascii_alone() -> Iterator[None]:
    ask_ascii(True)
    yield
    ask_ascii(False)


@given(st.text(max_size=40))
def test_every_cell_stays_a_cell(text: str) -> None:
    safe = safe_text(text)
    assert ascii_cells(safe).isascii()
    assert cell_len(ascii_cells(safe)) == cell_len(safe)


def test_the_heights_of_a_graph_stay_eight() -> None:
    assert len({OWN[ord(each)] for each in BARS}) == len(BARS)
    assert ascii_cells("▁▄█ ━━──") == "_:# ==--"


@pytest.mark.usefixtures("ascii_alone")
def test_what_is_decided_about_is_spelled_out() -> None:
    assert covered("rm \uff52") == "rm <U+FF52>"
    (row,) = lay_out("rm \u6f22/\u202e", (), 60)
    assert [(piece.text, piece.hidden) for piece in row] == [
        ("rm ", False), ("<U+6F22>", True), ("/", False), ("<U+202E>", True),
    ]  # fmt: skip
    assert mask_text("a\u6f22b").span((1, 2)) == (1, 9)
    assert plain("caf\u00e9") == "caf<U+00E9>"
    rows, (_, start, end) = EditText("\u00e9x", 0).rows(20)
    assert rows[0][start:end] == "<U+00E9>"


def test_elsewhere_it_is_shown_as_it_is_whatever_was_shown_before() -> None:
    ask_ascii(True)
    lay_out("echo \u00e9", (), 60)
    ask_ascii(False)
    (row,) = lay_out("echo \u00e9", (), 60)
    assert "".join(piece.text for piece in row) == "echo \u00e9"
    assert spelled("\u00e9") == covered("\u00e9") == "\u00e9"


@pytest.mark.usefixtures("ascii_alone")
@given(one=st.text(max_size=12), other=st.text(max_size=12))
def test_no_two_texts_look_the_same_but_for_the_reverse_of_escapes(one: str, other: str) -> None:
    def looks(text: str) -> list[tuple[str, bool]]:
        pieces = [p for row in lay_out(text, (), 400) for p in row]
        return [(char, p.hidden or p.ink == "dim") for p in pieces for char in p.text]

    assert (looks(one) == looks(other)) is (one == other)


async def test_every_screen_is_ascii_and_columns_stay() -> None:
    words = " ".join(WORDS)
    async with running(foreign(everything(), words), size=(160, 45), options=ASCII) as bench:
        bench.source.answer = answering(foreign_past(words))
        for keys in ("1", "2", "3", "4", "5", "?", ":"):
            await bench.press(
                keys if keys.isdigit() else {"?": "question_mark", ":": "colon"}[keys]
            )
            screen = bench.screen
            assert screen.isascii(), [char for char in screen if not char.isascii()]
        await bench.press("escape", "1")
        assert "<U+6F22><U+5B57>" in bench.screen
        told = [line.index("? waits") for line in bench.screen.splitlines() if "? waits" in line]
        assert len(set(told)) == 1


def test_a_console_is_not_in_ascii_unless_it_is_asked() -> None:
    assert Options().ascii is False
