"""A core that has worked for long holds no more than one that has worked for a while.

What it keeps on purpose is bounded low here, as in the soak (bench/soak_core.py), and counted: how
much memory that takes is for the soak.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench.soak_core import FEW
from tests.service.desk import payload
from tests.service.host.test_core_host import RISKY, Place, pending
from tests.service.wire_frames import rest, until
from watchgate.link.control_client import connect
from watchgate.service.host import core_run
from watchgate.service.hub.hub import Hub

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="descriptors are counted in /proc"),
]

FILLING = 12
LATER = 24
SPARE = 3
"""A file or a task may be there for a moment; one for each session would be four times as many."""

LEAST = 4
"""The lowered bounds; a session that works has to have its place."""


@pytest.fixture
def hubs(monkeypatch: pytest.MonkeyPatch) -> list[Hub]:
    """The hubs that are made, of cores that keep next to nothing."""
    made: list[Hub] = []

    class Seen(Hub):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            made.append(self)

    for module, bounds in FEW.items():
        for name in bounds:
            monkeypatch.setattr(import_module(module), name, LEAST)
    monkeypatch.setattr(core_run, "Hub", Seen)
    return made


def held(*roots: object) -> int:
    """How many things lie in all the collections that objects of the program lead to."""
    todo, seen, count = list(roots), set[int](), 0
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, dict | list | tuple | set | frozenset | deque):
            count += len(each) * (not isinstance(each, tuple | frozenset))
            todo += each.values() if isinstance(each, dict) else each
        if type(each).__module__.startswith("watchgate."):
            fields = each.__struct_fields__ if isinstance(each, msgspec.Struct) else ()
            todo += [getattr(each, name) for name in (*fields, *getattr(each, "__dict__", ()))]
            todo += [getattr(each, name) for name in getattr(type(each), "__slots__", ()) if name]
    return count


def descriptors() -> int:
    """How many files and sockets this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def told(session: str, command: str, call: str, event: str = "PreToolUse") -> bytes:
    """What a hook of one of many sessions writes."""
    fields = msgspec.json.decode(payload(command, event, f"{session}-{call}"))
    return msgspec.json.encode({**fields, "session_id": session})


async def work(place: Place, session: str) -> None:
    """A session with a call that runs, one that is held and left, and a console that looks in."""
    async with place.hook(told(session, "ls", "1")) as hook:
        await rest(hook)
    async with connect(place.paths.control_socket) as client:
        await client.attach()
        async with place.hook(told(session, RISKY, "2")):
            await pending(client)
    for event in ("PostToolUse", "SessionEnd"):
        async with place.hook(told(session, "ls", "1", event), "observe") as hook:
            await rest(hook)


async def test_sessions_calls_and_consoles_leave_nothing_behind(
    runtime_dir: Path, state_dir: Path, hubs: list[Hub]
) -> None:
    place = Place(runtime_dir, state_dir)

    async def holds(rounds: range) -> tuple[int, int, int]:
        """Descriptors, tasks and things kept, once all of these sessions are over."""
        for number in rounds:
            await work(place, f"s{number}")
        (hub,) = hubs
        await until(lambda: not (hub.engine.broker.open or hub._waiting), "an end of all waiting")
        await hub.written()
        kept = held(hub.engine, hub.askers, hub._waiting, hub._agents, hub._line_ids)
        return descriptors(), len(asyncio.all_tasks()), kept

    async with place.running():
        before = await holds(range(FILLING))
        after = await holds(range(FILLING, LATER))
    assert after[2] <= before[2]
    assert all(now <= then + SPARE for now, then in zip(after, before, strict=True)), (
        before,
        after,
    )
