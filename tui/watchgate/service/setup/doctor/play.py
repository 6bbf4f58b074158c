"""Plays a harmless request through the installed command, as the agent would run it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from watchgate.agents.base import Adapter, Answer
from watchgate.core.events import Lane
from watchgate.service.probe import DENIAL
from watchgate.service.setup.command import Installed
from watchgate.service.setup.doctor.check import Check
from watchgate.service.setup.doctor.payloads import payload
from watchgate.service.setup.doctor.places import START

PATIENCE_S = 5.0
_RESTART = "`watchgate stop`, then `watchgate serve`, then `watchgate doctor` again"
_AGENT_MARKS = ("CLAUDE", "CODEX", "COPILOT", "GEMINI", "QWEN", "CURSOR", "CRUSH")
_REASON: Final = "a reason"
_GUARD: Final = b"watchgate: the hook client "


def play(
    agent: Adapter,
    command: str,
    installed: Installed,
    env: Mapping[str, str],
    *,
    core_runs: bool = False,
    patience_s: float = PATIENCE_S,
) -> Check | None:
    """Runs one pre-tool entry and judges the form of its answer; None for another kind of entry.

    Where a core runs, a denial in other words than its own for this means that the way to it is
    broken, or that it is of another version.

    Args:
        agent: The agent.
        command: The entry's command line.
        installed: The parts of that command.
        env: The environment to run it in, less what agents set.
        core_runs: Whether a core answers here.
        patience_s: Seconds after which the command is ended.
    """
    harmless = payload(agent, installed.lane, installed.event)
    if harmless is None:
        return None
    name = f"{agent.name}: {installed.lane} answers"
    answer = _run(command, harmless, env, patience_s)
    if answer is None:
        if installed.lane == "observe":
            text = f"it kept the agent waiting for {patience_s:g} s"
            return Check(name, "fail", text, f"watchgate install {agent.name}")
        text = f"no answer within {patience_s:g} s; the doctor withdrew its call"
        return Check(name, "fail", text, _RESTART)
    return judge(name, agent, installed, answer, core_runs=core_runs)


def judge(
    name: str, agent: Adapter, installed: Installed, answer: Answer, *, core_runs: bool = False
) -> Check:
    """Judges whether an answer is one of those that the agent understands.

    Args:
        name: The name of the check.
        agent: The agent.
        installed: The parts of the command that answered.
        answer: Its outputs and status.
        core_runs: Whether a core answers here.
    """
    if answer == Answer():
        return Check(name, "ok", "no opinion: the agent goes on by its own rules")
    if _GUARD in answer.stderr:
        return Check(name, "fail", _words(answer), f"watchgate install {agent.name}")
    closed = agent.closed(installed.event, Lane.GATE, _REASON)
    if installed.lane != "observe" and _is_like(answer, closed, installed.lane):
        output = (answer.stdout + answer.stderr).decode(errors="replace")
        if DENIAL in output:
            return Check(name, "ok", "the core answered, and denied the doctor's own probe")
        if core_runs:
            reason = f"a core runs, but did not say this: {_words(answer)}"
            return Check(name, "fail", reason, _RESTART)
        return Check(name, "warn", f"it denies, as no core runs: {_words(answer)}", START)
    text = f"exit {answer.exit_code}, {len(answer.stdout)} bytes, {_words(answer) or 'no words'}"
    return Check(name, "fail", f"an answer of no known form: {text}", "watchgate serve --help")


def _is_like(answer: Answer, closed: Answer, lane: str) -> bool:
    """Returns whether an answer has the form of the agent's denial, whatever its reason.

    A core that answers on a lane that hands back prints the denial and leaves with 0.
    """
    exits = {closed.exit_code} if lane == "gate" else {closed.exit_code, 0}
    if answer.exit_code not in exits:
        return False
    if not closed.stdout:
        return bool(answer.stderr) and not answer.stdout.strip()
    return _form(answer.stdout) is not None and _form(answer.stdout) == _form(closed.stdout)


def _form(stdout: bytes) -> Any:
    """Returns a JSON value without the words in it; None when these bytes are no JSON."""
    try:
        return _without_words(msgspec.json.decode(stdout))
    except msgspec.DecodeError:
        return None


def _without_words(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_words(each) for key, each in value.items()}
    return "words" if isinstance(value, str) and " " in value else value


def _run(command: str, payload: bytes, env: Mapping[str, str], patience_s: float) -> Answer | None:
    """Runs the command; None when it was still waiting and had to be ended."""
    plain = {key: value for key, value in env.items() if not key.startswith(_AGENT_MARKS)}
    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=plain,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(payload, timeout=patience_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate()
        return None
    return Answer(stdout, stderr, process.returncode)


def _words(answer: Answer) -> str:
    return (answer.stderr or answer.stdout).decode(errors="replace").strip()
