from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from watchgate.service import origin
from watchgate.service.origin import branches, is_clear, vouched
from watchgate.service.process_table import Proc, ancestors

CLIENT = Proc(90, "900", "watchgate", sid=90)
SH = Proc(80, "800", "sh", ("sh", "-c", "watchgate allow"), sid=80)
AGENT = Proc(30, "300", "claude", sid=20)
BASH = Proc(20, "200", "bash", ("-bash",), sid=20)
SYSTEMD = Proc(1, "1", "systemd", sid=1)
OF_THE_USER = Proc(9, "9", "systemd", sid=9)
SLEEP = Proc(1, "1", "sleep", ("sleep", "infinity"), sid=1)
OLD_TMUX = Proc(10, "100", "tmux: server", sid=10)
NEW_TMUX = Proc(70, "700", "tmux: server", sid=70)

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


@pytest.mark.parametrize("first", [SYSTEMD, OF_THE_USER, SLEEP])
@pytest.mark.parametrize(
    "branch",
    [
        pytest.param((CLIENT,), id="detached by itself"),
        pytest.param((CLIENT, SH), id="below a shell that detached itself"),
        pytest.param((CLIENT, SH, NEW_TMUX), id="in a multiplexer of its own"),
    ],
)
def test_what_an_agent_could_have_set_adrift_is_not_clear(
    branch: tuple[Proc, ...], first: Proc
) -> None:
    assert not is_clear((*branch, first), {AGENT})


def test_a_branch_older_than_every_agent_is_clear() -> None:
    chain = (CLIENT, BASH, OLD_TMUX, SYSTEMD)
    assert is_clear(chain, {AGENT})
    older = Proc(8, "99", "claude")
    assert not is_clear(chain, {AGENT, older})


def test_what_began_in_the_same_moment_as_the_agent_is_not_clear() -> None:
    twin = Proc(70, AGENT.start, "sh")
    assert not is_clear((CLIENT, twin, SYSTEMD), {AGENT})


def test_without_an_agent_only_an_orphan_and_an_unknown_one_are_not_clear() -> None:
    assert is_clear((CLIENT, SH, NEW_TMUX, SYSTEMD), set())
    assert not is_clear((CLIENT, SYSTEMD), set())
    assert not is_clear((), set())


def test_an_agent_above_counts_whatever_else_there_is() -> None:
    assert not is_clear((CLIENT, AGENT, BASH, OLD_TMUX, SYSTEMD), {AGENT})


def test_what_the_first_process_of_a_container_started_is_clear() -> None:
    pytest_is_first = Proc(1, "1", "pytest", sid=1)
    chain = (Proc(90, "900", "watchgate", sid=1), pytest_is_first)
    assert branches(chain) == []
    assert is_clear(chain, {AGENT})


def test_a_shell_in_a_container_entered_from_outside_was_adopted_by_nobody() -> None:
    assert branches((CLIENT, SH)) == []
    assert is_clear((CLIENT, SH), {AGENT})
    assert is_clear((SLEEP,), {AGENT})


def test_a_terminal_of_wsl_adopts_only_what_was_started_in_it() -> None:
    def in_terminal(start: str, *branch: Proc) -> tuple[Proc, ...]:
        leader = Proc(5, start, "SessionLeader", vouched=True)
        return (*branch, Proc(6, start, f"Relay({start})"), leader, SYSTEMD)

    assert is_clear(in_terminal("400", CLIENT, Proc(60, "401", "bash")), {AGENT}), "a new one"
    assert is_clear(in_terminal("100", CLIENT, BASH), {AGENT}), "beside the agent"
    assert not is_clear(in_terminal("100", CLIENT, SH), {AGENT}), "set adrift in the agent's own"


def test_a_root_that_is_vouched_for_may_be_younger() -> None:
    kitty = Proc(70, "700", "kitty", vouched=True)
    assert is_clear((CLIENT, BASH, kitty, SYSTEMD), {AGENT})
    assert not is_clear((CLIENT, BASH, AGENT, kitty, SYSTEMD), {AGENT})


def here(*arguments: str) -> tuple[Proc, ...]:
    """A client below this very process, as if that had been adopted."""
    return CLIENT, Proc(os.getpid(), "1", "python", ("python", *arguments), sid=7), SYSTEMD


def test_what_we_run_ourselves_is_not_vouched_for() -> None:
    assert vouched(here()) == here()


@linux
def test_what_another_user_runs_is_vouched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    assert [each.vouched for each in vouched(here())] == [False, True, False]


@linux
def test_a_terminal_is_known_by_the_file_it_runs_and_not_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = Path("/proc/self/exe")
    monkeypatch.setattr(origin, "_WINDOWS", frozenset({program.readlink().name}))
    assert vouched(here())[1].vouched is (program.stat().st_uid == 0)
    as_service = vouched(here("--gapplication-service"))[1]
    assert as_service.vouched is (program.stat().st_uid == 0), "so a desktop starts it"
    assert not vouched(here("--gapplication-service", "-e", "sh"))[1].vouched
    assert not vouched(here("+runpy", "print()"))[1].vouched, "it opens no window"
    assert not vouched(here("-e", "watchgate allow"))[1].vouched, "it is not a person who types"
    monkeypatch.setattr(origin, "_WINDOWS", frozenset({"python"}) - {program.readlink().name})
    assert not vouched(here())[1].vouched


def test_a_root_that_is_gone_and_a_chain_without_one_are_left_as_they_are() -> None:
    gone = (CLIENT, Proc(2**30, "700", "kitty", ("kitty",)), SYSTEMD)
    assert not vouched(gone)[1].vouched or sys.platform != "linux"
    assert vouched((CLIENT, SH)) == (CLIENT, SH)


@linux
def test_a_real_process_that_was_set_adrift_is_a_root_of_its_own() -> None:
    detach = """
import subprocess
shell = subprocess.Popen(["sh", "-c", "echo $$; exec >&-; sleep 60; true"], start_new_session=True)
"""
    done = subprocess.run([sys.executable, "-c", detach], stdout=subprocess.PIPE, check=True)
    pid = int(done.stdout)
    try:
        chain = ancestors(pid)
        assert branches(chain)[0][0] == chain[0]
        assert not is_clear(chain, set())
    finally:
        os.killpg(pid, signal.SIGKILL)
