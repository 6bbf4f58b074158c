"""Deciding while the console waits for a code to be typed elsewhere, or for a key's touch."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from textual.worker import Worker

from tests.security_key import software_key
from tests.ui.console_bench import Bench, running
from tests.ui.open_requests import FIRST, SECOND, asked, pending
from tests.ui.picture import quiet
from tests.ui.widgets.prompts.locked_core import NO_PIN, keyed, two
from watchgate.link.protocol import Snapshot

pytestmark = pytest.mark.anyio


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
