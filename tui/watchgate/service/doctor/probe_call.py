"""Plays a harmless request through the installed command, as the agent would run it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from watchgate.agents.base import Adapter, DecodeError, HookAnswer, Intake
from watchgate.agents.opencode.opencode_events import BEFORE
from watchgate.agents.table import EventRule, Fields, Paths, Table
from watchgate.agents.table.adapter import TableAdapter
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Lane, ToolClass
from watchgate.service.doctor.machine_checks import START
from watchgate.service.setup.forms.guarded_command import InstalledCommand
from watchgate.service.setup.hook_checks import Check
from watchgate.service.wire.framing import (
    PROBE_COMMAND,
    PROBE_DENIAL,
    PROBE_PATH,
    PROBE_SESSION,
    is_probe,
)

_FIELDS: Final = Fields()
_NEVER: Final = Instant(wall_us=0, mono_s=0.0)
_CLASSES: Final[dict[str, tuple[ToolClass, str, str, str]]] = {
    "gate": ("shell", "Bash", "command", PROBE_COMMAND),
    "observe": ("shell", "Bash", "command", PROBE_COMMAND),
    "gate-read": ("read", "Read", "file_path", PROBE_PATH),
}


def probe_payload(agent: Adapter, lane: str, native: str) -> bytes | None:
    """Encodes one pre-tool event on this lane; None where it would be no known probe.

    So it is with events that ask about no call, or only about one that cannot be harmless.
    """
    made = _made(agent, lane, native)
    if made is None:
        return None
    intake = Intake(lane=Lane(lane), at=_NEVER, native=native)
    try:
        return made if is_probe(agent.decode(made, intake)) else None
    except DecodeError:
        return None


def _made(agent: Adapter, lane: str, native: str) -> bytes | None:
    if agent.name == "opencode":
        return _plugin_call(lane) if native == BEFORE and lane in _CLASSES else None
    table = agent.table if isinstance(agent, TableAdapter) else None
    rule = table.events.get(native) if table else EventRule(kind="tool.pre")
    if rule is None or rule.kind != "tool.pre" or lane not in _CLASSES:
        return None
    if table is None and native != "PreToolUse":
        return None
    fields = rule.fields or (table.fields if table else _FIELDS)
    kind, tool, key, value = _CLASSES[lane]
    made: dict[str, Any] = {}
    _put(made, fields.event, native)
    _put(made, fields.session, PROBE_SESSION)
    _put(made, fields.cwd, str(Path.cwd()))
    _put(made, fields.call_id, PROBE_SESSION)
    if rule.tool:
        for name, where in rule.input.items():
            _put(made, (where,), value if name in ("command", "file_path", "path") else "")
    else:
        _put(made, fields.tool, _tool(table, kind, tool))
        _put(made, fields.input, {key: value})
    return msgspec.json.encode(made)


def _plugin_call(lane: str) -> bytes:
    """Encodes the call that our plugin for OpenCode hands to the client."""
    kind, _, _, value = _CLASSES[lane]
    tool, key = ("read", "filePath") if kind == "read" else ("bash", "command")
    called = {"tool": tool, "sessionID": PROBE_SESSION, "callID": PROBE_SESSION}
    made = {"hook": BEFORE, "input": called, "output": {"args": {key: value}}}
    return msgspec.json.encode(made)


def _tool(table: Table | None, kind: ToolClass, otherwise: str) -> str:
    classes = table.classes if table else {}
    return next((name for name, kind_of_name in classes.items() if kind_of_name == kind), otherwise)


def _put(made: dict[str, Any], where: Paths, value: Any) -> None:
    """Puts a value at the first of these places; a number is the one position of a list."""
    if not where:
        return
    for key in reversed(where[0].split(".")[1:]):
        value = [value] if key.isdigit() else {key: value}
    first = where[0].split(".")[0]
    had = made.get(first)
    made[first] = {**had, **value} if isinstance(had, dict) and isinstance(value, dict) else value


PATIENCE_S = 5.0
_RESTART = "`watchgate stop`, then `watchgate serve`, then `watchgate doctor` again"
_AGENT_MARKS = ("CLAUDE", "CODEX", "COPILOT", "GEMINI", "QWEN", "CURSOR", "CRUSH")
_REASON: Final = "a reason"
_GUARD: Final = b"watchgate: the hook client "


def play_probe(
    agent: Adapter,
    command: str,
    installed: InstalledCommand,
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
    harmless = probe_payload(agent, installed.lane, installed.event)
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
    return judge_answer(name, agent, installed, answer, core_runs=core_runs)


def judge_answer(
    name: str,
    agent: Adapter,
    installed: InstalledCommand,
    answer: HookAnswer,
    *,
    core_runs: bool = False,
) -> Check:
    """Judges whether an answer is one of those that the agent understands.

    Args:
        name: The name of the check.
        agent: The agent.
        installed: The parts of the command that answered.
        answer: Its outputs and status.
        core_runs: Whether a core answers here.
    """
    if answer == HookAnswer():
        return Check(name, "ok", "no opinion: the agent goes on by its own rules")
    if _GUARD in answer.stderr:
        return Check(name, "fail", _words(answer), f"watchgate install {agent.name}")
    closed = agent.closed(installed.event, Lane.GATE, _REASON)
    if installed.lane != "observe" and _is_like(answer, closed, installed.lane):
        output = (answer.stdout + answer.stderr).decode(errors="replace")
        if PROBE_DENIAL in output:
            return Check(name, "ok", "the core answered, and denied the doctor's own probe")
        if core_runs:
            reason = f"a core runs, but did not say this: {_words(answer)}"
            return Check(name, "fail", reason, _RESTART)
        return Check(name, "warn", f"it denies, as no core runs: {_words(answer)}", START)
    text = f"exit {answer.exit_code}, {len(answer.stdout)} bytes, {_words(answer) or 'no words'}"
    return Check(name, "fail", f"an answer of no known form: {text}", "watchgate serve --help")


def _is_like(answer: HookAnswer, closed: HookAnswer, lane: str) -> bool:
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


def _run(
    command: str, payload: bytes, env: Mapping[str, str], patience_s: float
) -> HookAnswer | None:
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
    return HookAnswer(stdout, stderr, process.returncode)


def _words(answer: HookAnswer) -> str:
    return (answer.stderr or answer.stdout).decode(errors="replace").strip()
