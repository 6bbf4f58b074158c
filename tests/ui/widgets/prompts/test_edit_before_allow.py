"""Editing a call before it is allowed: assessed again, shown, and only then allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.events import Paste

from tests.ui.console_bench import Bench, running
from tests.ui.open_requests import FIRST, asked, pending
from watchgate.core.model.events import Tool
from watchgate.link.control_lines import ControlAnswer
from watchgate.link.protocol import Refusal, Request, Result
from watchgate.ui.widgets.prompts.edit_prompt import EditPrompt

NEW = "f" * 64


def previewing(
    risk: str = "low", reason: str = "Only reads", **more: Any
) -> Callable[..., ControlAnswer]:
    """A core that finds this of every edited input."""
    looked = {"digest": NEW, "risk": risk, "reason": reason, "findings": [], "segments": []}

    def answer(request: Request) -> ControlAnswer:
        ok = {**looked, "input": request.input, **more} if request.verb == "preview" else {}
        return Result(id=request.id, ok=ok)

    return answer


async def opened(bench: Bench) -> None:
    """Press the key that edits, and wait for its prompt."""
    await bench.press("e")
    await bench.until(lambda: isinstance(bench.app.focused, EditPrompt))
    await bench.settle()


async def previewed(bench: Bench, typed: str = " --dry-run") -> None:
    """Edit the command and wait for what the core makes of it."""
    await opened(bench)
    await bench.type(typed)
    await bench.pilot.press("enter")
    await bench.until(lambda: "e edit on" in bench.screen)
    await bench.settle()


def sent(bench: Bench) -> list[Request]:
    return [each for each in bench.source.asked if each.verb == "decide"]


async def test_the_edited_command_is_shown_with_its_new_level_and_then_allowed() -> None:
    async with running(pending(asked())) as bench:
        bench.source.answer = previewing()
        await previewed(bench)
        wanted = bench.source.asked[0]
        command = "npm run build --mode staging --dry-run"
        assert (wanted.verb, wanted.request) == ("preview", FIRST)
        assert wanted.input == {"command": command, "description": "x"}
        for part in (". LOW", "only reads", "was MEDIUM", "- npm run build --mode staging"):
            assert part in bench.screen
        assert f"+ {command}" in bench.screen
        await bench.press("a")
        await bench.until(lambda: sent(bench))
        (decided,) = sent(bench)
        assert (decided.decision, decided.request, decided.digest) == ("allow", FIRST, NEW)
        assert decided.input == wanted.input
        assert decided.shown_ms is not None
        assert decided.shown_ms >= 600
        await bench.until(lambda: "#c1ah allowed as edited" in bench.screen)


async def test_enter_only_asks_and_never_allows() -> None:
    async with running(pending(asked())) as bench:
        bench.source.answer = previewing()
        await previewed(bench)
        await bench.press("enter", "enter", "y")
        assert not sent(bench)


async def test_an_edit_that_became_high_wants_the_key_twice() -> None:
    async with running(pending(asked())) as bench:
        bench.source.answer = previewing("high", "Deletes recursively")
        await previewed(bench, " && rm -r .")
        assert "!! HIGH" in bench.screen
        await bench.press("a")
        await bench.until(lambda: "a again allows it" in bench.screen)
        assert not sent(bench)
        await bench.press("a")
        await bench.until(lambda: sent(bench))
        assert sent(bench)[0].confirmed


async def test_an_edit_that_became_critical_wants_a_typed_yes() -> None:
    async with running(pending(asked())) as bench:
        bench.source.answer = previewing("critical", "Runs what it downloads")
        await previewed(bench, " | sh")
        await bench.press("a")
        await bench.until(lambda: "type yes to allow it" in bench.screen)
        assert not sent(bench)
        for letter in "yes":
            bench.clock.advance(0.1)
            await bench.pilot.press(letter)
        bench.clock.advance(0.26)
        await bench.until(lambda: sent(bench))
        assert sent(bench)[0].confirmed
        assert sent(bench)[0].digest == NEW


async def test_an_edit_that_a_rule_denies_says_which_and_cannot_be_allowed() -> None:
    async with running(pending(asked())) as bench:
        bench.source.answer = lambda request: Refusal(
            id=request.id,
            refused="not_offered",
            message="a rule denies the edited call: own.socket",
        )
        await opened(bench)
        await bench.type(" x")
        await bench.pilot.press("enter")
        await bench.until(lambda: "a rule denies the edited call" in bench.screen)
        await bench.press("a")
        assert not sent(bench)


async def test_what_is_shown_is_what_the_core_says_would_run() -> None:
    async with running(pending(asked())) as bench:
        bench.source.answer = previewing(input={"command": "npm run build --silent"})
        await previewed(bench)
        assert "+ npm run build --silent" in bench.screen
        assert "--dry-run" not in bench.screen


async def test_a_raised_level_says_why() -> None:
    async with running(pending(asked())) as bench:
        bench.source.answer = previewing("high", raised="denied 2 min ago in other words")
        await previewed(bench)
        assert "denied 2 min ago in other words" in bench.screen


async def test_the_spans_of_the_new_command_are_marked() -> None:
    found = {"rule": "shell.sh", "reason": "a shell", "risk": "high", "span": [31, 33]}
    async with running(pending(asked())) as bench:
        bench.source.answer = previewing("high", "A shell", findings=[found])
        await previewed(bench, " | sh")
        strips = bench.app.screen._compositor.render_strips()
        marked = [
            segment.text
            for strip in strips
            for segment in strip
            if segment.style and segment.style.underline
        ]
        assert "sh" in [text.strip() for text in marked]


async def test_editing_on_asks_again_and_nothing_of_before_is_allowed() -> None:
    async with running(pending(asked())) as bench:
        bench.source.answer = previewing()
        await previewed(bench)
        await bench.press("e")
        assert "new line" in bench.screen
        await bench.type("a")
        await bench.settle()
        assert not sent(bench)
        await bench.pilot.press("enter")
        await bench.until(lambda: len(bench.source.asked) == 2)
        edited = bench.source.asked[1].input
        assert edited
        assert edited["command"].endswith("--dry-runa")


async def test_a_refused_preview_keeps_the_text_under_the_hands() -> None:
    async with running(pending(asked())) as bench:
        bench.source.answer = lambda request: Refusal(
            id=request.id, refused="bad_request", message="that is no input of Bash"
        )
        await opened(bench)
        await bench.type(" x")
        await bench.pilot.press("enter")
        await bench.until(lambda: "that is no input of Bash" in bench.screen)
        assert "staging x" in bench.screen


async def test_nothing_changed_is_nothing_to_assess() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        await bench.pilot.press("enter")
        await bench.settle()
        assert "nothing is changed" in bench.screen
        assert not bench.source.asked


async def test_a_lost_core_says_so_in_the_prompt() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        bench.source.lose()
        await bench.type("x")
        await bench.pilot.press("enter")
        await bench.until(lambda: "not attached" in bench.screen)


async def test_an_answer_of_another_shape_allows_nothing() -> None:
    async with running(pending(asked())) as bench:
        bench.source.answer = lambda request: Result(id=request.id, ok={"digest": 7})
        await opened(bench)
        await bench.type("x")
        await bench.pilot.press("enter")
        await bench.until(lambda: "the core's answer cannot be read" in bench.screen)


async def test_escape_leaves_the_request_as_it_was() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        await bench.type("xyz")
        await bench.pilot.press("escape")
        await bench.until(lambda: not bench.app.prompts.hints)
        assert not bench.source.asked
        assert bench.app.operator.drawn_id == FIRST


async def test_an_agent_that_takes_no_other_input_cannot_be_edited_and_the_key_says_so() -> None:
    async with running(pending(asked(offered=("allow", "deny")))) as bench:
        await bench.press("e")
        assert "Claude takes no other input than its own: r denies and says why" in bench.screen


async def test_any_other_input_is_edited_as_json_and_a_slip_in_it_is_said() -> None:
    tool = Tool("WebFetch", "WebFetch", "fetch", {"url": "https://example.org/a"}, "h")
    view = asked(tool=tool, summary="https://example.org/a", segments=())
    async with running(pending(view)) as bench:
        bench.source.answer = previewing()
        await opened(bench)
        await bench.pilot.press("backspace", "enter")
        await bench.until(lambda: "not a JSON object" in bench.screen)
        await bench.pilot.press("}", "up", "end", "backspace")
        await bench.type("b")
        await bench.type('"')
        await bench.pilot.press("enter")
        await bench.until(lambda: bench.source.asked)
        assert bench.source.asked[0].input == {"url": "https://example.org/ab"}


async def test_a_long_edit_is_allowed_only_once_its_end_was_shown() -> None:
    command = "\n".join(f"echo {number}" for number in range(40))
    async with running(pending(asked(command, segments=()))) as bench:
        bench.source.answer = previewing()
        await bench.press("v")
        await bench.until(lambda: bench.app.operator.was_shown(FIRST) or bench.screen)
        while not bench.app.operator.was_shown(FIRST):
            await bench.press("pagedown")
        await previewed(bench, "0")
        await bench.press("a")
        await bench.until(lambda: "j shows the rest" in bench.screen)
        assert not sent(bench)
        for _ in range(4):
            await bench.press("pagedown")
        await bench.press("a")
        await bench.until(lambda: sent(bench))


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 16)])
async def test_dock_and_footer_stay_in_view_beside_the_editor(size: tuple[int, int]) -> None:
    async with running(pending(asked()), size=size) as bench:
        if not bench.app.operator.was_shown(FIRST):
            await bench.press("v")
        await opened(bench)
        assert "MEDIUM" in bench.screen
        assert "Enter assess it again" in bench.screen.splitlines()[-1]


async def test_hidden_characters_of_a_paste_are_visible_in_the_editor() -> None:
    async with running(pending(asked())) as bench:
        await opened(bench)
        prompt = bench.app.focused
        assert isinstance(prompt, EditPrompt)
        prompt.post_message(Paste("\u202e\x1b[2Jx"))
        await bench.settle()
        assert "<U+202E><U+001B>[2Jx" in bench.screen
        assert "\x1b" not in bench.screen
