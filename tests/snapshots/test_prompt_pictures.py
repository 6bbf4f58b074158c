"""Pictures of the prompts that show what they allow: more than once, edited, several together."""

from __future__ import annotations

from tests.snapshots.test_pictures import Picture, Shown, picture
from tests.ui.open_requests import FIRST, SECOND, THIRD, asked, pending
from tests.ui.widgets.prompts.test_allow_more import ALL, proposing
from tests.ui.widgets.prompts.test_edit_before_allow import previewing
from watchgate.link.protocol import Snapshot
from watchgate.ui.widgets.prompts.edit_prompt import EditPrompt
from watchgate.ui.widgets.prompts.grant_prompt import BatchPrompt, GrantPrompt

FOUND = {"rule": "fs.delete", "reason": "deletes recursively", "risk": "high", "span": [32, 40]}


def asked_often() -> Snapshot:
    """A request that may be allowed for good, and another one."""
    return pending(asked(scopes=ALL), asked(id=SECOND))


async def turn(shown: Shown) -> None:
    """Press the key that allows more."""
    await shown.press("A")
    await shown.until(lambda: isinstance(shown.app.focused, GrantPrompt))


async def always(shown: Shown) -> None:
    """Chooses always, and waits for the rule."""
    shown.source.answer = proposing
    await turn(shown)
    await shown.press("4")
    prompt = shown.app.focused
    assert isinstance(prompt, GrantPrompt)
    await shown.until(lambda: (card := prompt.offer()) and not card.blocked)


async def rule(shown: Shown) -> None:
    """Puts the rule under the hands."""
    await always(shown)
    await shown.press("e")


async def editing(shown: Shown) -> None:
    """Press the key that edits, and type."""
    await shown.press("e")
    await shown.until(lambda: isinstance(shown.app.focused, EditPrompt))
    for key in " && rm -r .":
        await shown.pilot.press("space" if key == " " else key)


async def assessed(shown: Shown) -> None:
    """Has the core assess what was typed."""
    shown.source.answer = previewing("high", "Deletes recursively", findings=[FOUND])
    await editing(shown)
    await shown.pilot.press("enter")
    await shown.until(lambda: [hint.key for hint in shown.app.prompts.hints][1:2] == ["e"])


async def together(shown: Shown) -> None:
    """Marks two of three, and press the key that allows."""
    await shown.press("space", "tab", "space", "a")
    await shown.until(lambda: isinstance(shown.app.focused, BatchPrompt))


def test_the_reaches_of_an_allow(snap_compare: Picture) -> None:
    """80x24: this turn chosen; always not offered yet."""
    assert picture(snap_compare, pending(asked()), (80, 24), turn)


def test_a_rule_for_good_and_the_calls_of_the_past(snap_compare: Picture) -> None:
    """120x40: the exact rule, where it holds, what it would have let through."""
    assert picture(snap_compare, asked_often(), (120, 40), always)


def test_a_rule_under_the_hands(snap_compare: Picture) -> None:
    """80x24: the rule's text with the cursor."""
    assert picture(snap_compare, asked_often(), (80, 24), rule)


def test_the_editor(snap_compare: Picture) -> None:
    """80x24: the command with the cursor; nothing runs yet."""
    assert picture(snap_compare, pending(asked()), (80, 24), editing)


def test_an_edited_command_assessed_again(snap_compare: Picture) -> None:
    """120x40: its new level, the lines before and after, the new span marked."""
    assert picture(snap_compare, pending(asked()), (120, 40), assessed)


def test_marked_requests_before_they_are_allowed_together(snap_compare: Picture) -> None:
    """120x40: exactly those that were marked."""
    three = pending(
        asked(id=FIRST),
        asked("npm run build --mode production", id=SECOND),
        asked("npm run build --watch", id=THIRD),
    )
    assert picture(snap_compare, three, (120, 40), together)
