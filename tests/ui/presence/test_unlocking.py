"""A console on a terminal that the core holds for locked, and how it is unlocked there."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import msgspec
import pytest
from textual.worker import Worker

from tests.security_key import SoftKey, software_key
from tests.ui.console import CLEAR, LOCKED, OPTIONS, Bench, running
from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.fleet import call
from tests.ui.open_requests import FIRST, SECOND, asked, pending
from tests.ui.picture import NOW_US, first_run, quiet
from tests.ui.test_approvals_screen import requested
from watchgate.link.lines import Answer
from watchgate.link.protocol import (
    Challenge,
    Code,
    Presence,
    Refusal,
    Request,
    Result,
    Snapshot,
    Unlocked,
)
from watchgate.ui.presence.unlocking import LOOK_AGAIN_S, LOOK_EVERY_S

pytestmark = pytest.mark.anyio

NO_PIN = msgspec.structs.replace(LOCKED, pin=False)
BELOW = Presence(standing="below", why="it runs below the agent")


class Fed(Protocol):
    """A console with the core that a test turns."""

    source: FakeSource


def core(bench: Fed, *, pin: str = "4711") -> Callable[[Request], Answer]:
    """A core that refuses to allow until the PIN was told, or a code confirmed."""

    def answer(request: Request) -> Answer:
        if request.verb == "unlock":
            if request.code is not None:
                told = Unlocked(unlocked="pts/7", leader="bash 4242")
                return Result(id=0, ok=msgspec.to_builtins(told))
            if request.pin is None:
                return Result(id=0, ok=msgspec.to_builtins(Code(code="418207", seconds=300)))
            if request.pin != pin:
                return Refusal(id=0, refused="wrong_pin", message="not the PIN, 4 tries are left")
            bench.source.presence = Presence(standing="pin", pin=True)
            return Result(id=0, ok=msgspec.to_builtins(bench.source.presence))
        if request.decision == "allow" and not (bench.source.presence or NO_PIN).proven:
            return Refusal(id=0, refused="locked", message="this terminal is locked")
        return Result(id=0)

    return answer


def two() -> Snapshot:
    return pending(asked(), asked(id=SECOND))


def verbs(bench: Bench) -> list[str]:
    return [each.verb for each in bench.source.asked]


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


def keyed(bench: Fed, key: SoftKey) -> Callable[[Request], Answer]:
    """A core that a signature of this challenge unlocks; a real ssh-keygen makes that."""
    told = Challenge(challenge="5f" * 32, seconds=120, key_file=str(key.path))

    def answer(request: Request) -> Answer:
        if request.challenge:
            return Result(id=0, ok=msgspec.to_builtins(told))
        if request.signature is None:
            return core(bench)(request)
        if not key.is_accepted_by_openssh(told.challenge, request.signature):
            return Refusal(id=0, refused="wrong_pin", message="it is not of this challenge")
        bench.source.presence = Presence(standing="key", key=True)
        return Result(id=0, ok=msgspec.to_builtins(bench.source.presence))

    return answer


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


def work(bench: Bench) -> list[Worker[object]]:
    """What runs beside the screen; the program that asks the key is a process of it."""
    return [each for each in bench.app.workers if each.group == "work"]


@asynccontextmanager
async def waiting(
    told: str, snapshot: Snapshot, where: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    """A locked console that waits for a code to be typed elsewhere, or for a touch of the key."""
    key = software_key(where)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(key.socket))
    touched = threading.Event()
    key.before_touch = touched.wait
    stands = msgspec.structs.replace(NO_PIN, key=told == TOUCH)
    async with running(snapshot, presence=stands) as bench:
        bench.source.answer = keyed(bench, key)
        with key.agent():
            await bench.press("U")
            await bench.until(lambda: told in bench.screen)
            try:
                yield bench
            finally:
                touched.set()
                await bench.until(lambda: all(each.is_finished for each in work(bench)))


CODE = "418 207"
TOUCH = "touch your security key"
both = pytest.mark.parametrize("told", [CODE, TOUCH])


@both
async def test_deny_gets_through_while_the_console_waits_to_be_unlocked(
    told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waiting(told, two(), tmp_path, monkeypatch) as bench:
        assert "d deny" in bench.screen
        await bench.press("d")
        assert [bench.source.asked[-1].decision, bench.source.asked[-1].request] == ["deny", FIRST]
        assert told in bench.screen
        await bench.press("n", "tab", "d")
        assert [bench.source.asked[-1].decision, bench.source.asked[-1].request] == ["deny", SECOND]


@both
async def test_deny_all_gets_through_while_the_console_waits_to_be_unlocked(
    told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waiting(told, two(), tmp_path, monkeypatch) as bench:
        await bench.press("D")
        assert "D again denies all 2 requests" in bench.screen
        await bench.press("D")
        assert [each.decision for each in bench.source.asked[-2:]] == ["deny", "deny"]


@both
async def test_a_denial_that_ends_the_turn_gets_through_too(
    told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops = asked(offered=("allow", "deny", "stop"))
    async with waiting(told, pending(stops), tmp_path, monkeypatch) as bench:
        await bench.press("X")
        assert bench.source.asked[-1].decision == "deny"
        assert bench.source.asked[-1].stop


@both
async def test_an_allow_says_why_it_waits(
    told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waiting(told, pending(asked(risk="high")), tmp_path, monkeypatch) as bench:
        before = len(bench.source.asked)
        await bench.press("a")
        assert "locked: this waits until this terminal is unlocked" in bench.screen
        assert told in bench.screen
        assert len(bench.source.asked) == before


@pytest.mark.parametrize(("told", "sent"), [(CODE, ["allow"]), (TOUCH, [])])
async def test_a_medium_request_waits_only_where_a_key_is_set(
    told: str, sent: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waiting(told, two(), tmp_path, monkeypatch) as bench:
        await bench.press("a")
        assert [each.decision for each in bench.source.asked if each.decision] == sent


@both
async def test_keys_that_decide_nothing_do_what_they_always_do_and_esc_leaves(
    told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waiting(told, two(), tmp_path, monkeypatch) as bench:
        await bench.press("tab")
        assert bench.app.desk.docked == SECOND
        await bench.press("z")
        assert "FROZEN" in bench.screen
        await bench.press("escape")
        assert "nothing was unlocked" in bench.screen
        assert told not in bench.screen


@both
async def test_a_page_that_is_opened_ends_the_waiting(
    told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waiting(told, two(), tmp_path, monkeypatch) as bench:
        await bench.press("?")
        await bench.until(lambda: told not in bench.screen)
        await bench.press("escape")
        assert bench.app.pages.top is bench.app.monitor
        assert told not in bench.screen


@both
async def test_the_cursor_of_the_approvals_moves_while_the_console_waits(
    told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waiting(told, two(), tmp_path, monkeypatch) as bench:
        await bench.press("2", "U")
        await bench.until(lambda: told in bench.screen)
        await bench.press("j")
        assert bench.app.desk.docked == SECOND


async def test_a_new_code_takes_the_place_of_one_that_has_run_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waiting(CODE, quiet(), tmp_path, monkeypatch) as bench:
        assert "d deny" not in bench.screen
        bench.clock.advance(300)
        await bench.until(lambda: "it has run out, U asks for a new one" in bench.screen)
        await bench.press("U")
        await bench.until(lambda: CODE in bench.screen)


async def test_a_core_that_knows_no_pins_is_not_called_locked() -> None:
    async with running(two(), presence=None) as bench:
        bench.app.unlocking.refused("x")
        await bench.until(lambda: "nothing has to be unlocked" in bench.screen)
