from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from watchgate.service.identity.ancestry import (
    Peer,
    Proc,
    agent_of,
    ancestors,
    credentials,
    is_below,
)

CLIENT = Proc(50, "500", "python3", ("/usr/bin/python3", "-I", "-S", "client.py"))
SH = Proc(40, "400", "sh", ("sh", "-c", "client.py"))
SCRIPT = Proc(35, "350", "bash", ("bash", "wrapper.sh"))
AGENT = Proc(30, "300", "claude", ("claude",))
BASH = Proc(20, "200", "bash", ("-bash",))
TERMINAL = Proc(10, "100", "tmux", ("tmux",))
OF_THE_USER = Proc(9, "90", "systemd", ("/usr/lib/systemd/systemd", "--user"))
RELAY = Proc(8, "80", "Relay(10)", ("/init",))
SYSTEMD = Proc(1, "1", "systemd", ("/sbin/init",))


def test_the_kernel_names_the_peer() -> None:
    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        assert credentials(here) == Peer(os.getpid(), os.getuid(), os.getgid())


@pytest.mark.parametrize(
    ("chain", "agent"),
    [
        ((CLIENT, AGENT, BASH, TERMINAL, SYSTEMD), AGENT),
        ((CLIENT, SH, AGENT, BASH, TERMINAL, SYSTEMD), AGENT),
        ((CLIENT, SH, SCRIPT, AGENT, BASH), AGENT),
        ((CLIENT, SH, BASH, TERMINAL, SYSTEMD), BASH),
        ((CLIENT, BASH, TERMINAL), BASH),
        ((CLIENT, SH, SYSTEMD), None),
        ((CLIENT, SH, OF_THE_USER, SYSTEMD), None),
        ((CLIENT, SH, AGENT, OF_THE_USER, SYSTEMD), AGENT),
        ((CLIENT, RELAY, SYSTEMD), None),
        ((CLIENT, Proc(30, "300", "init"), BASH, SYSTEMD), Proc(30, "300", "init")),
        ((CLIENT, Proc(1, "1", "claude", ("claude",))), Proc(1, "1", "claude", ("claude",))),
        ((CLIENT, SH), None),
        ((CLIENT,), None),
        ((), None),
    ],
)
def test_the_agent_is_the_first_above_the_client_and_its_shells(
    chain: tuple[Proc, ...], agent: Proc | None
) -> None:
    assert agent_of(chain) == agent


def test_what_the_agent_started_is_below_it_at_any_depth() -> None:
    command = Proc(60, "600", "watchgate", ("watchgate", "allow"))
    assert is_below((command, SH, SCRIPT, AGENT, BASH), AGENT)
    assert is_below((AGENT, BASH, TERMINAL), AGENT), "the agent itself is no operator"


def test_an_operator_beside_the_agent_is_not_below_it() -> None:
    command = Proc(60, "600", "watchgate", ("watchgate", "allow"))
    assert not is_below((command, BASH, TERMINAL, SYSTEMD), AGENT)
    assert not is_below((), AGENT)


def test_a_reused_pid_is_another_process() -> None:
    later = Proc(AGENT.pid, "99999", "claude", ("claude",))
    assert not is_below((CLIENT, later, BASH), AGENT)


def test_a_process_that_renamed_itself_is_still_the_same() -> None:
    renamed = Proc(AGENT.pid, AGENT.start, "node", ("node", "cli.js"))
    assert is_below((CLIENT, renamed, BASH), AGENT)


def test_a_real_chain_through_a_shell_leads_back_to_this_process() -> None:
    client = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
    command = f'{sys.executable} -I -S -c "{client}"; exit $?'
    with subprocess.Popen(
        ["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as shell:
        assert shell.stdout is not None
        chain = ancestors(int(shell.stdout.readline()))
        assert [one.pid for one in chain[1:3]] == [shell.pid, os.getpid()]
        agent = agent_of(chain)
        assert agent is not None
        assert agent.pid == os.getpid()
        assert is_below(chain, agent)
        shell.communicate("")
