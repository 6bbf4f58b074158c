"""What a prompt leaves to its surroundings: the keys after it, the mouse beside it, the rows."""

from __future__ import annotations

import pytest

from tests.ui.approvals_picture import approvals, many
from tests.ui.asked import question
from tests.ui.console_bench import Bench, running
from tests.ui.picture import CRITICAL, HIGH
from tests.ui.screens.test_approvals_screen import approvals_of
from watchgate.core.model.events import Choice, Question
from watchgate.ui.approval.arming import TYPING
from watchgate.ui.widgets.prompts.grant_prompt import BatchPrompt
from watchgate.ui.widgets.prompts.typed_prompts import AnswerPrompt

CHOICES = tuple(Choice(f"choice {number}") for number in range(1, 10))


async def run_of(bench: Bench, *keys: str) -> None:
    """Keys as a typist presses them."""
    for key in keys:
        await bench.pilot.press(key)
        await bench.settle()
        bench.clock.advance(0.05)
    bench.clock.advance(0.3)
    await bench.settle()


def decisions(bench: Bench) -> list[str | None]:
    return [asked.decision for asked in bench.source.asked if asked.verb == "decide"]


@pytest.mark.parametrize(
    ("opens", "leaves"), [("r", "escape"), ("slash", "escape"), ("slash", "enter"),
                          ("colon", "escape"), ("apostrophe", "z")]
)  # fmt: skip
async def test_a_key_right_after_a_prompt_belongs_to_the_typing_in_it(
    opens: str, leaves: str
) -> None:
    async with running(approvals()) as bench:
        await bench.press(opens)
        bench.clock.advance(1)
        await run_of(bench, leaves, "d")
        assert bench.app.desk.note == TYPING
        assert decisions(bench) == []
        await bench.press("d")
        assert decisions(bench) == ["deny"]


async def test_the_mouse_takes_no_request_away_from_above_its_prompt() -> None:
    async with running(approvals()) as bench:
        await bench.press("2", "r")
        await bench.type("no")
        queue = approvals_of(bench).queue
        await bench.pilot.click(queue, offset=(8, dict(queue.places)[HIGH]))
        await bench.settle()
        assert bench.app.operator.drawn_id == CRITICAL
        assert "leave what is open below first" in bench.screen
        await bench.press("escape")
        await bench.pilot.click(queue, offset=(8, dict(queue.places)[HIGH]))
        await bench.settle()
        assert bench.app.operator.drawn_id == HIGH


@pytest.mark.parametrize("size", [(60, 16), (80, 16), (100, 17), (112, 18), (120, 24)])
@pytest.mark.parametrize("screen", ["1", "2", "3"])
async def test_dock_and_footer_stay_whole_below_a_long_prompt(
    screen: str, size: tuple[int, int]
) -> None:
    async with running(many(), size=size) as bench:
        await bench.press(screen)
        bench.app.ask_batch(list(bench.app.bridge.state.pending.values()))
        await bench.until(lambda: isinstance(bench.app.focused, BatchPrompt))
        await bench.settle()
        frame = bench.app.pages.top
        for part in (frame.dock, frame.prompt, frame.footer):
            if part.display:
                place = bench.app.screen.find_widget(part)
                assert place.visible_region == place.region
        assert frame.footer.size.width == size[0]


async def test_the_line_that_is_typed_into_is_there_where_rows_are_few() -> None:
    several = [Question(f"q{number}", f"Which {number}?", "", CHOICES) for number in (1, 2)]
    async with running(question(*several), size=(80, 16)) as bench:
        await bench.until(lambda: bench.app.operator.drawn_id)
        bench.app.operator.shown_whole(CRITICAL)
        bench.clock.advance(2)
        await bench.press("a")
        if not isinstance(bench.app.focused, AnswerPrompt):
            await bench.press("a")
        await bench.until(lambda: isinstance(bench.app.focused, AnswerPrompt))
        await bench.type("my own words")
        await bench.settle()
        assert "my own words" in bench.screen
