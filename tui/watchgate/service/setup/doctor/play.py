"""A harmless request, played through the installed command as the agent would run it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec

from watchgate.agents.base import Answer
from watchgate.service.probe import DENIAL, INPUTS, SESSION
from watchgate.service.setup.command import Installed
from watchgate.service.setup.doctor.check import Check

PATIENCE_S = 5.0
_RESTART = "`watchgate stop`, then `watchgate serve`, then `watchgate doctor` again"
_AGENT_MARKS = ("CLAUDE", "CODEX")


def play(
    command: str,
    installed: Installed,
    env: Mapping[str, str],
    *,
    core_runs: bool = False,
    patience_s: float = PATIENCE_S,
) -> Check:
    """Runs one pre-tool entry and judges the form of its answer, whatever the decision.

    Where a core runs, a denial in other words than its own for this means that the way to it is
    broken, or that it is of another version.
    """
    name = f"{installed.agent}: {installed.lane} answers"
    answer = _run(command, _payload(installed), env, patience_s)
    if answer is None:
        if installed.lane == "observe":
            text = f"it kept the agent waiting for {patience_s:g} s"
            return Check(name, "fail", text, f"watchgate install {installed.agent}")
        text = f"no answer within {patience_s:g} s; the doctor withdrew its call"
        return Check(name, "fail", text, _RESTART)
    return judge(name, installed, answer, core_runs=core_runs)


def judge(name: str, installed: Installed, answer: Answer, *, core_runs: bool = False) -> Check:
    """Whether an answer is one of those that the agent understands."""
    if answer == Answer():
        return Check(name, "ok", "no opinion: the agent goes on by its own rules")
    if installed.lane == "gate" and not answer.stdout and answer.exit_code == 2 and answer.stderr:
        return Check(name, "fail", _words(answer), f"watchgate install {installed.agent}")
    reason = _denial(answer.stdout)
    exits = (2,) if installed.lane == "gate" else (0, 2)
    if reason and answer.exit_code in exits and installed.lane != "observe":
        if DENIAL in reason:
            return Check(name, "ok", "the core answered, and denied the doctor's own probe")
        if core_runs:
            return Check(name, "fail", f"a core runs, but did not say this: {reason}", _RESTART)
        return Check(name, "ok", f"it denies: {reason}")
    text = f"exit {answer.exit_code}, {len(answer.stdout)} bytes, {_words(answer) or 'no words'}"
    return Check(name, "fail", f"an answer of no known form: {text}", "watchgate serve --help")


def _payload(installed: Installed) -> bytes:
    tool, args = INPUTS[installed.lane]
    return msgspec.json.encode(
        {
            "session_id": SESSION,
            "hook_event_name": installed.event,
            "cwd": str(Path.cwd()),
            "permission_mode": "default",
            "tool_name": tool,
            "tool_input": args,
            "tool_use_id": SESSION,
        }
    )


def _run(command: str, payload: bytes, env: Mapping[str, str], patience_s: float) -> Answer | None:
    """What the command says; None when it was still waiting and had to be ended."""
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


def _denial(stdout: bytes) -> str:
    """The reason of a pre-tool denial; empty when these bytes are none."""
    try:
        output = msgspec.json.decode(stdout)["hookSpecificOutput"]
        if output["hookEventName"] == "PreToolUse" and output["permissionDecision"] == "deny":
            return str(output["permissionDecisionReason"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return ""
    return ""


def _words(answer: Answer) -> str:
    return answer.stderr.decode(errors="replace").strip()
