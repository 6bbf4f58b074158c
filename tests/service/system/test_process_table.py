from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from watchgate.service.system import process_table
from watchgate.service.system.process_table import (
    Proc,
    ancestors,
    began,
    is_alive,
    parse_ps,
    parse_stat,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")

LISTING = """\
    1     0 ??       Sat Nov 21 01:00:00 2026 /sbin/launchd
  300     1 ttys003  Sat Nov 21 01:00:05 2026 login -fp alice
  301   300 ttys003  Sat Nov 21 01:00:05 2026 -zsh
  400   301 ttys003  Sat Nov 21 01:10:00 2026 /usr/local/bin/claude --continue
  410   400 ttys003  Sat Nov 21 01:10:09 2026 /bin/sh -c client.py
  500   499 ??       Sat Nov 21 01:10:09 2026 orphan
  501   500 ??       Sat Nov 21 01:10:09 2026 child
"""


def test_the_chain_begins_with_the_process_itself_and_goes_up_to_the_first() -> None:
    chain = ancestors(os.getpid())
    assert [one.pid for one in chain[:2]] == [os.getpid(), os.getppid()]
    assert chain == ancestors(os.getpid())
    assert any("py" in word for word in chain[0].cmd)


@pytest.mark.parametrize("pid", [0, -1, 2**30])
def test_an_unknown_process_has_no_chain(pid: int) -> None:
    assert ancestors(pid) == ()


def test_a_process_that_is_gone_has_no_chain() -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", ""])
    child.wait()
    assert ancestors(child.pid) == ()


def test_two_processes_of_one_program_differ_by_their_start_or_pid() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            chain = ancestors(child.pid)
            assert chain[1:] == ancestors(os.getpid())
            assert chain[0] not in chain[1:]
        finally:
            child.kill()


def test_names_may_hold_blanks_and_parentheses() -> None:
    stat = b"42 (a) b (c)) S 7 42 41 0 -1 4194304 1 0 0 0 1 2 0 0 20 0 1 0 987654 1 2 3"
    assert parse_stat(stat) == ("a) b (c)", 7, 41, "987654", 0)


@linux
def test_the_start_is_that_of_the_22nd_field() -> None:
    whole = Path(f"/proc/{os.getpid()}/stat").read_text()
    assert ancestors(os.getpid())[0].start == whole.rpartition(")")[2].split()[19]


def unreadable_above(monkeypatch: pytest.MonkeyPatch, pid: int, signal_error: OSError) -> None:
    real = process_table._content

    def content(path: str) -> bytes:
        if path.startswith(f"/proc/{pid}/"):
            raise FileNotFoundError(path)
        return real(path)

    def kill(_pid: int, _signal: int) -> None:
        raise signal_error

    monkeypatch.setattr(process_table, "_content", content)
    monkeypatch.setattr(os, "kill", kill)


@linux
def test_a_chain_that_breaks_off_is_no_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    unreadable_above(monkeypatch, os.getppid(), ProcessLookupError())
    assert ancestors(os.getpid()) == ()


@linux
def test_a_chain_may_end_below_a_hidden_process_of_another_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unreadable_above(monkeypatch, os.getppid(), PermissionError())
    assert [one.pid for one in ancestors(os.getpid())] == [os.getpid()]


@linux
def test_a_hidden_first_process_still_shows_who_was_orphaned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unreadable_above(monkeypatch, 1, PermissionError())
    assert ancestors(os.getpid())[-1].comm == "init"


def test_a_process_is_alive_until_it_is_gone() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        (one, *_) = ancestors(child.pid)
        assert is_alive(one)
        child.kill()
    assert not is_alive(one)


@linux
def test_a_reused_pid_is_not_the_process_that_had_it() -> None:
    assert not is_alive(Proc(os.getpid(), "1", "another"))


@linux
def test_the_session_is_that_of_the_kernel() -> None:
    assert ancestors(os.getpid())[0].sid == os.getsid(0)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("999", "1000"),
        ("Fri Nov 20 23:59:59 2026", "Sat Nov 21 01:00:00 2026"),
        ("Sat Nov 21 01:10:09 2026", "of no known form"),
    ],
)
def test_starts_are_ordered_and_an_unknown_one_is_the_latest(earlier: str, later: str) -> None:
    assert began(Proc(2, earlier, "one")) < began(Proc(1, later, "two"))


def test_a_listing_of_ps_gives_the_same_chain() -> None:
    chain = parse_ps(LISTING, 410)
    assert [one.pid for one in chain] == [410, 400, 301, 300, 1]
    assert chain[0] == Proc(
        410, "Sat Nov 21 01:10:09 2026", "sh", ("/bin/sh", "-c", "client.py"), tty=4
    )
    assert chain[2].cmd == ("-zsh",)
    assert chain[4].comm == "launchd"


@pytest.mark.parametrize("pid", [501, 999])
def test_a_listing_without_the_whole_way_up_gives_no_chain(pid: int) -> None:
    assert parse_ps(LISTING, pid) == ()


def test_ps_tells_the_start_of_a_process_alike_wherever_the_machine_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[dict[str, str]] = []

    def run(argv: list[str], *, env: dict[str, str], **_how: Any) -> Any:
        told.append(env)
        return subprocess.CompletedProcess(argv, 0, b"", b"")

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(subprocess, "run", run)
    assert ancestors(7) == ()
    assert told == [{"LC_ALL": "C", "TZ": "UTC0"}]
