"""Pictures of what an agent asks a person: questions, their prompt, and plans."""

from __future__ import annotations

from tests.snapshots.test_pictures import Picture, Shown, picture, themed
from tests.ui.asked import AGE, CHECKS, STORE, plan, question
from watchgate.ui.widgets.prompts.typed_prompts import AnswerPrompt


async def second_question(shown: Shown) -> None:
    """Opens the prompt from the whole request, answers the first question, types into the next."""
    await shown.press("v", "pagedown", "pagedown")
    docked = shown.source.snapshot.pending[0].id
    await shown.until(lambda: shown.app.operator.was_shown(docked))
    await shown.press("a")
    await shown.until(lambda: isinstance(shown.app.focused, AnswerPrompt))
    await shown.press("2", "enter", "1")


async def in_full(shown: Shown) -> None:
    """Opens the whole request, and waits until that counts as shown."""
    docked = shown.source.snapshot.pending[0].id
    await shown.press("v")
    await shown.until(lambda: shown.app.operator.was_shown(docked))


def test_a_question_in_the_dock(snap_compare: Picture) -> None:
    """120x40: word and glyph of its own, numbered choices, no risk."""
    assert picture(snap_compare, question(STORE), (120, 40))


def test_several_questions_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24: the first of several; the dock says how much more there is."""
    assert picture(snap_compare, question(CHECKS, STORE, AGE), (80, 24))


def test_the_answer_prompt(snap_compare: Picture) -> None:
    """80x24: the second question, the choice that was typed marked."""
    assert picture(snap_compare, question(CHECKS, STORE), (80, 24), second_question)


def test_a_plan_in_the_dock(snap_compare: Picture) -> None:
    """120x40: the plan's first lines, and what each key leads to."""
    assert picture(snap_compare, plan(), (120, 40))


def test_a_plan_in_full_on_a_light_terminal(snap_compare: Picture) -> None:
    """120x40: the plan to its end, as plain text."""
    assert picture(snap_compare, plan(), (120, 40), in_full, themed("light"))
