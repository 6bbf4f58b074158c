"""What stands for a text on the screen: secrets are covered, and nothing hides behind one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.ui.requests import data
from watchgate.core.model.assessment import Segment
from watchgate.ui.base.formats import covered
from watchgate.ui.widgets.base.request_text import lay_out
from watchgate.ui.widgets.base.text_masking import Masking, count_secrets, mask_text, masking_of

KEY = "AKIA" + "ABCDEFGH12345678"
PEM = "-----BEGIN PRIVATE KEY-----\n" + "A1b/" * 16 + "\n-----END PRIVATE KEY-----"


def drawn(text: str, how: Masking) -> str:
    return "".join(piece.text for row in lay_out(text, (), 10_000, masking=how) for piece in row)


def test_a_secret_is_covered_until_it_is_asked_for() -> None:
    assert drawn(f"x {KEY} y", Masking()) == "x <aws-key, 20 chars> y"
    assert drawn(f"x {KEY} y", Masking(bare=True)) == f"x {KEY} y"


def test_where_a_command_starts_inside_of_a_secret_it_is_none() -> None:
    """A shell would run that line, so whoever decides has to read it."""
    at = PEM.index("A1b/")
    asked = data(f"cat\n{PEM}", segments=(Segment(1, (0, 3)), Segment(2, (4 + at, 4 + at + 64))))
    assert count_secrets(f"cat\n{PEM}", Masking()) == 1
    assert count_secrets(f"cat\n{PEM}", masking_of(asked, bare=False)) == 0


def test_a_text_that_was_not_understood_has_only_secrets_of_one_line() -> None:
    assert count_secrets(f"{PEM} {KEY}", masking_of(data("x", opaque=True), bare=False)) == 1


def test_a_hidden_character_shows_through_a_secret() -> None:
    assert "<U+200B>" in drawn("--password=hunter\u200b22", Masking())


def test_a_position_inside_a_covered_secret_is_where_the_secret_is_shown() -> None:
    view = mask_text(f"a {KEY} b")
    assert view.span((4, 6)) == (2, 21)
    assert view.span((2, 22)) == (2, 21)
    assert view.span((23, 24)) == (22, 23)


def test_one_line_is_covered_before_it_is_cut() -> None:
    assert covered(f"aws --key {KEY}\nrm")[:30] == "aws --key <aws-key, 20 chars>\\"


@given(st.text("ab \n\u200b" + KEY, max_size=80), st.integers(0, 80), st.integers(0, 80))
def test_what_a_span_covers_is_never_lost(text: str, first: int, second: int) -> None:
    start, end = sorted((min(first, len(text)), min(second, len(text))))
    view = mask_text(text)
    whole = drawn(text, Masking())
    a, b = view.span((start, end))
    assert 0 <= a <= b <= len(whole)
    assert (a < b) or start == end


def test_what_indents_code_stays_and_every_other_run_of_blanks_is_told() -> None:
    code = Masking(code=True)
    indent = " " * 12
    assert drawn(f"{indent}x\n{indent}y", code) == f"{indent}x\\n{indent}y"
    assert drawn(f"ls{indent}x", code) == "ls<12 blanks>x"
    assert drawn(f"ls\n{' ' * 50}x", code) == "ls\\n<50 blanks>x"
    assert drawn(f"{indent}x", Masking()) == "<12 blanks>x"
