from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import anyio
import pytest

from tests.core.dispatching import run
from tests.service.runners.extension_stage import Stage, stage
from watchgate.core.dispatch.presets import CONSOLE, SYNAPS_CHAIN
from watchgate.core.model.verdicts import Allow, Block, Failed, Report
from watchgate.service.runners.extension_run import ExtensionTiming


def failed(report: Report) -> Failed:
    assert isinstance(report.verdict, Failed)
    return report.verdict


async def test_sy_27_a_lost_process_is_started_again_and_the_call_repeated_once(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, "die_once") as on:
        report = await on.ask()
        assert report.verdict == Allow()
        assert (report.run.health, report.run.restarts) == ("running", 1)
        assert (await on.ask()).run.restarts == 1
    assert on.pauses == [0.25]
    asked = ["start", "initialize", "hook.handle"]
    assert on.log == [*asked, *asked, "hook.handle", "shutdown"]


async def test_sy_27_the_pauses_are_250_ms_500_ms_and_1_s_and_then_there_are_no_more(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, "die") as on:
        for _ in range(4):
            assert failed(await on.ask()).cause == "crash"
        assert on.extension.health == "failed"
    assert on.pauses == [0.25, 0.5, 1.0]
    assert on.log.count("start") == 4


async def test_sy_28_with_the_budget_used_up_calls_fail_at_once_and_health_is_failed(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, "die") as on:
        await use_up(on)
        report = await on.ask()
        failure = failed(report)
        assert failure.detail.startswith("it ended with exit code 3; it failed too often and is")
        assert (report.run.health, report.run.restarts) == ("failed", 3)
        assert on.log.count("start") == 4
    said = {"guard": report}
    assert run(on.spec.handlers, said, policy=SYNAPS_CHAIN).outcome.decision == "allow"
    assert run(on.spec.handlers, said, policy=CONSOLE).outcome.decision == "deny"


async def test_sy_28_an_extension_that_never_comes_up_uses_up_the_budget_too(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, "never_up") as on:
        await on.until_health("failed_initialize")
        assert failed(await on.ask()).cause == "crash"
        assert on.extension.health == "failed"
    assert on.log.count("start") == 4


async def test_sy_b11_a_restarted_process_gets_the_same_parameters(tmp_path: Path) -> None:
    config = {"config": [{"key": "mode", "default": "strict"}]}
    async with stage(tmp_path, "tell_twice", manifest=config) as on:
        report = await on.ask()
        assert report.run.restarts == 1
        assert isinstance(report.verdict, Block)
        told = json.loads(report.verdict.reason)["initialize"]
    assert told == on.spec.initialize
    assert told["config"] == {"mode": "strict"}


async def test_sy_b12_health_is_of_the_present_and_stable_time_gives_the_budget_back(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, "die_thrice") as on:
        failed(await on.ask())
        report = await on.ask()
        assert report.verdict == Allow()
        assert (report.run.health, report.run.restarts) == ("running", 3)
        on.clock.advance(60)
        os.kill(on.pids[-1], signal.SIGKILL)
        await on.until_health("degraded")
        assert (await on.ask()).verdict == Allow()
    assert on.pauses == [0.25, 0.5, 1.0, 0.25]


async def test_sy_b12_after_the_window_a_failed_extension_is_tried_again(tmp_path: Path) -> None:
    async with stage(tmp_path, "die") as on:
        await use_up(on)
        on.clock.advance(299)
        await on.ask()
        assert on.log.count("start") == 4
        on.clock.advance(1)
        assert on.extension.health == "degraded"
        await on.ask()
        assert on.log.count("start") > 4


async def test_sy_31_a_new_process_is_not_degraded_by_what_the_last_one_owed(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, "hang") as on:
        await on.until_health("running")
        assert (await on.ask(limit_s=0.05)).run.health == "degraded"
        os.kill(on.pids[-1], signal.SIGKILL)
        await on.until_all_gone()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(on.ask)
            await on.until_noted("start", 2)
            await on.until_health("running")
            tasks.cancel_scope.cancel()


async def test_sy_31_restarting_is_told_while_it_is_so(tmp_path: Path) -> None:
    async with stage(tmp_path, "die_once") as on:
        seen: list[str] = []

        async def watch(_seconds: float) -> None:
            seen.append(on.extension.health)

        on.pausing = watch
        assert (await on.ask()).run.health == "running"
    assert seen == ["restarting"]


