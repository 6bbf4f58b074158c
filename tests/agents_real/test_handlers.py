"""Hooks of the user's own decide for real agents, and real streams are watched without hooks."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.agents_real.conftest import PATIENT, QUICK
from tests.agents_real.harness.pinned import pinned
from tests.agents_real.harness.program import PROGRAM, Core, Watchgate
from tests.agents_real.harness.session import EVIDENCE, AnySession, Session, one_call
from tests.agents_real.harness.waiting import eventually
from watchgate.service.crashtest.agent_drivers import CodexDriver, QwenDriver
from watchgate.service.crashtest.model.conversation import Json
from watchgate.service.crashtest.model.model_server import ScriptedModel
from watchgate.service.crashtest.throwaway import ThrowawayPlace

pytestmark = pytest.mark.agents

EDITABLE = ["claude", "codex", "copilot", "gemini", "opencode"]
REFUSED = f"echo refused-word; echo ran >> {EVIDENCE}"
REWRITTEN = f"echo rewrite-me; echo ran >> {EVIDENCE}"
GUARD = """#!/bin/sh
read -r event
case "$event" in
  *refused-word*) echo '{"decision": "block", "reason": "the guard knows this word"}' ;;
  *rewrite-me*) echo '{"decision": "modify", "input": {"command": "echo written anew >> %s"}}' ;;
  *) echo "$event" >> observed.jsonl ;;
esac
"""


@pytest.fixture
def config() -> str:
    """A guard before every call, and a log behind it, both found in the session's own folder."""
    return f"""{PATIENT}
[[handler]]
id = "guard"
on = ["tool.pre"]
command = ["./guard.sh"]
[[handler]]
id = "log"
on = ["tool.post"]
role = "observer"
command = ["./guard.sh"]
"""


@pytest.fixture(autouse=True)
def guard(place: ThrowawayPlace) -> None:
    """The guard lies in the folder in which the agents work."""
    script = place.work / "guard.sh"
    script.write_text(GUARD % EVIDENCE)
    script.chmod(0o755)


def rows(core: Core, handler: str) -> list[Json]:
    """What a handler did so far, the oldest first."""
    traces = core.records("hook.trace")
    return [row for trace in traces for row in trace["data"]["rows"] if row["handler"] == handler]


@pytest.mark.parametrize("agent", QUICK, indirect=True)
def test_a_hook_of_the_users_denies_and_the_model_reads_its_words(
    core: Core, agent: AnySession
) -> None:
    """The command did not run; the trace names the guard."""
    agent.play(one_call(REFUSED))

    assert agent.evidence == ""
    assert "the guard knows this word" in agent.told
    assert [row["verdict"] for row in rows(core, "guard")] == ["block"]


@pytest.mark.parametrize("agent", EDITABLE, indirect=True)
def test_a_rewritten_call_runs_as_it_was_shown_and_allowed(core: Core, agent: AnySession) -> None:
    """The agent is told the new input with the operator's allow, and runs that one."""
    agent.start(one_call(REWRITTEN))
    held = core.holds_one()
    assert held.summary == f"echo written anew >> {EVIDENCE}"
    core.allow(held)
    agent.finish()

    assert agent.evidence == "written anew\n"
    assert core.record("effect.confirmed", held.id)


def test_a_rewrite_that_an_agent_cannot_be_told_denies(
    core: Core, qwen: Session[QwenDriver]
) -> None:
    """Before a call Qwen takes no other input from a hook, so the call does not run as it was."""
    qwen.play(one_call(REWRITTEN))

    assert qwen.evidence == ""
    assert "cannot be told another input" in qwen.told


@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_an_observer_sees_what_ran(core: Core, agent: AnySession) -> None:
    """It is told the result's event, in the session's folder, and delays nobody."""
    agent.start(one_call())
    core.allow(core.holds_one())
    agent.finish()
    seen = agent.place.work / "observed.jsonl"
    eventually(lambda: "tool.post" in (seen.read_text() if seen.exists() else ""), "the result")
    eventually(lambda: rows(core, "log"), "the trace of the result")
    assert {row["verdict"] for row in rows(core, "log")} == {"defer"}


def test_a_codex_stream_is_watched_without_any_hook(
    core: Core, watchgate: Watchgate, place: ThrowawayPlace, model: ScriptedModel
) -> None:
    """`codex exec --json | watchgate tap codex` shows the session's calls and its turn."""
    session = Session(pinned(CodexDriver), place, model)
    session.start(one_call(f"echo ran >> {EVIDENCE}"))
    session.finish()
    stream = "".join(f"{line}\n" for line in session.output().splitlines() if line.startswith("{"))
    done = subprocess.run(
        [PROGRAM, "tap", "codex"],
        input=stream,
        capture_output=True,
        text=True,
        check=False,
        env=watchgate.environment,
        timeout=30,
    )
    assert (done.returncode, done.stdout) == (0, stream)
    thread = json.loads(stream.partition("\n")[0])["thread_id"]
    eventually(lambda: core.records("turn.end"), "the end of the turn")
    assert {record["session"] for record in core.records("tool.post")} == {thread}
    assert [r["data"]["tool"]["cls"] for r in core.records("tool.post")] == ["shell"]
    assert core.records("usage")
