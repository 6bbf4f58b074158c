"""Limits under which hooks die are found by what the system tells of an agent's process."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.watch.coverage.test_processes import process
from watchgate.agents.registry import ADAPTERS
from watchgate.service.watch.coverage.processes import (
    MINIMUMS,
    ProcessLimits,
    ProcessScan,
    check_limits,
    too_small,
)

TOLD = """\
Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max stack size            8192                 8192                 bytes
Max processes             96365                96365                processes
Max open files            3                    20000                files
"""
HOOK = (
    "test -s /etc/passwd || exit 1; test \"$({python} -I -S -c 'import json,socket;print(7)')\" = 7"
)


def test_the_numbers_that_documents_name() -> None:
    assert {name: least for name, (least, _unit) in MINIMUMS.items()} == {
        "Max stack size": 262_144,
        "Max data size": 33_554_432,
        "Max address space": 67_108_864,
        "Max open files": 16,
        "Max processes": 64,
        "Max cpu time": 2,
    }


def test_limits_that_are_too_small_are_told_in_words() -> None:
    assert too_small(TOLD) == [
        "8,192 bytes of stack, and a hook needs 262,144",
        "3 open files, and a hook needs 16",
    ]
    assert too_small("") == too_small("Max stack size\n") == too_small("\x00") == []


def test_a_process_is_told_of_once(tmp_path: Path) -> None:
    process(tmp_path, 7, "claude")
    process(tmp_path, 8, "claude")
    (tmp_path / "7" / "limits").write_text(TOLD)
    limits, found = ProcessLimits(tmp_path), ProcessScan(ADAPTERS, tmp_path).look()
    told = limits.narrow(found)
    assert [each.pid for each, _words in told] == [7]
    assert limits.narrow(found) == []
    (check,) = check_limits([ADAPTERS["claude"]], tmp_path)
    assert (check.check, check.status) == ("claude: limits", "fail")
    assert "8,192 bytes of stack" in check.text


@pytest.mark.parametrize(
    ("limit", "least"),
    [
        (resource.RLIMIT_STACK, "Max stack size"),
        (resource.RLIMIT_NOFILE, "Max open files"),
        (resource.RLIMIT_AS, "Max address space"),
        (resource.RLIMIT_DATA, "Max data size"),
        (resource.RLIMIT_CPU, "Max cpu time"),
    ],
)
def test_a_hook_runs_with_the_least_that_is_no_alarm(limit: int, least: str) -> None:
    value = MINIMUMS[least][0]
    command = ["/bin/sh", "-c", HOOK.format(python=Path(sys.base_prefix, "bin", "python3"))]
    limited = f"import os,resource;resource.setrlimit({limit},({value},{value}));"
    run = f"{limited}os.execv('/bin/sh',{command!r})"
    assert subprocess.run([sys.executable, "-c", run], check=False).returncode == 0


@pytest.mark.parametrize(
    ("limit", "value"), [(resource.RLIMIT_STACK, 8_192), (resource.RLIMIT_NOFILE, 3)]
)
def test_a_hook_dies_with_much_less(limit: int, value: int) -> None:
    command = ["/bin/sh", "-c", HOOK.format(python=Path(sys.base_prefix, "bin", "python3"))]
    limited = f"import os,resource;resource.setrlimit({limit},({value},{value}));"
    run = f"{limited}os.execv('/bin/sh',{command!r})"
    assert subprocess.run([sys.executable, "-c", run], check=False).returncode != 0
