"""The core that is killed: the real one, on its own sockets and journal, with its fate in it."""

from __future__ import annotations

import gc
import os
import resource
import signal
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import NoReturn

import anyio

from tests.crash import steps
from tests.crash.clients import Control
from tests.crash.fates import Birth
from tests.crash.flaws import FLAWS
from tests.crash.ledger import Promises
from tests.crash.script import Life
from watchgate.core.base.clock import Instant
from watchgate.core.chain.hash_chain import JournalRow
from watchgate.core.config.config import Config
from watchgate.core.config.config import JournalSection as Kept
from watchgate.link.paths import Paths
from watchgate.service.host.core_host import CoreHost, hosted
from watchgate.service.hub import hub
from watchgate.service.hub.core_environment import Environment
from watchgate.service.journal.writer import Callback, Journal
from watchgate.service.system.system_clock import SystemClock

# Each day that passes between two cores makes the records of the one before too old to keep.
CONFIG = Config(profile="strict", journal=Kept(max_age_days=1))
DAY_US = 86_400_000_000
PATIENCE_S = 60.0


class ShiftedClock:
    """The machine's clock, some days on."""

    def __init__(self, days: int) -> None:
        self._real = SystemClock()
        self._on_us = days * DAY_US

    def now(self) -> Instant:
        now = self._real.now()
        return Instant(now.wall_us + self._on_us, now.mono_s)


def warm_up(birth: Birth) -> None:
    """Import and build all that a core needs in its life, once for those to come."""
    _watch_queue()
    hub.WRITTEN_S = PATIENCE_S  # a slow disk is no fault: whoever asked waits for it
    place = _place_of(birth)
    life = Life(place.runtime_dir, birth.name, Random(0), Promises())
    control = place.runtime_dir / "control.sock"
    with hosted(place, CONFIG, environment=_stage_of(birth)), Control(control) as operator:
        life.play(operator, [])
    life.end()
    for thread in threading.enumerate():
        # One that is within SQLite at the fork would leave it locked in every core to come.
        if thread is not threading.main_thread():
            thread.join()
    gc.collect()
    gc.freeze()


def say(word: str) -> None:
    """One line, whole, although two processes write to the same pipe."""
    os.write(1, f"{word}\n".encode())


def meet(birth: Birth) -> NoReturn:
    """Be a core until death."""
    if birth.flaw:
        FLAWS[birth.flaw]()
    limit = birth.fate.torn_at_bytes
    if limit is not None:
        # The write that would go beyond is cut there, and the next one ends the process.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    steps.arm(birth.fate, _teller(birth), lambda name: say(f"step {name}"))
    try:
        anyio.run(_live, birth)
    except BaseException:  # noqa: BLE001 - whatever it is, no part of the parent may go on in here
        traceback.print_exc()
    os._exit(1)


async def _live(birth: Birth) -> None:
    host = CoreHost(_place_of(birth), CONFIG, ShiftedClock(birth.day), _stage_of(birth))
    async with anyio.create_task_group() as tasks:
        await tasks.start(host.run)
        say("ready")
        await anyio.sleep_forever()


def _stage_of(birth: Birth) -> Environment:
    """Names that tell this core's records from those of others, and an operator of no agent's."""
    numbers = iter(range(1, 10_000))
    return Environment(
        ids=lambda: f"{next(numbers):04d}{birth.name}".ljust(26, "k"),
        home="/home/u",
        protected=(),
        agent_of=lambda _pid: None,
        scripted=True,
    )


def _place_of(birth: Birth) -> Paths:
    top = Path(birth.place)
    return Paths(
        runtime_dir=top / "run",
        state_dir=top / "state",
        config=top / "config" / "config.toml",
        data_dir=top / "data",
    )


def _teller(birth: Birth) -> Callable[[str], object]:
    """What is done with the name of each step."""
    if not birth.tells_steps:
        return lambda _name: None
    file = Path(birth.place, "steps").open("ab", buffering=0)  # noqa: SIM115 - open until death
    return lambda name: file.write(f"{name}\n".encode())


def _watch_queue() -> None:
    """Makes a row's way to the disk a step, too."""
    append, extend, commit = Journal.append, Journal.extend, Journal.commit

    def appended(self: Journal, row: JournalRow) -> None:
        steps.take("row queued", append, self, row)

    def extended(self: Journal, rows: Sequence[JournalRow]) -> None:
        steps.take("row queued", extend, self, rows)

    def asked(self: Journal, callback: Callback) -> None:
        def told(ok: bool) -> None:
            steps.take("commit told", callback, ok)

        steps.take("commit asked", commit, self, told)

    for name, watched in (("append", appended), ("extend", extended), ("commit", asked)):
        setattr(Journal, name, watched)
