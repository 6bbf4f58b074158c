"""A console on a terminal that the core holds for locked, and how it is unlocked there."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest

from tests.security_key import software_key
from tests.ui.console_bench import CLEAR, LOCKED, OPTIONS, running
from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.fleet_bench import call
from tests.ui.open_requests import FIRST, SECOND, asked, pending
from tests.ui.picture import NOW_US, first_run, quiet
from tests.ui.screens.test_approvals_screen import requested
from tests.ui.widgets.prompts.locked_core import NO_PIN, core, keyed, two, verbs
from watchgate.link.protocol import (
    Presence,
    Result,
)
from watchgate.ui.console.unlocking import LOOK_AGAIN_S, LOOK_EVERY_S

pytestmark = pytest.mark.anyio

BELOW = Presence(standing="below", why="it runs below the agent")


async def test_a_refused_allow_asks_for_the_pin_and_the_same_key_allows_then() -> None:
    async with running(two(), presence=LOCKED) as bench:
        bench.source.answer = core(bench)
        await bench.press("a")
        await bench.until(lambda: "unlock this terminal, PIN" in bench.screen)
        assert "opened after the agent" in bench.screen
        await bench.type("4711")
        await bench.settle()
        assert "4711" not in bench.screen
        assert "****" in bench.screen
        await bench.press("enter")
        await bench.until(lambda: "unlocked: this terminal may allow" in bench.screen)
        assert verbs(bench) == ["decide", "unlock"]
        assert FIRST in bench.app.bridge.state.pending
        await bench.press("a")
        assert [each.decision for each in bench.source.asked] == ["allow", None, "allow"]


async def test_an_answer_that_is_none_ends_no_console() -> None:
    async with running(two(), presence=NO_PIN) as bench:
        bench.source.answer = lambda _request: Result(id=0, ok={"code": 418_207})
        await bench.press("U")
        await bench.until(lambda: "answer cannot be read" in bench.screen)
        assert "418207" not in bench.screen
        bench.source.answer = core(bench)
        await bench.press("U")
        await bench.until(lambda: "418 207" in bench.screen)


async def test_letters_of_a_pin_decide_nothing() -> None:
    async with running(two(), presence=LOCKED) as bench:
        bench.source.answer = core(bench)
        await bench.press("a")
        await bench.until(lambda: "PIN" in bench.screen)
        await bench.until(lambda: "Esc not now, then d denies" in bench.screen)
        await bench.press("d", "a", "D", "enter")
        assert verbs(bench) == ["decide", "unlock"]


async def test_a_wrong_pin_says_what_is_left_and_is_asked_again() -> None:
    async with running(quiet(), presence=LOCKED) as bench:
        bench.source.answer = core(bench)
        await bench.press("U")
        await bench.until(lambda: "PIN" in bench.screen)
        await bench.type("1234")
        await bench.press("enter")
        await bench.until(lambda: "4 tries are left" in bench.screen)
        assert "****" not in bench.screen
        await bench.type("4711")
        await bench.press("enter")
        await bench.until(lambda: "unlocked" in bench.screen)


async def test_esc_leaves_it_locked_and_denying_goes_on() -> None:
    async with running(two(), presence=LOCKED) as bench:
        bench.source.answer = core(bench)
        await bench.press("a")
        await bench.until(lambda: "PIN" in bench.screen)
        await bench.press("escape")
        await bench.until(lambda: "nothing was unlocked" in bench.screen)
        await bench.press("d")
        assert bench.source.asked[-1].decision == "deny"


async def test_the_terminal_is_locked_once_an_agent_asks_that_began_before() -> None:
    """The core knows an agent's process from its first call on, when its session is known."""
    first = msgspec.structs.replace(call(48_212, "ls", session="web-session"), agent="copilot")
    async with running(quiet()) as bench:
        assert "LOCKED" not in bench.screen
        bench.source.presence = LOCKED
        bench.source.feed(first)
        bench.clock.advance(LOOK_EVERY_S)
        await bench.until(lambda: "LOCKED" in bench.screen)


async def test_without_a_pin_the_code_is_shown_with_where_to_type_it() -> None:
    async with running(two(), presence=NO_PIN) as bench:
        bench.source.answer = core(bench)
        await bench.press("a")
        await bench.until(lambda: "418 207" in bench.screen)
        assert "watchgate unlock 418207" in " ".join(bench.screen.split())
        assert "watchgate pin set" in " ".join(bench.screen.split())
        bench.source.presence = Presence(standing="code")
        looked = bench.source.looked
        bench.clock.advance(LOOK_EVERY_S)
        await bench.settle()
        await bench.until(lambda: "unlocked: this terminal may allow" in bench.screen)
        assert bench.source.looked == looked + 1


async def test_a_small_screen_leaves_out_whole_sentences_about_the_code_and_cuts_none() -> None:
    why = "tmux is a terminal multiplexer, where an agent could start a command too"
    stands = msgspec.structs.replace(NO_PIN, why=why)
    async with running(two(), presence=stands, size=(80, 24)) as bench:
        bench.source.answer = core(bench)
        await bench.press("U")
        await bench.until(lambda: "418 207" in bench.screen)
        told = " ".join(bench.screen.split())
        assert f":unlock another. Locked: {why}." in told
        assert "pin set" not in told


