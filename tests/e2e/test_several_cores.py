"""Two real cores, the second one behind a stand-in for ssh, and a console in front of both."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
import pytest

from tests import standin_ssh
from tests.e2e.programs import Core, Finished, Hook, bash, until
from tests.ui.console_bench import OPTIONS, Hands, keys_as_pressed
from tests.ui.fake_source import FakeClock
from watchgate.link.paths import paths
from watchgate.link.ssh import Target
from watchgate.service.system.system_clock import SystemClock
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.fleet.fleet_source import FleetSource, SshSource
from watchgate.ui.source.record_source import LinkSource, RecordSource

PROGRAM = (sys.executable, standin_ssh.__file__)
RISKY = "git push --force"


@pytest.fixture
def lab2(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Core]:
    """Another machine's core, which serves; the stand-in for ssh leads to it."""
    places = short_path / "hosts" / "lab2"
    (places / "run").mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("STANDIN_HOSTS", str(places.parent))
    core = Elsewhere(places)
    core.start()
    yield core
    core.end()


class Elsewhere(Core):
    """A core whose directories are not those of this machine's."""

    def __init__(self, places: Path) -> None:
        super().__init__()
        self.places = places
        self.runtime = places / "run"

    def start(self, *args: str) -> dict[str, object]:
        with pytest.MonkeyPatch.context() as there:
            there.setenv("WATCHGATE_RUNTIME_DIR", str(self.places / "run"))
            there.setenv("WATCHGATE_STATE_DIR", str(self.places / "state"))
            return super().start(*args)


@asynccontextmanager
async def console(here: Core) -> AsyncIterator[Hands]:
    """A console on both, once both are there."""
    keys = FakeClock(0)
    sources: dict[str, RecordSource] = {
        "here": LinkSource(here.runtime / "control.sock"),
        "lab2": SshSource(Target("lab2"), PROGRAM),
    }
    app = WatchgateApp(FleetSource(sources, SystemClock()), SystemClock(), OPTIONS, keys.now_s)
    hands = Hands(app, keys)
    with keys_as_pressed():
        async with app.run_test(size=(140, 40)) as pilot:
            hands.pilot = pilot
            await hands.until(lambda: stands(hands) == {"here": "attached", "lab2": "attached"})
            yield hands


def stands(hands: Hands) -> dict[str, str]:
    return {name: host.state for name, host in hands.app.bridge.state.hosts.items()}


async def ended(hook: Hook) -> Finished:
    done: Finished = await anyio.to_thread.run_sync(hook.done)
    return done


async def test_each_request_is_decided_on_its_own_machine(running: Core, lab2: Core) -> None:
    async with console(running) as hands:
        near = running.hook("PreToolUse", bash(RISKY, "near"))
        await hands.until(lambda: len(hands.app.bridge.state.pending) == 1)
        far = lab2.hook("PreToolUse", bash(RISKY, "far", session="s2"))
        await hands.until(lambda: len(hands.app.bridge.state.pending) == 2)
        pending = {view.call: view for view in hands.app.bridge.state.pending.values()}
        assert {call: view.label for call, view in pending.items()} == {
            "near": "here:tmp",
            "far": "lab2:tmp",
        }
        await hands.settle()
        assert "here:tmp" in hands.screen
        assert "2 hosts" in hands.screen
        if hands.app.desk.docked != pending["far"].id:
            await hands.press("tab")
        await hands.until(lambda: hands.app.operator.drawn_id == pending["far"].id)
        await hands.press("d")
        assert (await ended(far)).code == 2
        assert near.waits
        await hands.until(lambda: list(hands.app.bridge.state.pending) == [pending["near"].id])
        own = running.seen("approval.requested")["request"]
        assert pending["near"].id == f"here/{own}"
        assert not [r for r in running.records() if r["kind"] == "approval.decided"]
        await hands.until(lambda: hands.app.operator.drawn_id == pending["near"].id)
        await hands.press("d")
        assert (await ended(near)).code == 2


