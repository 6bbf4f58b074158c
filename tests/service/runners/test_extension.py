from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.core.builders import other
from tests.service.runners.extension_stage import Stage, call, stage
from watchgate.core.model.verdicts import Allow, Block, Defer, Failed, Report
from watchgate.service.runners.extension_run import ExtensionTiming

BRIEF = ExtensionTiming(shutdown_s=0.05, grace_s=0.05)


def failed(report: Report) -> Failed:
    assert isinstance(report.verdict, Failed)
    return report.verdict


def reason(report: Report) -> Any:
    assert isinstance(report.verdict, Block)
    return json.loads(report.verdict.reason)


async def test_an_extension_is_asked_and_its_word_is_the_verdict(tmp_path: Path) -> None:
    async with stage(tmp_path, "go_on") as on:
        report = await on.ask()
        assert report.verdict == Allow()
        assert (report.run.health, report.run.restarts) == ("running", 0)
    assert on.log == ["start", "initialize", "hook.handle", "shutdown"]


async def test_sy_25_late_and_unknown_ids_are_dropped_and_notifications_pass(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, "strange") as on:
        for _ in range(3):
            assert (await on.ask()).verdict == Allow()
        assert on.extension.restarts == 0


async def test_sy_25_the_extension_may_ask_for_its_memory_and_nothing_else(tmp_path: Path) -> None:
    wants = {"permissions": ["tools.intercept", "memory.read", "memory.write"]}
    record = {"content": "seen", "namespace": "", "tags": []}
    async with stage(tmp_path, "remember", manifest=wants) as on:
        assert reason(await on.ask()) == [{"ok": True}, {"records": [record]}, -32601]


async def test_sy_25_without_the_permission_its_memory_is_refused(tmp_path: Path) -> None:
    async with stage(tmp_path, "remember") as on:
        assert reason(await on.ask()) == [-32001, -32001, -32601]


async def test_sy_26_initialize_is_the_first_call_and_says_all_parameters(tmp_path: Path) -> None:
    config = {"config": [{"key": "endpoint", "default": "local"}]}
    async with stage(tmp_path, "tell", manifest=config) as on:
        told = reason(await on.ask("make"))
    assert on.log[:2] == ["start", "initialize"]
    assert told["initialize"] == on.spec.initialize
    assert told["initialize"]["config"] == {"endpoint": "local"}
    assert told["params"]["tool_input"] == {"command": "make"}


@pytest.mark.parametrize(
    ("mode", "says"), [("newer", "protocol version 2, not 1"), ("refuse", "error 1: no licence")]
)
async def test_sy_26_an_extension_of_another_version_fails_to_load_and_stays_so(
    tmp_path: Path, mode: str, says: str
) -> None:
    async with stage(tmp_path, mode) as on:
        await on.until_health("failed_initialize")
        for _ in range(2):
            failure = failed(await on.ask())
            assert failure.cause == "protocol"
            assert says in failure.detail
        await on.until_all_gone()
    assert on.log == ["start", "initialize"]
    assert on.pauses == []


async def test_sy_32_it_runs_in_its_own_folder_and_sees_only_listed_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "never")
    config = {"config": [{"key": "token", "secret_env": "GUARD_TOKEN"}]}
    shared = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    environ = {"GUARD_TOKEN": "t", "OTHER": "x"}
    async with stage(tmp_path, "tell", manifest=config, environ=environ, inherited=shared) as on:
        told = reason(await on.ask())
    assert told["cwd"] == str(tmp_path)
    ours = {k: v for k, v in told["env"].items() if not k.startswith(("LC_", "__"))}
    assert ours == {**shared, "GUARD_TOKEN": "t"}


async def test_sy_32_each_line_on_standard_error_is_told_with_the_extensions_id(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, "noise") as on:
        assert (await on.ask()).verdict == Allow()
    left_out = "(a line of 100001 bytes left out)"
    said = {line for _, line in on.lines}
    assert {"one", "\\xfftwo", "last without end"} <= said
    assert said - {"one", "\\xfftwo", "last without end"} == {left_out}
    assert {id for id, _ in on.lines} == {"guard"}


async def test_an_event_without_a_hook_is_never_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, "go_on") as on:
        report = await on.extension.run(other("notice"), 1.0)
        assert isinstance(report.verdict, Defer)
    assert "hook.handle" not in on.log


async def test_an_event_larger_than_a_frame_is_not_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, "go_on") as on:
        assert failed(await on.ask("x" * 4_200_000)).cause == "oversized"
        assert (await on.ask("x" * 4_100_000)).verdict == Allow()
    assert on.log.count("hook.handle") == 1


async def test_sy_b10_an_error_answer_is_a_failure_of_the_call_and_not_of_the_process(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, "error") as on:
        for _ in range(2):
            report = await on.ask()
            assert failed(report).cause == "protocol"
            assert "error -32000: no database" in failed(report).detail
            assert (report.run.health, report.run.restarts) == ("running", 0)
    assert on.log.count("hook.handle") == 2
    assert on.log.count("start") == 1


async def test_sy_b8_a_timeout_marks_it_degraded_until_it_answers_again(tmp_path: Path) -> None:
    async with stage(tmp_path, "hang_once") as on:
        await on.until_health("running")
        report = await on.ask(limit_s=0.05)
        assert failed(report) == Failed("timeout", "no answer in 0.05 s")
        assert report.run.health == "degraded"
        assert (await on.ask()).run.health == "running"
    assert on.log.count("start") == 1