async def test_the_code_of_another_terminal_is_typed_with_or_without_a_blank() -> None:
    async with running(quiet()) as bench:
        bench.source.answer = core(bench)
        await bench.press(":", *"code", "enter")
        await bench.until(lambda: "its six digits" in bench.screen)
        await bench.type("418 207")
        await bench.press("enter")
        await bench.until(lambda: "pts/7 (bash 4242) may allow" in bench.screen)
        assert bench.source.asked[-1].code == "418207"


@pytest.mark.parametrize("pin", [False, True])
async def test_a_security_key_is_touched_at_once_or_after_enter_in_place_of_the_pin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, pin: bool
) -> None:
    """The key is one of software (tests/security_key.py): no hardware can be touched here."""
    key = software_key(tmp_path)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(key.socket))
    stands = msgspec.structs.replace(LOCKED, pin=pin, key=True)
    touched = threading.Event()
    key.before_touch = touched.wait
    async with running(two(), presence=stands) as bench:
        bench.source.answer = keyed(bench, key)
        with key.agent():
            await bench.press("U")
            if pin:
                await bench.until(lambda: "Enter alone: security key" in bench.screen)
                await bench.press("enter")
            await bench.until(lambda: "touch your security key" in bench.screen)
            touched.set()
            await bench.until(lambda: "unlocked: this terminal may allow" in bench.screen)
    assert [each.verb for each in bench.source.asked] == ["unlock", "unlock"]


async def test_a_key_that_is_not_touched_unlocks_nothing_once_it_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = software_key(tmp_path)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(key.socket))
    touched = threading.Event()
    key.before_touch = touched.wait
    async with running(two(), presence=msgspec.structs.replace(NO_PIN, key=True)) as bench:
        bench.source.answer = keyed(bench, key)
        with key.agent():
            await bench.press("U")
            await bench.until(lambda: "touch your security key" in bench.screen)
            await bench.press("escape")
            await bench.until(lambda: "nothing was unlocked" in bench.screen)
            touched.set()
            await bench.settle()
    assert [each.challenge for each in bench.source.asked] == [True]


async def test_a_key_that_nothing_can_use_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "none"))
    key = software_key(tmp_path)
    async with running(two(), presence=msgspec.structs.replace(NO_PIN, key=True)) as bench:
        bench.source.answer = keyed(bench, key)
        await bench.press("U")
        await bench.until(lambda: "the key signed nothing" in bench.screen)
        assert "LOCKED" in bench.screen


async def test_below_an_agent_there_is_nothing_to_type() -> None:
    async with running(quiet(), presence=BELOW) as bench:
        await bench.press("U")
        await bench.until(lambda: "cannot be unlocked: it runs below" in bench.screen)


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 40), (220, 60)])
async def test_the_word_and_the_key_stand_on_every_size(size: tuple[int, int]) -> None:
    async with running(two(), presence=LOCKED, size=size) as bench:
        assert "LOCKED" in bench.screen
        assert "U unlock" in bench.screen
        bench.source.answer = core(bench)
        await bench.press("U")
        await bench.until(lambda: "unlock this terminal, PIN" in bench.screen)
        assert "Enter unlock" in bench.screen


async def test_a_clear_terminal_is_told_of_no_lock() -> None:
    async with running(two(), presence=CLEAR) as bench:
        assert "LOCKED" not in bench.screen
        assert "unlock" not in bench.screen


async def test_how_it_stands_is_asked_every_five_seconds_while_something_waits() -> None:
    async with running(two()) as bench:
        assert bench.source.looked == 1
        for _ in range(20):
            bench.clock.advance(1.0)
            await bench.settle()
        assert bench.source.looked == 5


async def test_how_it_stands_is_not_asked_again_while_nothing_waits_or_changes() -> None:
    async with running(quiet()) as bench:
        for _ in range(20):
            bench.clock.advance(1.0)
            await bench.settle()
        assert bench.source.looked == 1


async def test_a_new_process_of_a_known_session_locks_the_terminal_with_its_first_request() -> None:
    async with running(pending(asked())) as bench:
        assert "LOCKED" not in bench.screen
        bench.source.presence = LOCKED
        bench.source.feed(requested(asked(id=SECOND)))
        bench.clock.advance(LOOK_AGAIN_S)
        await bench.settle()
        await bench.settle()
        assert bench.source.looked == 2
        assert "LOCKED" in bench.screen


async def test_requests_in_quick_succession_are_not_all_asked_about() -> None:
    async with running(pending(asked())) as bench:
        for number in range(10):
            bench.source.feed(requested(asked(id=f"{number}{SECOND[1:]}"), seq=48_212 + number))
            bench.clock.advance(LOOK_AGAIN_S / 5)
            await bench.settle()
        assert bench.source.looked == 3


async def test_a_demo_before_a_locked_console_is_not_called_locked() -> None:
    async def open_demo() -> tuple[FakeSource, FakeClock]:
        return FakeSource(two()), FakeClock(NOW_US)

    options = msgspec.structs.replace(OPTIONS, open_demo=open_demo)
    async with running(first_run(), options=options, presence=LOCKED) as bench:
        assert "LOCKED" in bench.screen
        await bench.press("x")
        await bench.until(lambda: "2 PENDING" in bench.screen)
        assert "LOCKED" not in bench.screen
        assert "unlock" not in bench.screen
        await bench.press("q")
        await bench.until(lambda: "LOCKED" in bench.screen)


async def test_a_core_that_knows_no_pins_is_not_called_locked() -> None:
    async with running(two(), presence=None) as bench:
        bench.app.unlocking.refused("x")
        await bench.until(lambda: "nothing has to be unlocked" in bench.screen)
