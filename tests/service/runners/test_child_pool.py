"""Children from the loop: bounded in number, never in the way, gone when nobody wants them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from tests.service.runners.hooks import marked, script, survivors, wait_for
from watchgate.service.runners.child import ChildEnd, run_child
from watchgate.service.runners.child_pool import ChildPool
from watchgate.service.runners.spawn import ChildSpec

AMPLE_S = 60.0
SOME_S = 20.0
"""Enough to begin in, and short to wait for where a cancellation kills nobody."""
FOREVER = "sleep 600"


@pytest.fixture
def pool() -> Iterator[ChildPool]:
    made = ChildPool(3)
    yield made
    made.close()


def spec(folder: Path, body: str, env: dict[str, str], name: str = "hook.sh") -> ChildSpec:
    return ChildSpec(argv=(script(folder, body, name),), cwd=str(folder), env=env)


async def test_it_brings_back_how_the_child_ended(pool: ChildPool, tmp_path: Path) -> None:
    ran = await pool.run(spec(tmp_path, "echo out", marked()), AMPLE_S)
    assert ran.end is not None
    assert (ran.end.stdout, ran.end.exit_code) == (b"out\n", 0)
    assert 0 <= ran.queue_ms < AMPLE_S * 1_000


async def test_core_9_a_cancelled_run_is_killed_before_the_cancellation_goes_on(
    pool: ChildPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = marked()
    ends: list[str] = []

    def noting(*given: Any) -> ChildEnd:
        end = run_child(*given)
        ends.append(end.why)
        return end

    monkeypatch.setattr("watchgate.service.runners.child_pool.run_child", noting)
    async with anyio.create_task_group() as group:
        group.start_soon(pool.run, spec(tmp_path, f"echo $$ >up; {FOREVER}", env), SOME_S)
        pid = int(await anyio.to_thread.run_sync(wait_for, tmp_path / "up"))
        group.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert survivors(env) == []
    assert ends == ["cancelled"], "its own time was not up"


async def test_hanging_children_leave_the_cores_own_threads_alone(
    pool: ChildPool, tmp_path: Path
) -> None:
    env = marked()
    async with anyio.create_task_group() as group:
        hangs = spec(tmp_path, FOREVER, env)
        for _ in range(60):
            group.start_soon(pool.run, hangs, AMPLE_S)
        await anyio.lowlevel.checkpoint()
        names = [await anyio.to_thread.run_sync(_thread_name) for _ in range(3)]
        group.cancel_scope.cancel()
    assert not any(name.startswith("hook") for name in names)
    assert survivors(env) == []


def _thread_name() -> str:
    return threading.current_thread().name


async def test_queueing_is_part_of_the_limit(pool: ChildPool, tmp_path: Path) -> None:
    env, ends = marked(), []

    # All of them first: a program that is written while others are started may be busy then.
    hangs = [
        spec(tmp_path, f"echo up >up{number}; {FOREVER}", env, f"{number}.sh")
        for number in range(3)
    ]
    late = spec(tmp_path, "echo ran >ran", env, "late.sh")

    async def run(limit_s: float, made: ChildSpec) -> None:
        ends.append((limit_s, (await pool.run(made, limit_s)).end))

    async with anyio.create_task_group() as group:
        for made in hangs:
            group.start_soon(run, AMPLE_S, made)
        for number in range(3):
            await anyio.to_thread.run_sync(wait_for, tmp_path / f"up{number}")
        await run(0.05, late)
        group.cancel_scope.cancel()
    assert ends == [(0.05, None)]
    assert not (tmp_path / "ran").exists()
    assert survivors(env) == []


async def test_a_cancelled_run_that_still_queues_is_never_started(tmp_path: Path) -> None:
    pool, env = ChildPool(1), marked()
    async with anyio.create_task_group() as group:
        group.start_soon(pool.run, spec(tmp_path, f"echo up >up; {FOREVER}", env), AMPLE_S)
        await anyio.to_thread.run_sync(wait_for, tmp_path / "up")
        with anyio.move_on_after(0) as scope:
            await pool.run(spec(tmp_path, "echo ran >ran", env, "late.sh"), AMPLE_S)
        assert scope.cancelled_caught
        group.cancel_scope.cancel()
    assert not (tmp_path / "ran").exists()
    pool.close()


async def test_core_8_many_at_once_end_within_their_limit(tmp_path: Path) -> None:
    pool, env = ChildPool(8), marked()
    hangs = spec(tmp_path, f"{FOREVER} & {FOREVER}", env)
    ends: list[Any] = []

    async def run() -> None:
        ends.append((await pool.run(hangs, 0.5)).end)

    with anyio.fail_after(AMPLE_S):
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(run)
    assert [end.why for end in ends] == ["timeout"] * 8
    assert survivors(env) == []
    pool.close()
