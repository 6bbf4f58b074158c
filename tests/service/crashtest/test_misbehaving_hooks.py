"""The commands that misbehave do so, as a shell sees them."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import msgspec
import pytest

from watchgate.service.crashtest.agent_driver import REASON
from watchgate.service.crashtest.agent_drivers import ClaudeCodeDriver
from watchgate.service.crashtest.misbehaving_hooks import COMMANDS, SCRIPT_NAME, TRACE_NAME, fill_in

HOOKS = {each.id: each for each in (COMMANDS.denies, *COMMANDS.hooks)}
DENY = json.dumps(ClaudeCodeDriver.deny) + "\n"
TOLD = f"{REASON}\n"
JUNK = "boom\n"


class Ended(msgspec.Struct, frozen=True):
    """How a hook ended; a signal's status is negative. None: what the shell itself says."""

    status: int
    out: str = ""
    err: str | None = ""


ENDS = {
    "deny-0": Ended(0, DENY),
    "missing": Ended(127, err=None),
    "not-executable": Ended(126, err=None),
    "killed": Ended(-9),
    "no-stack": Ended(-signal.SIGSEGV),
    "no-files": Ended(127, err=None),
    "no-memory": Ended(127, err=None),
    "no-fork": Ended(254, err="fork: Resource temporarily unavailable\n"),
    "exit-1": Ended(1, err=JUNK),
    "exit-3": Ended(3, err=JUNK),
    "garbage": Ended(0, "no json {{{\n"),
    "empty-object": Ended(0, "{}\n"),
    "deny-1": Ended(1, DENY),
    "deny-3": Ended(3, DENY),
    "text-before": Ended(0, f"loading\n{DENY}"),
    "deny-stderr": Ended(0, err=DENY),
    "exit-2": Ended(2, err=TOLD),
    "exit-2-silent": Ended(2),
    "threefold": Ended(2, DENY, TOLD),
    "guarded": Ended(2, err=None),
}


def start(hook: str, top: Path) -> subprocess.Popen[str]:
    """The hook as an agent starts it, in a folder whose name needs quotes."""
    odd = HOOKS[hook]
    (top / SCRIPT_NAME).write_text(fill_in(odd.script, top, ClaudeCodeDriver.deny, REASON))
    return subprocess.Popen(
        ["/bin/sh", "-c", fill_in(odd.command, top, ClaudeCodeDriver.deny, REASON)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def top(tmp_path: Path) -> Path:
    path = tmp_path / "it's a place"
    path.mkdir()
    return path


def test_every_hook_that_ends_is_looked_at_here() -> None:
    assert set(HOOKS) - set(ENDS) == {"hangs", "held-stdout"}


@pytest.mark.parametrize("hook", ENDS)
def test_a_hook_ends_as_its_name_says(hook: str, top: Path) -> None:
    """And leaves its trace, where it runs at all."""
    ends = ENDS[hook]
    process = start(hook, top)
    out, err = process.communicate("{}")

    assert (process.returncode, out) == (ends.status, ends.out)
    assert err == ends.err or (ends.err is None and err)
    assert (top / TRACE_NAME).exists() is HOOKS[hook].traced


def test_the_hook_that_hangs_ends_with_its_folder(top: Path) -> None:
    process = start("hangs", top)
    while not (top / TRACE_NAME).exists():
        assert process.poll() is None
    top.rename(top.with_name("gone"))

    assert process.wait(60) == 0
    process.communicate()


def test_the_hook_whose_child_stays_has_ended_before_its_output(top: Path) -> None:
    with start("held-stdout", top) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()

        assert process.stdout.readline() == DENY
        assert process.wait(60) == 0
