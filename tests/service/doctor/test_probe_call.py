"""Trying the installed command, and judging what it answers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from watchgate.agents.base import HookAnswer
from watchgate.agents.registry import adapter
from watchgate.client import REASONS
from watchgate.core.model.events import Lane
from watchgate.service.doctor.probe_call import judge_answer, play_probe
from watchgate.service.setup.forms.guarded_command import InstalledCommand
from watchgate.service.wire.framing import PROBE_DENIAL

CLAUDE = adapter("claude")
DENIED = CLAUDE.closed("PreToolUse", Lane.GATE, "No core.")


def installed(lane: str) -> InstalledCommand:
    here = Path("/x")
    return InstalledCommand(here, here, here, "claude", lane, "PreToolUse", 60.0)


@pytest.mark.parametrize(
    ("lane", "answer", "status"),
    [
        ("gate", HookAnswer(), "ok"),
        ("gate", DENIED, "warn"),
        ("gate", HookAnswer(DENIED.stdout, DENIED.stderr, 0), "fail"),
        ("gate", HookAnswer(b"", b"watchgate: the hook client is missing", 2), "fail"),
        ("gate", HookAnswer(b"hello\n" + DENIED.stdout, b"x", 2), "fail"),
        ("gate", HookAnswer(b'{"hookSpecificOutput": []}', b"x", 2), "fail"),
        ("gate", HookAnswer(b"", b"", 1), "fail"),
        ("gate-read", HookAnswer(), "ok"),
        ("gate-read", HookAnswer(DENIED.stdout, DENIED.stderr, 0), "warn"),
        ("gate-read", DENIED, "warn"),
        ("observe", HookAnswer(), "ok"),
        ("observe", DENIED, "fail"),
    ],
)
def test_an_answer_is_judged_by_its_form(lane: str, answer: HookAnswer, status: str) -> None:
    check = judge_answer("name", CLAUDE, installed(lane), answer)

    assert check.status == status
    assert bool(check.mend) is (status != "ok")


@pytest.mark.parametrize(
    ("said", "core_runs", "status"),
    [
        (PROBE_DENIAL, True, "ok"),
        (f"watchgate {REASONS[TimeoutError]} Stop.", True, "fail"),
        (f"watchgate {REASONS[FileNotFoundError]} Stop.", True, "fail"),
        (f"watchgate {REASONS[FileNotFoundError]} Stop.", False, "warn"),
        ("A rule denied this call.", True, "fail"),
    ],
)
def test_where_a_core_runs_the_core_must_have_answered(
    said: str, core_runs: bool, status: str
) -> None:
    answer = adapter("claude").closed("PreToolUse", Lane.GATE, said)

    check = judge_answer("name", CLAUDE, installed("gate"), answer, core_runs=core_runs)

    assert check.status == status
    assert bool(check.mend) is (status != "ok")


def test_the_command_runs_as_the_agent_would_run_it_with_a_harmless_call() -> None:
    script = (
        "import json, os, sys; p = json.load(sys.stdin);"
        "assert p['session_id'] == 'watchgate-doctor';"
        "assert p['tool_input'] == {'command': ': watchgate-doctor'};"
        "assert 'CLAUDECODE' not in os.environ"
    )
    line = f'{sys.executable} -c "{script}"'

    check = play_probe(CLAUDE, line, installed("gate"), {**os.environ, "CLAUDECODE": "1"})

    assert check is not None
    assert (check.check, check.status) == ("claude: gate answers", "ok")


@pytest.mark.parametrize(
    ("lane", "says"), [("gate", "no answer within 0.1 s"), ("observe", "waiting for 0.1 s")]
)
def test_a_call_that_nobody_answers_is_a_fault_and_withdrawn(lane: str, says: str) -> None:
    check = play_probe(CLAUDE, "sleep 60", installed(lane), os.environ, patience_s=0.1)

    assert check is not None
    assert (check.status, says in check.text, bool(check.mend)) == ("fail", True, True)