async def test_sy_b9_calls_do_not_wait_behind_one_another(tmp_path: Path) -> None:
    said: dict[str, Report] = {}
    async with stage(tmp_path, "twins") as on:

        async def ask(command: str) -> None:
            said[command] = await on.ask(command)

        async with anyio.create_task_group() as tasks:
            for command in ("first", "second"):
                tasks.start_soon(ask, command)
    assert {command: report.verdict for command, report in said.items()} == {
        "first": Block("first"),
        "second": Block("second"),
    }


async def test_sy_b9_the_time_before_it_is_sent_is_told_apart(tmp_path: Path) -> None:
    async with stage(tmp_path, "die") as on:

        async def pause(_seconds: float) -> None:
            on.clock.advance(2.5)

        on.pausing = pause
        first, second = await on.ask(), await on.ask()
        assert (first.run.queue_ms, second.run.queue_ms) == (0.0, 2500.0)


async def test_sy_b9_the_one_limit_counts_from_the_asking(tmp_path: Path) -> None:
    async with stage(tmp_path, "die") as on:
        failed(await on.ask())
        on.pausing = lambda _seconds: anyio.sleep_forever()
        failure = failed(await on.ask(limit_s=0.05))
        assert failure.cause == "timeout"
        assert "no answer in 0.05 s: it ended with exit code 3" in failure.detail


async def test_sy_b14_a_cancelled_call_leaves_nothing_behind(tmp_path: Path) -> None:
    async with stage(tmp_path, "hang") as on:
        await on.until_health("running")
        link = on.extension._link
        assert link is not None
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(on.ask)
            await on.until_noted("hook.handle", 3)
            assert link.in_flight == 3
            tasks.cancel_scope.cancel()
        assert link.in_flight == 0
        await on.ask(limit_s=0.01)
        assert link.in_flight == 0


async def test_more_calls_than_it_can_keep_up_with_are_refused_not_queued(tmp_path: Path) -> None:
    async with stage(tmp_path, "deaf", BRIEF) as on:
        await on.until_health("running")
        async with anyio.create_task_group() as tasks:
            for _ in range(256):
                tasks.start_soon(on.extension.run, call(), 60.0)
            await anyio.wait_all_tasks_blocked()
            assert failed(await on.ask()).cause == "crowded"
            tasks.cancel_scope.cancel()


async def test_sy_31_health_is_the_present_state(tmp_path: Path) -> None:
    async with stage(tmp_path, "go_on") as on:
        assert on.extension.health == "loaded"
        await on.until_health("running")
        assert on.extensions.health() == {"guard": "running"}
    assert on.extension.health == "loaded"


async def test_a_disabled_extension_is_not_started(tmp_path: Path) -> None:
    async with stage(tmp_path, "go_on", enabled=False) as on:
        with pytest.raises(KeyError):
            on.extensions.runner("guard")
    assert on.log == []


async def test_sy_30_shutdown_is_asked_for_and_a_process_that_obeys_leaves_by_itself(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, "go_on", ExtensionTiming(shutdown_s=30.0, grace_s=30.0)) as on:
        await on.until_health("running")
    assert on.log[-1] == "shutdown"


async def test_sy_30_one_that_only_closes_when_its_input_ends_has_the_grace(tmp_path: Path) -> None:
    async with stage(
        tmp_path, "slow_to_leave", ExtensionTiming(shutdown_s=0.01, grace_s=30.0)
    ) as on:
        await on.until_health("running")
    assert on.log[-2:] == ["shutdown", "end of input"]


@pytest.mark.parametrize("mode", ["stubborn", "deaf", "nurse"])
async def test_sy_30_whatever_stays_is_killed_with_its_children(tmp_path: Path, mode: str) -> None:
    assert (ExtensionTiming().shutdown_s, ExtensionTiming().grace_s) == (0.5, 0.5)
    async with stage(tmp_path, mode, BRIEF) as on:
        await on.until_health("running")
        await on.ask(limit_s=0.3)
    assert not on.extension.restarts


async def test_cancelling_the_core_leaves_no_process(tmp_path: Path) -> None:
    on = Stage(tmp_path, "nurse", ExtensionTiming())
    async with anyio.create_task_group() as tasks:
        on.extensions.start([on.spec], tasks)
        assert (await on.ask()).verdict == Allow()
        tasks.cancel_scope.cancel()
    await on.until_all_gone()
    assert len(on.pids) == 2


async def test_no_descriptor_is_left_open_after_lives_of_every_kind(tmp_path: Path) -> None:
    async with stage(tmp_path, "go_on") as on:
        await on.ask()
    before = descriptors()
    for mode in ("die", "garbage", "hang_up", "grandchild", "stubborn", "newer"):
        async with stage(tmp_path, mode, BRIEF) as on:
            await on.ask()
    async with stage(tmp_path, "go_on", manifest={"command": "no-such-program"}) as on:
        await on.ask()
    assert descriptors() == before


def descriptors() -> int:
    """How many are open, of pipes and of everything else."""
    return len(list(Path("/dev/fd").iterdir()))


async def test_extensions_live_side_by_side_and_end_together(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    async with stage(one, "die", id="a") as first, stage(two, "tell", id="b") as second:
        failed(await first.extensions.runner("a").run(call(), 30.0))
        told = reason(await second.extensions.runner("b").run(call(), 30.0))
        assert told["initialize"]["plugin_id"] == "b"
        assert second.extensions.health() == {"b": "running"}
