from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from watchgate.link.core_socket import call_once
from watchgate.link.paths import Paths, paths
from watchgate.link.protocol import Request, Result
from watchgate.service.system import detached_core
from watchgate.service.system.detached_core import answers, last_log_lines, start_core
from watchgate.service.system.runtime_dir import CannotServe, RuntimeDir

STARTER = """
import os
from watchgate.link.paths import paths
from watchgate.service.system.detached_core import start_core
start_core(paths(os.environ))
print("started", flush=True)
"""


@pytest.fixture
def here() -> Iterator[Paths]:
    found = paths(os.environ)
    yield found
    if answers(found):
        call_once(found.control_socket, Request(id=1, verb="stop"))
        gone(found)


class Hurrying:
    """A time that passes between two looks at it: there is room for a second try, and no more."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def monotonic(self) -> float:
        self._now_s += detached_core.READY_S / 6
        return self._now_s

    def sleep(self, seconds: float) -> None:
        self._now_s += seconds


def gone(found: Paths) -> None:
    end = time.monotonic() + 20
    while answers(found):
        assert time.monotonic() < end, "the core goes on"
        time.sleep(0.02)


def hello(found: Paths) -> dict[str, Any]:
    answer = call_once(found.control_socket, Request(id=1, verb="hello"))
    assert isinstance(answer, Result)
    whole: dict[str, Any] = answer.ok["hello"]
    return whole


def test_a_detached_core_survives_whoever_started_it_and_its_terminal(here: Paths) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTER], stdout=subprocess.PIPE, start_new_session=True
    ) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"started\n"
        first = hello(here)
        # What a closing terminal does to everything in its session.
        os.killpg(starter.pid, signal.SIGHUP)
        starter.wait()
    assert hello(here)["core"] == first["core"]
    call_once(here.control_socket, Request(id=1, verb="stop"))
    gone(here)


def test_a_core_that_may_not_start_says_why(here: Paths) -> None:
    here.runtime_dir.chmod(0o755)
    with pytest.raises(CannotServe, match="chmod 700") as refused:
        start_core(here)
    assert str(here.core_log) in str(refused.value)


def test_a_core_that_says_nothing_is_given_up(
    here: Paths, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mute = tmp_path / "mute"
    mute.write_text("#!/bin/sh\nexec sleep 60\n")
    mute.chmod(0o755)
    monkeypatch.setattr(detached_core, "READY_S", 0.1)
    monkeypatch.setattr(sys, "executable", str(mute))
    with pytest.raises(CannotServe, match="it said nothing"):
        start_core(here)


def test_a_core_that_starts_in_the_same_moment_is_waited_for(here: Paths) -> None:
    with RuntimeDir(here) as claimed, ThreadPoolExecutor() as threads:
        starting = threads.submit(start_core, here)
        while not last_log_lines(here, 1) and not starting.done():
            time.sleep(0.02)
        # The other core has its place, and only now its socket.
        with claimed.bind(here.control_socket):
            starting.result(timeout=30)


def test_two_that_start_a_core_in_the_same_moment_get_one(here: Paths) -> None:
    starters = [
        subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE) for _ in range(3)
    ]
    said = [starter.communicate(timeout=60)[0] for starter in starters]
    assert said == [b"started\n"] * 3
    assert hello(here)["core"]


def test_a_core_that_has_the_place_and_never_answers_is_told_once(
    here: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detached_core, "time", Hurrying())
    with RuntimeDir(here), pytest.raises(CannotServe, match="already running") as refused:
        start_core(here)
    assert str(refused.value).startswith("the core did not start: a core is already running in")


def test_what_an_earlier_core_complained_of_is_not_told_again(here: Paths) -> None:
    here.runtime_dir.chmod(0o755)
    here.state_dir.mkdir(parents=True, mode=0o700)
    here.core_log.write_text("watchgate: an old complaint\n")
    with pytest.raises(CannotServe) as refused:
        start_core(here)
    assert "an old complaint" not in str(refused.value)


def test_nobody_answers_without_a_core(here: Paths) -> None:
    assert not answers(here)


def test_the_log_ends_with_its_newest_lines(here: Paths) -> None:
    assert last_log_lines(here, 2) == []
    here.state_dir.mkdir(parents=True)
    here.core_log.write_bytes(b"one\ntwo\nth\xffree\n")
    assert last_log_lines(here, 2) == ["two", "th\ufffdree"]
