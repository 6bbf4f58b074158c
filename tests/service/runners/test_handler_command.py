"""Hook commands of every protocol as real processes, and what their system makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
import pytest

from tests.core.builders import other, pre, shell
from tests.service.runners.driving import AMPLE_S, Bench
from tests.service.runners.hooks import marked, script, survivors, wait_for
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.model.events import Text
from watchgate.core.model.verdicts import Failed, FailureCause
from watchgate.service.runners.child_pool import ChildPool
from watchgate.service.runners.handler_command import CommandRunner

FOREVER = "sleep 600"
FLOOD = "head -c 10485760 /dev/zero"


@pytest.fixture
def pool() -> Iterator[ChildPool]:
    made = ChildPool(4)
    yield made
    made.close()


@pytest.fixture
def bench(tmp_path: Path, pool: ChildPool) -> Bench:
    return Bench(tmp_path, pool)


# What a misbehaving hook does, its limit, the cause, and words of the trace that name it.
MISBEHAVING: dict[str, tuple[str, float, FailureCause | None, str]] = {
    "sleeps": (FOREVER, 0.5, "timeout", "no answer in 0.5 s"),
    "sleeps with a grandchild": (f"{FOREVER} & {FOREVER}", 0.5, "timeout", "no answer in 0.5 s"),
    "says nothing, and a grandchild holds the pipe": (f"{FOREVER} & exit 5", AMPLE_S, "exit", "5"),
    "answers, and a grandchild holds the pipe": (
        f"""{FOREVER} & echo '{{"decision":"block","reason":"no"}}'""",
        AMPLE_S,
        None,
        "no",
    ),
    "floods stderr before it reads": (f"{FLOOD} >&2; cat >/dev/null; exit 5", AMPLE_S, "exit", "5"),
    "prints garbage": ("cat >/dev/null; echo garbage", AMPLE_S, "parse", "not JSON"),
    "prints no text": (r"printf '\377\376'", AMPLE_S, "parse", "not UTF-8"),
    "floods stdout": (f"cat >/dev/null; {FLOOD}", AMPLE_S, "oversized", "10485760"),
    "dies by a signal": ("kill -SEGV $$", AMPLE_S, "crash", "killed by SIGSEGV"),
    "closes its input early": ("exec 0<&-; exit 5", AMPLE_S, "exit", "5"),
}


@pytest.mark.parametrize(
    ("body", "limit_s", "cause", "words"), MISBEHAVING.values(), ids=MISBEHAVING
)
async def test_a_misbehaving_hook_is_bounded_denied_named_and_leaves_no_orphan(
    bench: Bench, body: str, limit_s: float, cause: FailureCause | None, words: str
) -> None:
    bench.hook("console", body, limit_s=limit_s)
    call = pre(shell("echo " + "x" * 200_000), cwd=bench.cwd)
    outcome, (row,) = await bench.outcome("console", call)
    assert (outcome.decision, outcome.failed, row.status) == ("deny", cause, "ran")
    assert words in row.detail or cause == "timeout"
    assert row.verdict == ("failed" if cause else "block")
    if isinstance(verdict := bench.reports["hook-0"].verdict, Failed):
        assert (verdict.cause, words in verdict.detail) == (cause, True)


async def test_one_that_is_not_executable_or_has_no_folder_is_denied_and_named(
    bench: Bench, tmp_path: Path
) -> None:
    (tmp_path / "plain.sh").write_text("#!/bin/sh\n")
    gone = str(tmp_path / "gone")
    bench.hook("codex-permission", ("./plain.sh",), on_failure="closed")
    bench.hook("codex-permission", ("true",), on_failure="closed", cwd=gone)
    outcome, rows = await bench.outcome("codex-permission", pre(cwd=bench.cwd))
    assert (outcome.decision, outcome.failed) == ("deny", "spawn")
    assert rows[0].detail == "spawn: ./plain.sh: not executable; `chmod +x` it"
    assert rows[1].detail == (
        f"spawn: cannot enter {gone}: no such file or directory; "
        "make it again, or set `cwd` of this handler"
    )


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (("./missing",), "spawn"),
        ("exit 5", "exit"),
        ("echo garbage", "parse"),
        (FOREVER, "timeout"),
        ("kill -9 $$", "crash"),
    ],
)
async def test_cx_b5_one_setting_covers_every_cause_and_is_closed_for_gates(
    bench: Bench, body: Any, cause: str
) -> None:
    limit_s = 0.3 if cause == "timeout" else AMPLE_S
    bench.hook("console", body, limit_s=limit_s, on_failure="open")
    bench.hook("console", body, limit_s=limit_s, role="observer")
    bench.hook("console", body, limit_s=limit_s)
    outcome, rows = await bench.outcome("console", pre(cwd=bench.cwd))
    assert (outcome.decision, outcome.decided_by, outcome.failed) == ("deny", "hook-2", cause)
    assert [row.ignored for row in rows] == [True, True, False]


async def test_the_run_tells_what_the_trace_shows(bench: Bench, pool: ChildPool) -> None:
    bench.env["SECRET"] = "value"
    bench.hook("console", "cat >/dev/null; echo said; echo why >&2; exit 2")
    _, (row,) = await bench.outcome("console", pre(cwd=bench.cwd))
    run = row.run
    assert (run.exit_code, run.signal, run.stdout, run.stderr) == (2, "", "said\n", "why\n")
    assert run.stdin_bytes > 100
    assert run.env == tuple(sorted(bench.env))
    assert "value" not in repr(row)


async def test_a_flood_is_shown_at_both_ends(bench: Bench) -> None:
    bench.hook("console", "echo first >&2; head -c 9000 /dev/zero >&2; echo last >&2; exit 5")
    _, (row,) = await bench.outcome("console", pre(cwd=bench.cwd))
    assert row.run.stderr.startswith("first\n")
    assert row.run.stderr.endswith("last\n")
    assert len(row.run.stderr) <= 2_000


async def test_a_signal_stands_in_the_run(bench: Bench) -> None:
    bench.hook("console", "kill -TERM $$")
    _, (row,) = await bench.outcome("console", pre(cwd=bench.cwd))
    assert (row.run.exit_code, row.run.signal) == (None, "SIGTERM")


async def test_core_9_a_cancelled_dispatch_ends_its_hook(tmp_path: Path, pool: ChildPool) -> None:
    env = marked()
    argv = (script(tmp_path, f"{FOREVER} & echo up >up; {FOREVER}"),)
    runner = CommandRunner(argv, PROTOCOLS["console"], handler_id="h", pool=pool, env=env)
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, pre(cwd=str(tmp_path)), AMPLE_S)
        await anyio.to_thread.run_sync(wait_for, tmp_path / "up")
        group.cancel_scope.cancel()
    assert survivors(env) == []


async def test_a_full_pool_is_a_failure_of_its_own(tmp_path: Path) -> None:
    pool, env = ChildPool(1), marked()
    argv = (script(tmp_path, f"echo up >up; {FOREVER}"),)
    runner = CommandRunner(argv, PROTOCOLS["console"], handler_id="h", pool=pool, env=env)
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, pre(cwd=str(tmp_path)), AMPLE_S)
        await anyio.to_thread.run_sync(wait_for, tmp_path / "up")
        report = await runner.run(pre(cwd=str(tmp_path)), 0.1)
        group.cancel_scope.cancel()
    assert report.verdict == Failed("crowded", "1 hooks run already, and none ended in 0.1 s")
    assert report.run.queue_ms == 100
    pool.close()


async def test_an_event_that_json_cannot_carry_is_a_failure(
    tmp_path: Path, pool: ChildPool
) -> None:
    protocol = PROTOCOLS["console"]
    runner = CommandRunner(("true",), protocol, handler_id="h", pool=pool, env=marked())
    event = msgspec.structs.replace(other("notice", cwd=str(tmp_path)), body=Text("\ud800"))
    report = await runner.run(event, AMPLE_S)
    assert isinstance(report.verdict, Failed)
    assert report.verdict.cause == "protocol"


async def test_a_home_is_found_and_a_folder_of_its_own_is_relative_to_the_sessions(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "inner").mkdir()
    script(tmp_path, "pwd -P >&2; exit 2")
    runner = CommandRunner(
        ("~/hook.sh",),
        PROTOCOLS["console"],
        handler_id="h",
        pool=bench.pool,
        env=bench.env,
        cwd="inner",
    )
    report = await runner.run(pre(cwd=bench.cwd), AMPLE_S)
    assert report.run.stderr.strip() == str((tmp_path / "inner").resolve())