@pytest.mark.parametrize(
    ("mode", "cause", "says"),
    [
        ("die", "crash", "ended with exit code 3"),
        ("killed", "crash", "killed by SIGSEGV"),
        ("garbage", "protocol", "not a header line: Traceback"),
        ("no_json", "protocol", "not a JSON-RPC message"),
        ("hang_up", "protocol", "closed its standard output"),
        ("huge", "oversized", "5000000 bytes; at most 4194304"),
        ("grandchild", "crash", "ended with exit code 3"),
    ],
)
async def test_sy_27_whatever_breaks_the_transport_is_named_and_leaves_no_orphan(
    tmp_path: Path, mode: str, cause: str, says: str
) -> None:
    async with stage(
        tmp_path, mode, ExtensionTiming(exit_word_s=2.0 if cause == "crash" else 0.01)
    ) as on:
        failure = failed(await on.ask())
        assert failure.cause == cause
        assert says in failure.detail
        await on.until_health("degraded")
        await on.until_all_gone()
    assert on.log.count("start") == 2
    assert len(on.pids) == (4 if mode == "grandchild" else 2)


async def test_the_last_words_of_a_lost_process_are_kept_for_the_trace(tmp_path: Path) -> None:
    async with stage(tmp_path, "die") as on:
        assert "the last words" in (await on.ask()).run.stderr


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        ({"command": "no-such-program-at-all"}, "no-such-program-at-all"),
        ({"command": "./not-executable"}, "not executable"),
    ],
)
async def test_a_program_that_cannot_be_started_is_a_failure_that_names_it(
    tmp_path: Path, manifest: dict[str, str], says: str
) -> None:
    (tmp_path / "not-executable").touch(0o600)
    async with stage(tmp_path, "go_on", manifest=manifest) as on:
        failure = failed(await on.ask())
        assert failure.cause == "spawn"
        assert says in failure.detail
        assert "mend the command in its manifest" in failure.detail


async def test_a_folder_that_is_gone_is_a_failure_of_the_start(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    async with stage(folder, "go_on") as on:
        assert failed(await on.ask()).cause == "spawn"


async def test_an_extension_that_never_initialises_is_killed_and_named(tmp_path: Path) -> None:
    async with stage(tmp_path, "mute", ExtensionTiming(initialize_s=0.2, shutdown_s=0.01)) as on:
        failure = failed(await on.ask())
        assert failure.cause == "timeout"
        assert failure.detail.startswith("no answer to initialize in 0.2 s; it failed too often")
        assert on.extension.health == "failed"


async def test_a_call_with_a_short_limit_does_not_end_the_restart(tmp_path: Path) -> None:
    async with stage(tmp_path, "die_once") as on:
        await on.until_health("running")
        await on.ask(limit_s=0.02)
        assert (await on.ask()).verdict == Allow()
    assert on.log.count("start") == 2


async def test_many_calls_under_a_lost_process_share_one_restart(tmp_path: Path) -> None:
    said: list[Report] = []
    async with stage(tmp_path, "die_once") as on:

        async def ask() -> None:
            said.append(await on.ask())

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(ask)
    assert [report.verdict for report in said] == [Allow()] * 10
    assert on.log.count("start") == 2


async def test_sy_b13_nothing_starts_a_process_once_the_end_has_begun(tmp_path: Path) -> None:
    async with stage(tmp_path, "die") as on:
        failed(await on.ask())
        starts = on.log.count("start")
        await on.extensions.stop()
        failure = failed(await on.ask())
        assert failure == Failed("crash", "the extension was stopped")
    assert on.log.count("start") == starts


async def test_sy_b13_a_process_that_is_dead_at_shutdown_stays_dead(tmp_path: Path) -> None:
    async with stage(tmp_path, "die") as on:
        await use_up(on)
        await on.until_all_gone()
    assert "shutdown" not in on.log
    assert on.log.count("start") == 4


async def test_sy_b13_an_end_during_the_pause_before_a_restart_is_an_end(tmp_path: Path) -> None:
    async with stage(tmp_path, "die") as on:
        entered = anyio.Event()

        async def forever(_seconds: float) -> None:
            entered.set()
            await anyio.sleep_forever()

        on.pausing = forever
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(on.ask)
            await entered.wait()
            await on.extensions.stop()
    assert on.log.count("start") == 1


async def use_up(on: Stage) -> None:
    """Asks until no restart is left."""
    while on.extension.health != "failed":
        await on.ask()
