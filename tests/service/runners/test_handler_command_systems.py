"""The rows of the five systems that only a real process can show, each under its preset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.core.builders import START, other, post, pre, shell
from tests.service.runners.driving import Bench
from watchgate.core.dispatch.dispatch_loop import Dispatch
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.dispatch.presets import PRESETS
from watchgate.core.model.verdicts import Failed
from watchgate.service.runners.child_pool import ChildPool

FOREVER = "sleep 600"
FLOOD = "head -c 10485760 /dev/zero"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    pool = ChildPool(4)
    yield Bench(tmp_path, pool)
    pool.close()


async def test_cx_12_any_other_exit_code_blocks_with_its_words(bench: Bench) -> None:
    bench.hook("codex-fork-v1", "echo not on Friday >&2; exit 3")
    outcome, _ = await bench.outcome("codex-fork-v1", pre(cwd=bench.cwd))
    assert (outcome.decision, outcome.reason) == ("deny", "not on Friday")


async def test_cx_12_without_words_the_exit_code_is_named(bench: Bench) -> None:
    bench.hook("codex-fork-v1", "exit 41")
    outcome, _ = await bench.outcome("codex-fork-v1", pre(cwd=bench.cwd))
    assert outcome.decision == "deny"
    assert "41" in outcome.reason


async def test_cx_13_a_hook_over_its_time_is_killed_and_blocks(bench: Bench) -> None:
    bench.hook("codex-fork-v1", FOREVER, limit_s=0.3)
    outcome, (row,) = await bench.outcome("codex-fork-v1", pre(cwd=bench.cwd))
    assert (outcome.decision, outcome.failed) == ("deny", "timeout")
    assert row.verdict == "failed"


async def test_cx_14_closed_outputs_without_an_exit_block_after_the_grace(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PROTOCOLS["codex-fork-v1"].exit_grace_s == 5.0
    hasty = msgspec.structs.replace(PROTOCOLS["codex-fork-v1"], exit_grace_s=0.1)
    monkeypatch.setitem(PROTOCOLS, "codex-fork-v1", hasty)
    bench.hook("codex-fork-v1", f"exec >&- 2>&-; {FOREVER}")
    outcome, _ = await bench.outcome("codex-fork-v1", pre(cwd=bench.cwd))
    assert (outcome.decision, outcome.failed) == ("deny", "timeout")
    assert bench.reports["hook-0"].verdict == Failed(
        "timeout", "it closed its outputs and did not exit within 0.1 s"
    )


@pytest.mark.parametrize("argv", [("./missing",), ()], ids=["missing", "empty"])
async def test_cx_15_a_hook_that_does_not_start_lets_the_call_proceed_with_a_warning(
    bench: Bench, argv: tuple[str, ...]
) -> None:
    bench.hook("codex-fork-v1", argv)
    outcome, (row,) = await bench.outcome("codex-fork-v1", pre(cwd=bench.cwd))
    assert (outcome.decision, row.verdict, row.ignored) == ("allow", "failed", True)
    assert "it failed, and fails open: spawn: " in row.detail


@pytest.mark.parametrize(
    ("rest", "decision"),
    [("echo no >&2; exit 1", "deny"), ("""echo '{"decision":"proceed"}'""", "allow")],
)
async def test_cx_16_a_hook_that_closes_its_input_early_is_still_heard(
    bench: Bench, rest: str, decision: str
) -> None:
    bench.hook("codex-fork-v1", f"exec 0<&-; {rest}")
    call = pre(shell("echo " + "x" * 500_000), cwd=bench.cwd)
    outcome, (row,) = await bench.outcome("codex-fork-v1", call)
    assert (outcome.decision, row.verdict) == (decision, {"deny": "block"}.get(decision, decision))
    assert row.run.stdin_bytes < 500_000


async def test_cx_17_an_oversized_answer_is_drained_and_blocks(bench: Bench) -> None:
    bench.hook("codex-fork-v1", f"""echo '{{"decision":"proceed"}}'; {FLOOD}""")
    outcome, (row,) = await bench.outcome("codex-fork-v1", pre(cwd=bench.cwd))
    assert (outcome.decision, outcome.failed) == ("deny", "oversized")
    assert row.run.exit_code == 0


async def test_cx_17_much_on_stderr_is_cut_and_no_block(bench: Bench) -> None:
    bench.hook("codex-fork-v1", f"""{FLOOD} >&2; echo '{{"decision":"proceed"}}'""")
    outcome, _ = await bench.outcome("codex-fork-v1", pre(cwd=bench.cwd))
    assert outcome.decision == "allow"


async def test_cx_18_a_hook_that_fills_both_outputs_is_heard(bench: Bench) -> None:
    flood = "head -c 900000 /dev/zero"
    bench.hook("codex-fork-v1", f"{flood} & {flood} >&2; wait; exit 1")
    outcome, (row,) = await bench.outcome("codex-fork-v1", pre(cwd=bench.cwd))
    assert (outcome.decision, row.verdict) == ("deny", "block")


async def test_cx_19_a_relative_hook_runs_in_the_sessions_folder(bench: Bench) -> None:
    bench.hook("codex-fork-v1", "pwd -P >&2; exit 1")
    bench.hook("codex-fork-v1", ("./hook-0.sh",))
    outcome, _ = await bench.outcome("codex-fork-v1", pre(cwd=bench.cwd))
    assert outcome.reason == str(bench.folder.resolve())


# CodeWhale's foreground hooks.


async def test_cw_29_a_hook_over_its_time_is_killed_with_its_group_and_named(bench: Bench) -> None:
    bench.hook("codewhale-sinks", f"{FOREVER} & {FOREVER}", limit_s=0.25)
    _, (row,) = await bench.outcome("codewhale-sinks", pre(cwd=bench.cwd))
    assert (row.verdict, row.run.exit_code) == ("failed", None)
    assert bench.reports["hook-0"].verdict == Failed("timeout", "no answer in 0.25 s")


# sandbox-agent's lists.


def message(bench: Bench, **fields: Any) -> Any:
    return other("prompt.submit", cwd=bench.cwd, **fields)


PROMPT: dict[str, Any] = {"on": frozenset({"prompt.submit"})}


async def test_sa_4_hooks_of_one_kind_run_one_after_another_in_order(bench: Bench) -> None:
    for name in "abc":
        bench.hook(
            "sandbox-lifecycle", f"echo {name}1 >>log; sleep 0.05; echo {name}2 >>log", **PROMPT
        )
    await bench.outcome("sandbox-lifecycle", message(bench))
    assert (bench.folder / "log").read_text().split() == ["a1", "a2", "b1", "b2", "c1", "c2"]


@pytest.mark.parametrize("body", ["exit 1", ("./missing",), FOREVER], ids=["exit", "spawn", "time"])
async def test_sa_5_after_a_failure_the_next_hook_runs_and_the_message_goes_on(
    bench: Bench, body: Any
) -> None:
    bench.hook("sandbox-lifecycle", body, limit_s=0.3, **PROMPT)
    bench.hook("sandbox-lifecycle", "echo ran >ran", **PROMPT)
    outcome, rows = await bench.outcome("sandbox-lifecycle", message(bench))
    assert (outcome.decision == "deny", rows[0].verdict) == (False, "failed")
    assert (bench.folder / "ran").exists()


async def test_sa_6_where_it_must_not_go_on_later_hooks_do_not_run(bench: Bench) -> None:
    bench.hook("sandbox-lifecycle", "exit 1", continue_on_failure=False, **PROMPT)
    bench.hook("sandbox-lifecycle", "echo ran >ran", **PROMPT)
    outcome, rows = await bench.outcome("sandbox-lifecycle", message(bench))
    assert (outcome.decision, rows[1].why) == ("deny", "after-stop")
    assert not (bench.folder / "ran").exists()


async def test_sa_7_a_hook_has_no_input_and_the_sessions_names(bench: Bench) -> None:
    bench.hook("sandbox-lifecycle", "wc -c; env", **PROMPT)
    _, (row,) = await bench.outcome("sandbox-lifecycle", message(bench, mode="build"))
    size, *lines = row.run.stdout.split()
    env = dict(line.split("=", 1) for line in lines if "=" in line)
    assert (size, row.run.stdin_bytes) == ("0", 0)
    assert {name: env[name] for name in env if name.startswith("SANDBOX_")} == {
        "SANDBOX_SESSION_ID": "one",
        "SANDBOX_AGENT": "claude",
        "SANDBOX_AGENT_MODE": "build",
        "SANDBOX_HOOK_TYPE": "message_start",
        "SANDBOX_MESSAGE": "words",
    }
    assert env["PATH"] == bench.env["PATH"]


async def test_sa_9_a_result_has_exit_code_outputs_and_success(bench: Bench) -> None:
    bench.hook("sandbox-lifecycle", "echo out; echo err >&2; exit 4", **PROMPT)
    bench.hook("sandbox-lifecycle", "echo fine", **PROMPT)
    _, (failed, fine) = await bench.outcome("sandbox-lifecycle", message(bench))
    assert (failed.verdict, failed.run.exit_code) == ("failed", 4)
    assert (failed.run.stdout, failed.run.stderr) == ("out\n", "err\n")
    assert (fine.verdict, fine.run.exit_code, fine.run.stdout) == ("defer", 0, "fine\n")
    assert fine.duration_ms is not None


async def test_sa_10_a_timeout_has_no_exit_code_and_names_the_seconds(bench: Bench) -> None:
    bench.hook("sandbox-lifecycle", FOREVER, limit_s=0.25, **PROMPT)
    _, (row,) = await bench.outcome("sandbox-lifecycle", message(bench))
    assert (row.verdict, row.run.exit_code) == ("failed", None)
    assert bench.reports["hook-0"].verdict == Failed("timeout", "no answer in 0.25 s")


async def test_sa_11_a_hooks_own_folder_comes_before_the_sessions(bench: Bench) -> None:
    (bench.folder / "own").mkdir()
    bench.hook("sandbox-lifecycle", "pwd -P", cwd=str(bench.folder / "own"), **PROMPT)
    bench.hook("sandbox-lifecycle", "pwd -P", **PROMPT)
    _, rows = await bench.outcome("sandbox-lifecycle", message(bench))
    here = bench.folder.resolve()
    assert [row.run.stdout.strip() for row in rows] == [str(here / "own"), str(here)]


async def test_sa_11_sa_b8_one_that_does_not_exist_is_a_failure(bench: Bench) -> None:
    bench.hook("sandbox-lifecycle", "echo ran >ran", cwd="gone", **PROMPT)
    _, (row,) = await bench.outcome("sandbox-lifecycle", message(bench))
    assert row.verdict == "failed"
    assert "spawn: cannot enter" in row.detail
    assert not (bench.folder / "ran").exists()


# What nobody waits for.


def test_cx_29_after_a_tool_call_nobody_waits_for_the_hook(bench: Bench) -> None:
    hook = Handler(id="log", on=frozenset({"tool.post"}), role="observer", kind="command")
    dispatch = Bus(PRESETS["codex-fork-v1"], [hook]).start(post(cwd=bench.cwd), START)
    assert isinstance(dispatch, Dispatch)
    (call,) = dispatch.begin(START)
    assert (call.handler.id, dispatch.running) == ("log", frozenset({"log"}))
    assert dispatch.outcome is not None


async def test_cx_29_what_it_says_then_has_no_say(bench: Bench) -> None:
    bench.hook("codex-fork-v1", "echo no >&2; exit 1", on=frozenset({"tool.post"}), role="observer")
    outcome, (row,) = await bench.outcome("codex-fork-v1", post(cwd=bench.cwd))
    assert (outcome.decision, row.verdict, row.ignored) == ("allow", "block", True)
