"""Hostile text in the prompts that show what they allow: nothing of it reaches the terminal raw."""

from __future__ import annotations

from typing import Any, Unpack

import msgspec
import pytest

from tests.ui.hostile_app import HOSTILE, SENDABLE
from tests.ui.open_requests import BUILD, asked
from tests.ui.widgets_app import Stage, texts
from watchgate.core.base.text import hidden_spans
from watchgate.core.model.views import PendingView
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer
from watchgate.link.protocol import Refusal, Result, Verb
from watchgate.ui.approval.arming import Intent
from watchgate.ui.widgets.prompts.edit_prompt import EditPrompt
from watchgate.ui.widgets.prompts.grant_prompt import BatchPrompt, GrantPrompt
from watchgate.ui.widgets.prompts.sheet_prompt import SheetPrompt

KEYS: dict[str, Intent] = {"a": "allow", "d": "deny"}
FINDING = {"rule": HOSTILE, "reason": HOSTILE, "risk": "high", "span": [0, 30]}
ANSWERS: dict[str, dict[str, Any]] = {
    "preview": {
        "digest": "d",
        "risk": "high",
        "reason": HOSTILE,
        "raised": HOSTILE,
        "findings": [FINDING],
        "input": {"command": SENDABLE},
    },
    "propose": {
        "rules": [{"words": [HOSTILE, HOSTILE], "more": True, "tool": HOSTILE, "number": 1}],
        "folder": HOSTILE,
        "past": [{"at": 1, "summary": HOSTILE, "session": HOSTILE}],
        "past_count": 1,
    },
}


async def core(verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
    return Result(id=1, ok=ANSWERS[verb])


async def refusing(verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
    return Refusal(id=1, refused="bad_request", message=HOSTILE)


def view() -> PendingView:
    scopes = ("once", "turn", "session", "15m", "always")
    plain = asked(f"{BUILD} {SENDABLE}", scopes=scopes, cwd="/" + HOSTILE)
    return msgspec.structs.replace(plain, label=HOSTILE, agent=HOSTILE)


def prompts() -> list[SheetPrompt]:
    several = [view(), msgspec.structs.replace(view(), id="another")]
    clock, now_us = (lambda: 0.0), (lambda: 0)
    return [
        BatchPrompt(several, KEYS, clock),
        EditPrompt(view(), core, KEYS, clock),
        EditPrompt(view(), refusing, KEYS, clock),
        GrantPrompt(view(), core, KEYS, clock, now_us),
        GrantPrompt(view(), refusing, KEYS, clock, now_us),
    ]


@pytest.mark.anyio
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("columns", [60, 150])
async def test_nothing_hidden_is_drawn(number: int, columns: int) -> None:
    prompt = prompts()[number]
    app = Stage(prompt)
    async with app.run_test(size=(columns, 60)) as pilot:
        prompt.focus()
        # Each of them in all its forms: chosen, edited, assessed.
        for key in ("4", "x", "enter", "e", "x", "enter"):
            await pilot.press(key)
            await app.workers.wait_for_complete()
            await pilot.pause()
            drawn = texts(prompt)
            assert not any(hidden_spans(line) for line in drawn), drawn
            assert any("<U+001B>" in line for line in drawn)
