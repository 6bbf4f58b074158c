"""A hook command as the core runs it, against the least that runs the same program.

The least is `os.posix_spawn` and `waitpid`, with `/dev/null` for all three streams: no input, no
answer, no limit, no group to kill. Both sides take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.figures import Beside, Figure, report
from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.model.events import Event, Lane, Tool, ToolCall
from watchgate.core.model.verdicts import Block, Defer, Verdict
from watchgate.service.runners.child_pool import ChildPool
from watchgate.service.runners.handler_command import CommandRunner
from watchgate.service.runners.spawn import hook_environment

LIMIT = 1.8
ANSWERING = """#!/bin/sh
cat >/dev/null
echo '{"decision":"block","reason":"not on Friday"}'
"""
CALL = {"command": "git push --force origin main", "description": "publish the branch"}


class Cost(NamedTuple):
    """Seconds of one run: on the wall, and of this process and its children."""

    wall_s: float
    cpu_s: float


def cpu_s() -> float:
    """CPU seconds of this process and of every child that was reaped."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def event(cwd: str) -> Event:
    """A shell call on the gate."""
    tool = Tool("Bash", "Bash", "shell", CALL, "0" * 64, "call-1")
    return Event(
        kind="tool.pre",
        native="PreToolUse",
        agent="claude",
        session="5e55104e-0000-4000-8000-000000000000",
        lane=Lane.GATE,
        at=Instant(1_750_000_000_000_000, 5_000.0),
        body=ToolCall(tool),
        cwd=cwd,
    )


def bare(argv: tuple[str, ...], env: dict[str, str]) -> None:
    """The program and nothing else."""
    actions = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)]
    pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    os.waitpid(pid, 0)


async def timed(work: Callable[[], Awaitable[object]]) -> Cost:
    """What one run of this costs."""
    before_s, start_s = cpu_s(), time.perf_counter()
    await work()
    return Cost(time.perf_counter() - start_s, cpu_s() - before_s)


async def measured(
    argv: tuple[str, ...], said: Verdict, runs: int
) -> tuple[list[Cost], list[Cost]]:
    """The costs of the bare program and of the hook, in turns; the first of each fills caches."""
    pool, env = ChildPool(), hook_environment(os.environ)
    with tempfile.TemporaryDirectory(prefix="wg-") as cwd:
        call = event(cwd)
        runner = CommandRunner(argv, PROTOCOLS["console"], handler_id="hook", pool=pool, env=env)

        async def hook() -> None:
            assert (await runner.run(call, 5.0)).verdict == said

        async def least_of_all() -> None:
            bare(argv, env)

        least, ours = [], []
        for _ in range(runs + 1):
            least.append(await timed(least_of_all))
            ours.append(await timed(hook))
    pool.close()
    return least[1:], ours[1:]


def figures(runs: int) -> Iterator[Figure]:
    """Wall and CPU of a hook that does nothing, and of one that reads its event and denies."""
    true = shutil.which("true")
    assert true is not None
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        script = Path(directory) / "hook.sh"
        script.write_text(ANSWERING)
        script.chmod(0o700)
        cases: dict[str, tuple[tuple[str, ...], Verdict]] = {
            "that does nothing": ((true,), Defer()),
            "that reads and denies": ((str(script),), Block("not on Friday")),
        }
        for what, (argv, said) in cases.items():
            least, ours = asyncio.run(measured(argv, said, runs))
            for index, name in enumerate(("wall", "CPU")):
                base_s = statistics.median(cost[index] for cost in least)
                ours_s = statistics.median(cost[index] for cost in ours)
                yield Figure(
                    f"command hook {what}, {name}",
                    ours_s * 1e3,
                    "ms",
                    Beside("posix_spawn and waitpid, no streams", base_s * 1e3),
                    LIMIT,
                    f"medians of {runs}",
                )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    return report(figures(parser.parse_args().runs))


if __name__ == "__main__":
    sys.exit(main())
