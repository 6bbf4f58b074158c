"""The prompts: the typed yes, the reply to the model, and the filter."""

from __future__ import annotations

from typing import Any

import pytest
from textual.events import Key, Paste
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from tests.ui.requests import pending, row
from tests.ui.widgets_app import Stage, texts
from watchgate.core.filters.filter_parser import parse
from watchgate.ui.approval.arming import Ask, Commit
from watchgate.ui.widgets.prompts.confirm_prompts import YesPrompt
from watchgate.ui.widgets.prompts.filter_bar import FilterBar, matching
from watchgate.ui.widgets.prompts.typed_prompts import ReplyPrompt

VIEW = pending()
REPLY = Commit("reply", VIEW.id, 900)
ASK = Ask("yes", "allow", VIEW.id, "type yes to allow it", 1500)


class Heard(Stage):
    """Collects what a prompt reports."""

    def __init__(self, widget: Widget) -> None:
        super().__init__(widget)
        self.heard: list[Message] = []

    def on_mount(self) -> None:
        self._widgets[0].focus()

    def on_reply_prompt_replied(self, message: ReplyPrompt.Replied) -> None:
        self.heard.append(message)

    def on_typed_prompt_left(self, message: ReplyPrompt.Left) -> None:
        self.heard.append(message)

    def on_yes_prompt_decided(self, message: YesPrompt.Decided) -> None:
        self.heard.append(message)

    def on_yes_prompt_left(self, message: YesPrompt.Left) -> None:
        self.heard.append(message)

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        self.heard.append(message)

    def on_filter_bar_left(self, message: FilterBar.Left) -> None:
        self.heard.append(message)


async def heard(app: Heard, pilot: Pilot[Any], kind: type[Message]) -> Message:
    """The first message of a kind, waited for."""
    for _ in range(1_000):
        found = [message for message in app.heard if isinstance(message, kind)]
        if found:
            return found[0]
        await pilot.pause(0.02)
    raise AssertionError(f"no {kind.__qualname__} in {app.heard}")


@pytest.mark.anyio
async def test_a_reply_is_sent_with_enter() -> None:
    app = Heard(ReplyPrompt(REPLY, VIEW))
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press(*"use", "space", *"make", "enter")
        said = await heard(app, pilot, ReplyPrompt.Replied)
        assert isinstance(said, ReplyPrompt.Replied)
        assert (said.commit, said.view, said.text) == (REPLY, VIEW, "use make")
        assert texts(app._widgets[0])[0].startswith("  deny #a41f, tell Claude: use make")


@pytest.mark.anyio
async def test_a_key_that_is_read_after_escape_sends_nothing() -> None:
    app = Heard(ReplyPrompt(REPLY, VIEW))
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press(*"make")
        for key in ("escape", "enter", "enter"):
            app._widgets[0].post_message(Key(key, None))
        await heard(app, pilot, ReplyPrompt.Left)
        await pilot.pause()
        assert not [said for said in app.heard if isinstance(said, ReplyPrompt.Replied)]


@pytest.mark.anyio
async def test_an_empty_reply_is_none_and_escape_leaves() -> None:
    app = Heard(ReplyPrompt(REPLY, VIEW))
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press("enter")
        assert "nothing typed yet" in texts(app._widgets[0])[0]
        assert app.heard == []
        await pilot.press("escape")
        await heard(app, pilot, ReplyPrompt.Left)


@pytest.mark.anyio
async def test_a_paste_into_the_reply_is_one_visible_line() -> None:
    prompt = ReplyPrompt(REPLY, VIEW)
    app = Heard(prompt)
    async with app.run_test(size=(100, 24)) as pilot:
        prompt.post_message(Paste("see\n\x1b[2Jdocs"))
        await pilot.pause()
        assert "see <U+001B>[2Jdocs" in texts(prompt)[0]


@pytest.mark.anyio
async def test_the_typed_yes_decides() -> None:
    prompt = YesPrompt(ASK, "Claude runs it at once, nothing else asks", lambda: VIEW.id)
    app = Heard(prompt)
    async with app.run_test(size=(100, 40)) as pilot:
        for letter in "yes":
            await pilot.press(letter)
            await pilot.pause(0.05)
        shown = texts(prompt)
        assert shown[1].startswith("  allow once: type yes")
        assert shown[1].endswith("Claude runs it at once, nothing else asks")
        said = await heard(app, pilot, YesPrompt.Decided)
        assert isinstance(said, YesPrompt.Decided)
        assert said.commit == Commit("allow", VIEW.id, 1500, confirmed=True)


@pytest.mark.anyio
async def test_the_typed_yes_does_not_reach_another_request() -> None:
    app = Heard(YesPrompt(ASK, "", lambda: "another"))
    async with app.run_test(size=(100, 24)) as pilot:
        for letter in "yes":
            await pilot.press(letter)
            await pilot.pause(0.05)
        left = await heard(app, pilot, YesPrompt.Left)
        assert isinstance(left, YesPrompt.Left)
        assert left.why == "the request changed, nothing was decided"


@pytest.mark.anyio
async def test_a_pasted_yes_and_escape_decide_nothing() -> None:
    prompt = YesPrompt(ASK, "", lambda: VIEW.id)
    app = Heard(prompt)
    async with app.run_test(size=(100, 24)) as pilot:
        prompt.post_message(Paste("yes"))
        await pilot.pause()
        assert "a paste does not count" in texts(prompt)[0]
        await pilot.press("escape")
        left = await heard(app, pilot, YesPrompt.Left)
        assert isinstance(left, YesPrompt.Left)
        assert left.why == ""


@pytest.mark.anyio
async def test_the_filter_is_read_while_it_is_typed() -> None:
    app = Heard(FilterBar())
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press(*"tool:Bash", "enter")
        await heard(app, pilot, FilterBar.Left)
        changed = [m for m in app.heard if isinstance(m, FilterBar.Changed)][-1]
        assert changed.text == "tool:Bash"
        assert changed.keep
        assert changed.keep(row(tool="Bash"))
        assert not changed.keep(row(tool="Read"))


@pytest.mark.anyio
async def test_a_fault_is_pointed_at_and_changes_nothing() -> None:
    bar = FilterBar("tool:Bash ")
    app = Heard(bar)
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press(*"colour:red")
        shown = texts(bar)
        assert shown[0].startswith("  / tool:Bash colour:red")
        assert shown[1].index("^") == shown[0].index("colour")
        last = [m for m in app.heard if isinstance(m, FilterBar.Changed)][-1]
        assert last.text == "tool:Bash colour"
        await pilot.press("enter")
        assert not [m for m in app.heard if isinstance(m, FilterBar.Left)]
        await pilot.press("escape")
        await heard(app, pilot, FilterBar.Left)
        last = [m for m in app.heard if isinstance(m, FilterBar.Changed)][-1]
        assert (last.text, last.keep) == ("", None)


def test_a_filter_sees_a_row_by_the_words_of_the_table() -> None:
    call = row(label="docs", tool="Bash", risk="high", stage="timed out", summary="git push")
    for text in ("session:docs", "risk:high", 'state:"timed out"', "push", "-tool:Read"):
        keep = matching(parse(text))
        assert keep, text
        assert keep(call), text
    assert matching(parse("")) is None