async def test_a_machine_that_is_lost_comes_back_and_the_other_is_never_disturbed(
    running: Core, lab2: Core
) -> None:
    async with console(running) as hands:
        lab2.hook("PreToolUse", bash(RISKY, "far", session="s2"))
        await hands.until(lambda: hands.app.bridge.state.pending)
        await anyio.to_thread.run_sync(lab2.kill)
        await hands.until(lambda: stands(hands)["lab2"] == "lost")
        assert hands.app.bridge.link.state == "attached"
        assert not hands.app.bridge.state.pending
        host = hands.app.bridge.state.hosts["lab2"]
        assert host.waiting == 1
        near = running.hook("PreToolUse", bash(RISKY, "near"))
        await hands.until(lambda: hands.app.operator.drawn_id)
        await hands.press("d")
        assert (await ended(near)).code == 2
        await hands.until(lambda: hands.app.bridge.state.hosts["lab2"].tries > 1)
        why = hands.app.bridge.state.hosts["lab2"].why
        assert "nobody listens" in why, "a core that ended there is not started from here"
        await anyio.to_thread.run_sync(lab2.start)
        # The console may just have begun its longest wait, of half a minute.
        await hands.until(lambda: stands(hands)["lab2"] == "attached", looks=1200)
        rows = [row.call for row in hands.app.bridge.state.rows]
        assert rows == ["far", "near"]


ATTACHES = """
import sys, anyio
from watchgate.link.ssh import connect_ssh
from watchgate.link.ssh import Target

async def main():
    async with connect_ssh(Target("lab2"), program=sys.argv[1:]) as client:
        await client.attach()
        print("there", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_a_console_that_is_killed_leaves_nothing_running_there(
    lab2: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("STANDIN_LOG", str(log))
    argv = [sys.executable, "-c", ATTACHES, *PROGRAM]
    console = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert console.stdout is not None
    assert console.stdout.readline() == b"there\n"
    passes_on = int(log.read_text().splitlines()[0])
    assert not _ended(passes_on)
    console.kill()
    console.communicate()
    until(lambda: _ended(passes_on), "the end of `watchgate stdio`")


def _ended(pid: int) -> bool:
    """Whether a process is gone, or waits for nothing but to be forgotten."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


async def test_a_console_survives_the_sudden_end_of_its_core(running: Core) -> None:
    keys = FakeClock(0)
    source = LinkSource(paths(os.environ).control_socket)
    hands = Hands(WatchgateApp(source, SystemClock(), OPTIONS, keys.now_s), keys)
    with keys_as_pressed():
        async with hands.app.run_test(size=(120, 40)) as pilot:
            hands.pilot = pilot
            bridge = hands.app.bridge
            await hands.until(lambda: bridge.link.state == "attached")
            hook = running.hook("PreToolUse", bash(RISKY))
            await hands.until(lambda: bridge.state.pending)
            await anyio.to_thread.run_sync(running.kill)
            await hands.until(lambda: bridge.link.lost)
            await hands.settle()
            assert "CORE LOST" in hands.screen
            assert (await ended(hook)).code == 2, "nobody allowed it"
            await anyio.to_thread.run_sync(running.start)
            bridge.retry_now()
            await hands.until(lambda: bridge.link.state == "attached")
            await hands.settle()
            assert "CORE LOST" not in hands.screen
            again = running.hook("PreToolUse", bash(RISKY, "call-2"))
            await hands.until(lambda: hands.app.operator.drawn_id)
            await hands.press("d")
            assert (await ended(again)).code == 2


async def test_of_two_consoles_the_one_that_came_second_says_who_was_first(
    running: Core,
) -> None:
    source = LinkSource(running.runtime / "control.sock")
    keys = FakeClock(0)
    hands = Hands(WatchgateApp(source, SystemClock(), OPTIONS, keys.now_s), keys)
    with keys_as_pressed():
        async with hands.app.run_test(size=(120, 40)) as pilot:
            hands.pilot = pilot
            bridge = hands.app.bridge
            await hands.until(lambda: bridge.link.state == "attached")
            hook = running.hook("PreToolUse", bash(RISKY))
            await hands.until(lambda: bridge.state.pending)
            (request,) = bridge.state.pending
            async with source.open() as other:
                await other.attach()
                await other.call("decide", request=request, decision="deny", as_="ben")
            assert (await ended(hook)).code == 2
            await hands.until(lambda: not bridge.state.pending)
            await hands.settle()
            assert bridge.state.last is not None
            assert "ben" in bridge.state.last.by
            assert "ben" in hands.screen
