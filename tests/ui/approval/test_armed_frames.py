"""What the footer says of an armed key is so in every frame, on the request it is about alone."""

from __future__ import annotations

import random
from copy import deepcopy

import msgspec
import pytest

from tests.ui.console_bench import Bench, handed_on, pressed, running
from tests.ui.picture import NOW_US, busy, critical_request, high_request
from watchgate.core.model.views import PendingView
from watchgate.link.protocol import Snapshot
from watchgate.ui.approval.arming import CONFIRM_S, TYPING_S, Commit, HeldKey

FRAME_S = 0.1
KEYS = ("a", "a", "D", "D", "b", "tab", "escape", "1", "2", "v", "j", "t", "space", "r", "slash")
SAYS = {"a": "a again allows it", "D": "D again denies"}


def held() -> Snapshot:
    """Two high requests and a critical one, which is the last."""
    first = high_request()
    second = msgspec.structs.replace(first, id="c3d8q6r9z5k1t4h7g0f2y8n3mr")
    views = (first, second, critical_request())
    return msgspec.structs.replace(
        busy(), pending=tuple(due(view, 600 + n) for n, view in enumerate(views))
    )


def due(view: PendingView, seconds: int) -> PendingView:
    """The same request, which is denied after so many seconds."""
    ends = msgspec.structs.replace(view.data, deadline_at=NOW_US + seconds * 1_000_000)
    return msgspec.structs.replace(view, data=ends)


async def frame(bench: Bench) -> str:
    """The footer of the next frame."""
    bench.clock.advance(FRAME_S)
    bench.app.tick()
    await handed_on(bench.app)
    return bench.screen.splitlines()[-1]


def would_decide(bench: Bench, key: str) -> bool:
    """Whether this key alone would decide now what it wants a second press for."""
    arming = deepcopy(bench.app.operator._arming)
    now = bench.clock.now_s()
    if arming.key(key, now) != HeldKey():
        return False
    answer = arming.due(now + TYPING_S)
    return isinstance(answer, Commit) and answer.confirmed


def assert_true(bench: Bench, footer: str) -> None:
    """A hint stands exactly where its key would decide."""
    for key, words in SAYS.items():
        assert (words in footer) == would_decide(bench, key), footer


async def test_the_hint_ends_in_the_frame_in_which_the_arming_ends() -> None:
    async with running(held()) as bench:
        await bench.press("a")
        shown = 0
        while SAYS["a"] in (footer := await frame(bench)):
            assert_true(bench, footer)
            shown += 1
        assert_true(bench, footer)
        assert shown == round(CONFIRM_S / FRAME_S) - 1
        await bench.press("a")
        assert not bench.source.asked, "it only asks anew"


async def test_how_many_requests_a_second_key_denies_is_said_in_words_that_fit() -> None:
    async with running(held()) as bench:
        await bench.press("D")
        assert "D again denies all 3 requests, in 2 sessions" in await frame(bench)
    alone = msgspec.structs.replace(held(), pending=(high_request(),))
    async with running(alone) as bench:
        await bench.press("D")
        assert "D again denies the only request" in await frame(bench)


@pytest.mark.parametrize("leaves", ["tab", "escape", "2", "v", "j", "slash", "r", "colon"])
async def test_any_other_key_takes_the_hint_away_with_the_arming(leaves: str) -> None:
    async with running(held()) as bench:
        for key, words in SAYS.items():
            await bench.press(key)
            assert words in await frame(bench)
            bench.clock.advance(1.0)
            bench.app.post_message(pressed(leaves))
            await handed_on(bench.app)
            assert words not in await frame(bench)
            await bench.press("escape", "escape", "1")


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_is_pressed_every_frame_says_what_the_next_key_does(seed: int) -> None:
    hands = random.Random(seed)
    async with running(held()) as bench:
        for _ in range(40):
            key = hands.choice(KEYS)
            bench.app.post_message(pressed(key))
            await handed_on(bench.app)
            for _ in range(hands.choice((1, 2, 4, 9, 30))):
                footer = await frame(bench)
                if not bench.app.prompts.hints:
                    assert_true(bench, footer)
                else:
                    assert not any(words in footer for words in SAYS.values())
            if bench.app.prompts.hints:
                await bench.press("escape")
        for asked in bench.source.asked:
            assert asked.decision != "allow" or asked.confirmed


async def test_what_was_said_of_one_request_does_not_stand_on_the_next() -> None:
    async with running(held()) as bench:
        await bench.press("n")
        assert "a allows, d denies" in await frame(bench)
        await bench.press("tab")
        assert "a allows, d denies" not in await frame(bench)


async def test_a_decision_is_told_with_its_number_beside_the_next_request() -> None:
    async with running(held()) as bench:
        await bench.press("d")
        await bench.until(lambda: "denied" in bench.app.desk.note)
        await bench.press("tab")
        assert "#b7c2 denied" in await frame(bench)
