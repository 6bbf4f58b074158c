"""What ran without a gate is an alarm with its likely cause, and nothing else is one."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.agents_real.harness.program import PROGRAM, Core, Watchgate
from tests.agents_real.harness.session import Session, one_call
from tests.agents_real.harness.waiting import eventually
from watchgate.service.crashtest.agent_drivers import ClaudeCodeDriver, CodexDriver
from watchgate.service.crashtest.model.conversation import Json
from watchgate.service.crashtest.model.model_server import ScriptedModel

pytestmark = pytest.mark.agents

ALARMS = ("effect.ungated", "effect.contradicted", "policy.ungated")
SETTLED_S = 1.5
"""After the end of a turn a transcript has been read: the core does so half a second later."""
OPEN = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
"""Claude Code that waits for prompts on standard input."""
SWITCHES = {"--bare": ("--bare",), "disableAllHooks": ("--settings", '{"disableAllHooks": true}')}


def alarms(core: Core) -> list[tuple[str, str]]:
    """The alarms about sessions so far, each with its cause.

    Processes of other tests on this machine are seen, too, and left out.
    """
    found = [record for kind in ALARMS for record in core.records(kind)]
    own = [record for record in found if not record["session"].startswith("pid ")]
    return [(record["kind"], record["data"].get("cause", "")) for record in own]


def transcripts_read(core: Core) -> None:
    """Waits until whatever the transcript of the turn tells is recorded, too."""
    core.turn_ends()
    time.sleep(SETTLED_S)


@pytest.fixture
def tapped(untrusting_codex: Session[CodexDriver], watchgate: Watchgate) -> Session[CodexDriver]:
    """Codex with hooks that nobody has trusted, its stream on the way through `watchgate tap`."""
    agent, place = untrusting_codex.agent, untrusting_codex.place
    ours = [f"{k}={v}" for k, v in watchgate.environment.items() if k.startswith("WATCHGATE_")]
    tap = shlex.join(["env", *ours, str(PROGRAM), "tap", "codex"])
    script = place.top / "tapped.sh"
    place.write(script, f'#!/bin/sh\n{shlex.quote(str(agent.program))} "$@" | {tap}\n')
    script.chmod(0o755)
    agent.program = script
    return untrusting_codex


def test_a_call_of_an_untrusted_codex_is_an_alarm_and_so_is_its_session(
    core: Core, tapped: Session[CodexDriver]
) -> None:
    """Its hooks say nothing; its stream tells that the call ran."""
    tapped.play(one_call())
    transcripts_read(core)

    assert tapped.evidence == "ran\n"
    assert alarms(core) == [("effect.ungated", "untrusted"), ("policy.ungated", "untrusted")]
    (call,) = core.records("effect.ungated")
    assert "trust its hooks" in call["data"]["why"]
    assert call["session"] in {each["session"] for each in core.records("policy.ungated")}


def test_a_denied_call_of_codexs_is_no_alarm(core: Core, codex: Session[CodexDriver]) -> None:
    """Its transcript holds a result for the call, too: the words of the denial."""
    codex.start(one_call())
    core.deny(core.holds_one(), "not on a Friday")
    codex.finish()
    transcripts_read(core)

    assert alarms(core) == []


def test_a_gated_claude_raises_no_alarm(core: Core, claude: Session[ClaudeCodeDriver]) -> None:
    """One call allowed, one denied, and its transcript tells of both."""
    claude.start(one_call(), one_call("git push --force; echo more >> out.txt"))
    core.allow(core.holds_one())
    core.deny(core.holds_one(), "not on a Friday")
    claude.finish()
    transcripts_read(core)

    assert claude.evidence == "ran\n"
    assert alarms(core) == []
    assert core.records("effect.confirmed")


@pytest.fixture
def opened(
    claude: Session[ClaudeCodeDriver], model: ScriptedModel
) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Claude Code, once for each way to switch its hooks off, and open for longer than a run is.

    They start before the core does: the core looks at what runs only now and then.
    """
    running = {
        switch: subprocess.Popen(
            [claude.agent.program, *OPEN, *arguments],
            cwd=claude.place.work,
            env=claude.agent.whole_environment(claude.place, model.url),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for switch, arguments in SWITCHES.items()
    }
    yield running
    for process in running.values():
        process.communicate()


def test_a_claude_with_its_hooks_off_is_listed_with_what_switched_them_off(
    opened: dict[str, subprocess.Popen[bytes]], core: Core
) -> None:
    """No hook of it is ever heard; that it runs is seen all the same."""

    own = {f"pid {process.pid}" for process in opened.values()}

    def listed() -> dict[str, Json]:
        # The agents of other tests run on this machine, too.
        told = {each["session"]: each["data"] for each in core.records("policy.ungated")}
        return told if own <= set(told) else {}

    found = eventually(listed, "both processes")
    for switch, process in opened.items():
        data = found[f"pid {process.pid}"]
        assert data["cause"] == "hooks-off"
        assert switch in data["why"]
