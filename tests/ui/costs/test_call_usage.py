"""Questions and plans in the console: shown, answered one by one, declined, handed back."""

from __future__ import annotations

import pytest

from tests.ui.asked import AGE, CHECKS, PLAN, STORE, plan, question
from tests.ui.console_bench import Bench, running
from tests.ui.picture import CRITICAL
from watchgate.core.model.events import Choice, Question
from watchgate.link.protocol import Request
from watchgate.ui.widgets.prompts.typed_prompts import AnswerPrompt


async def answering(bench: Bench) -> None:
    """Press the key that answers, and wait for its prompt."""
    await bench.press("a")
    await bench.until(lambda: isinstance(bench.app.focused, AnswerPrompt))


async def read(bench: Bench) -> None:
    """Waits until the console knows that all of the request was on the screen."""
    await bench.until(lambda: bench.app.operator.was_shown(CRITICAL))
    await bench.settle()


async def sent(bench: Bench) -> Request:
    await bench.until(lambda: bench.source.asked)
    return bench.source.asked[0]


async def test_a_question_docks_with_its_choices_and_without_a_risk() -> None:
    async with running(question(STORE)) as bench:
        for part in ("? QUESTION", STORE.text, "1 Redis", "3 In memory", "nothing to run"):
            assert part in bench.screen
        assert "a answer" in bench.screen
        assert "d decline" in bench.screen
        assert "Claude asks" in bench.screen


async def test_a_number_chooses() -> None:
    async with running(question(STORE)) as bench:
        await answering(bench)
        await bench.type("2")
        await bench.settle()
        assert "means SQLite" in bench.screen
        await bench.pilot.press("enter")
        asked = await sent(bench)
        assert (asked.decision, asked.answers) == ("answer", (("SQLite",),))
        assert (asked.request, asked.digest) == (CRITICAL, "d" * 64)
        assert asked.shown_ms is not None
        assert asked.shown_ms >= 600


async def test_words_of_ones_own_are_an_answer() -> None:
    async with running(question(STORE)) as bench:
        await answering(bench)
        await bench.type("none of these")
        await bench.pilot.press("enter")
        assert (await sent(bench)).answers == (("none of these",),)


async def test_several_questions_come_one_after_another() -> None:
    async with running(question(STORE, CHECKS, AGE)) as bench:
        await bench.press("v")
        await read(bench)
        await answering(bench)
        assert "question 1 of 3" in bench.screen
        assert "next question" in bench.screen
        await bench.type("1")
        await bench.settle()
        assert "> 1 Redis" in bench.screen
        await bench.press("enter")
        assert "question 2 of 3" in bench.screen
        await bench.type("1,3")
        await bench.press("enter")
        assert "answer with it" in bench.screen
        assert bench.source.asked == []
        await bench.press("enter")
        assert (await sent(bench)).answers == (("Redis",), ("lint", "tests"), ())


@pytest.mark.parametrize(
    ("asked", "typed", "said"),
    [
        (STORE, "", "needs an answer"),
        (STORE, "9", "no choice 9"),
        (AGE, "soon", "a whole number"),
    ],
)
async def test_what_is_no_answer_is_said_and_not_sent(
    asked: Question, typed: str, said: str
) -> None:
    async with running(question(asked)) as bench:
        await answering(bench)
        await bench.type(typed)
        await bench.press("enter")
        assert said in bench.screen
        assert bench.source.asked == []


async def test_escape_leaves_the_question_waiting() -> None:
    async with running(question(STORE)) as bench:
        await answering(bench)
        await bench.type("1")
        await bench.press("escape")
        assert bench.app.prompts.hints == ()
        assert bench.source.asked == []


async def test_what_does_not_fit_the_dock_is_opened_before_it_is_answered() -> None:
    """Nobody answers what they were not shown."""
    async with running(question(STORE, STORE, CHECKS), size=(80, 24)) as bench:
        assert "v to view" in bench.screen
        await bench.press("a")
        assert "a answers once all was shown, d declines" in bench.screen
        assert "question 1 of 3" in bench.screen
        await bench.press("pagedown", "pagedown")
        assert "question 3 of 3" in bench.screen
        await read(bench)
        await answering(bench)


async def test_a_question_that_only_just_appeared_takes_no_answer() -> None:
    async with running(question(STORE)) as bench:
        await bench.press("a", apart_s=0.1)
        assert "not yet" in bench.screen
        assert bench.app.prompts.hints == ()


async def test_a_question_is_declined_or_handed_back() -> None:
    for key, decision in (("d", "deny"), ("b", "handback")):
        async with running(question(STORE)) as bench:
            await bench.press(key)
            assert (await sent(bench)).decision == decision


async def test_a_plan_is_approved_once_it_was_read_to_its_end() -> None:
    async with running(plan()) as bench:
        assert "? PLAN" in bench.screen
        await bench.press("a")
        assert "a approves" in bench.screen
        for line in PLAN.splitlines():
            assert line in bench.screen
        await read(bench)
        assert "a approves, d denies" in bench.screen, "nothing of it is hidden"
        await bench.press("a")
        assert (await sent(bench)).decision == "allow"


async def test_a_plan_is_denied_with_a_comment() -> None:
    async with running(plan()) as bench:
        await bench.press("r")
        await bench.until(lambda: bench.app.prompts.hints)
        await bench.type("keep the old path for good")
        await bench.pilot.press("enter")
        asked = await sent(bench)
        assert (asked.decision, asked.reason) == ("deny", "keep the old path for good")


async def test_nothing_that_an_agent_asks_is_markup_or_control() -> None:
    odd = Question("[bold]Which\x1b[2J?[/]", choices=(Choice("[red]a[/]\u202e", "\x07"),))
    async with running(question(odd)) as bench:
        assert "[bold]Which<U+001B>[2J?[/]" in bench.screen
        assert "[red]a[/]<U+202E>" in bench.screen
        await answering(bench)
        assert "\x1b" not in bench.screen


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (48, 12)])
async def test_every_size_says_that_something_is_asked(size: tuple[int, int]) -> None:
    async with running(question(STORE), size=size) as bench:
        assert "?" in bench.screen
        await bench.press("d")
        assert (await sent(bench)).decision == "deny"
