from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core
from watchgate.cli.base.printing import Exit

WAIT_S = 60.0
Held = Callable[..., dict[str, Any]]


class Lines:
    """What a running command prints, line by line, waited for within bounds."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self._descriptor = process.stdout.fileno()
        self._rest = b""

    def next(self, wait_s: float = WAIT_S) -> str:
        """The next line; nothing when none comes in time."""
        while b"\n" not in self._rest:
            if not select.select([self._descriptor], [], [], wait_s)[0]:
                return ""
            chunk = os.read(self._descriptor, 65536)
            if not chunk:
                return ""
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()

    def record(self) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(self.next())
        return record


@contextmanager
def tail(*args: str) -> Iterator[Lines]:
    """A running `watchgate tail`."""
    with subprocess.Popen(
        [sys.executable, "-m", "watchgate", "tail", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield Lines(process)
        finally:
            process.kill()


def test_since_gives_what_was_and_then_what_comes(cli: Cli, held: Held) -> None:
    first = held()
    with tail("kind:approval.*", "--since", "10m", "--json") as lines:
        asked = lines.record()
        assert (asked["kind"], asked["request"]) == ("approval.requested", first["id"])
        assert {"seq", "core", "at", "kind", "agent", "session"} <= set(asked)
        cli("deny", first["id"], "--as", "kim")
        decided = lines.record()
        assert (decided["kind"], decided["data"]["by"][:12]) == ("approval.decided", "operator kim")
        assert decided["seq"] > asked["seq"]


def test_without_since_only_what_comes_is_told(held: Held) -> None:
    first = held()
    with tail("kind:approval.requested", "--json") as lines:
        line, number = "", 1
        while not line:  # it may take a moment until it is attached
            number += 1
            assert number < 60
            held("git reset --hard", f"c{number}")
            line = lines.next(0.5)
        assert json.loads(line)["request"] != first["id"]


def test_lines_for_people_carry_no_control_bytes(held: Held) -> None:
    held("git push --force \x1b[31m")
    with tail("kind:tool.pre", "--since", "10m") as lines:
        line = lines.next()
    assert "\x1b" not in line
    assert "<U+001B>" in line
    assert "tool.pre" in line


def test_a_person_is_told_of_requests_and_decisions_and_all_of_every_record(
    cli: Cli, held: Held
) -> None:
    first = held()
    cli("deny", first["id"], "--as", "kim")
    with tail("agent:claude", "--since", "10m") as lines:
        told = [lines.next(), lines.next()]
    assert "? asks     HIGH  Bash: git push --force" in told[0]
    assert "x denied" in told[1]
    assert "kim" in told[1]
    with tail("--since", "10m", "--all") as lines:
        assert "policy.started" in lines.next()


def test_a_tail_is_no_console(cli: Cli, held: Held) -> None:
    with tail("--since", "10m", "--json") as lines:
        assert lines.next()
        request = held()
        assert request["deadline_s"] == 3600, "unattended: nobody decides at a tail"


@pytest.mark.parametrize(
    "args",
    [
        ("spaceship:x",),
        ("--since", "soon"),
        ("--since", "²m"),
        ("--since", "9" * 20 + "d"),
        ("--since", "9" * 5_000 + "s"),
    ],
)
def test_what_cannot_be_read_exits_2(cli: Cli, core: Core, args: tuple[str, ...]) -> None:
    said = cli("tail", *args)
    assert said.code == Exit.USAGE
    assert said.err


def test_a_reader_that_leaves_ends_it_quietly(held: Held, tmp_path: Path) -> None:
    held()
    held("git reset --hard", "c2")
    command = f"{sys.executable} -m watchgate ls --json | head -c 1"
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, env=dict(os.environ), timeout=60
    )
    assert done.stdout == "{"
    assert done.stderr == ""


def test_since_may_reach_back_before_all_clocks(cli: Cli, held: Held) -> None:
    held()
    with tail("kind:approval.*", "--since", "999999999d", "--json") as lines:
        assert lines.record()["kind"] == "approval.requested"


def test_a_filter_may_say_since_when(cli: Cli, held: Held) -> None:
    first = held()
    with tail("kind:approval.requested since:1h", "--json") as lines:
        assert lines.record()["request"] == first["id"]
