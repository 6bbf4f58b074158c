"""What profiles and lanes make of the same calls, and what may not wait for what."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.e2e.programs import AGENT, Core, bash, until

RISKY = "git push --force"
UNKNOWN = "frobnicate --all"


def test_strict_holds_what_nobody_knows_and_closes_reads(core: Core) -> None:
    ready = core.start("--profile", "strict")
    assert ready["profile"] == "strict"
    hook = core.hook("PreToolUse", bash(UNKNOWN))
    (request,) = core.pending()
    assert request["risk"] == "medium"
    core.cli("deny", request["id"])
    assert hook.done().code == 2
    closed = core.hook("PreToolUse", b"not json", lane="gate-read").done()
    assert closed.code == 2
    assert json.loads(closed.out)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_guard_hands_the_unknown_back_to_an_agent_that_asks_and_holds_it_for_one_that_does_not(
    running: Core,
) -> None:
    asking = running.hook("PreToolUse", bash(UNKNOWN)).done()
    assert (asking.code, asking.out) == (0, "")
    hook = running.hook("PreToolUse", bash(UNKNOWN, "call-2", permission_mode="auto"))
    (request,) = running.pending()
    running.cli("deny", request["id"])
    assert hook.done().code == 2


def test_watch_records_and_never_holds(core: Core) -> None:
    core.start("--profile", "watch")
    done = core.hook("PreToolUse", bash(RISKY)).done()
    assert (done.code, done.out, done.err) == (0, "", "")
    assert core.seen("tool.pre")["data"]["risk"] in ("high", "critical")
    assert core.cli("ls", "--json").lines == []
    assert "NOT GATING" in core.cli("status").out


def test_two_calls_of_one_session_wait_side_by_side(running: Core) -> None:
    first = running.hook("PreToolUse", bash(RISKY, "call-1"))
    running.pending(1)
    second = running.hook("PreToolUse", bash("git reset --hard", "call-2"))
    one, two = running.pending(2)
    running.allow(two)
    assert second.done().code == 0
    assert first.waits
    assert [each["id"] for each in running.pending()] == [one["id"]]
    running.cli("deny", one["id"])
    assert first.done().code == 2


def test_stdin_that_comes_slowly_is_judged_whole(running: Core) -> None:
    raw = json.dumps(bash(RISKY)).encode()
    with subprocess.Popen(
        [sys.executable, "-c", AGENT, *running.client("PreToolUse")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as slow:
        assert slow.stdin is not None
        for at in range(0, len(raw), 40):
            slow.stdin.write(raw[at : at + 40])
            slow.stdin.flush()
            time.sleep(0.02)
        assert running.cli("ls", "--json").lines == [], "its end has not come yet"
        slow.stdin.close()
        (request,) = running.pending()
        assert request["summary"] == RISKY
        running.cli("deny", request["id"])
        assert slow.wait(timeout=60) == 2


@pytest.mark.parametrize("state", ["waiting", "hung"])
def test_an_observer_ends_silently_whatever_the_core_does(running: Core, state: str) -> None:
    held = running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    assert running.process is not None
    if state == "hung":
        running.process.send_signal(signal.SIGSTOP)
    try:
        for number in range(3):
            post = bash("ls", f"p{number}") | {"tool_response": ""}
            done = running.hook("PostToolUse", post, lane="observe").done()
            assert (done.code, done.out, done.err) == (0, "", "")
    finally:
        running.process.send_signal(signal.SIGCONT)
    assert held.waits
    running.cli("deny", request["id"])
    held.done()


def test_a_core_outlives_its_terminal_and_ends_closed_when_told_to(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    running.pending()
    assert running.process is not None
    running.process.send_signal(signal.SIGHUP)
    assert running.cli("status").code == 0
    assert hook.waits
    running.process.send_signal(signal.SIGTERM)
    done = hook.done()
    assert done.code == 2
    assert "stopped" in done.err
    process = running.process
    assert until(lambda: process.poll() is not None, "the end")
    assert process.returncode == 0
    assert running.cli("status").code == 3
    assert running.cli("audit", "verify").code == 0
