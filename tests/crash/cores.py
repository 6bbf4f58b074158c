"""A core in a process of its own, as its test holds it: started by the nursery, and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import msgspec

from tests.crash.fates import KILL, Birth


class Nursery:
    """The warm process and the one core that it has out at a time; `born` is how many it had."""

    def __init__(self, place: Path) -> None:
        self.born = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        self._place = place

    def __enter__(self) -> Self:
        with ExitStack() as failing:
            failing.push(self)
            self._send(msgspec.json.encode(Birth(place=str(self._place), name="warm")))
            assert self.next_word() == ("warm", "")
            failing.pop_all()
        return self

    def __exit__(self, *_exception: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def start(self, birth: Birth) -> Core:
        """A core that serves, or one that died on the way there."""
        self.born += 1
        self._send(msgspec.json.encode(birth))
        core = Core(self, birth)
        core.read(until=("ready",))
        return core

    def kill(self) -> None:
        """Has the core killed that is out now, if it still lives."""
        self._send(KILL)

    def _send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def next_word(self) -> tuple[str, str]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError("the process that starts cores has failed")
        word, _, rest = line.decode().strip().partition(" ")
        return word, rest


class Core:
    """One core's life. `met` is the step at which it died, if it was one."""

    def __init__(self, nursery: Nursery, birth: Birth) -> None:
        self._nursery = nursery
        self.birth = birth
        self.served = False
        self.met = ""
        self.ended: int | None = None
        """How it ended, as the system's wait says."""

    @property
    def met_how(self) -> str:
        """The step at which it died, else `torn`, a `moment`, or its `end` when all was done."""
        if self.ended is not None and os.WTERMSIG(self.ended) == signal.SIGXFSZ:
            return "torn"
        return self.met or ("moment" if self.birth.fate.after_s is not None else "end")

    def read(self, until: tuple[str, ...]) -> None:
        """Takes in what is told of it until one of these words, or its death."""
        word = ""
        while word not in until and self.ended is None:
            word, rest = self._nursery.next_word()
            if word == "ready":
                self.served = True
            elif word == "step":
                self.met = rest
            elif word == "dead":
                self.ended = int(rest)

    def kill(self) -> None:
        """Kills it, if it still lives, and returns when it is gone."""
        if self.ended is None:
            # By its parent, which alone knows that the number is still this process's.
            self._nursery.kill()
            self.read(until=("dead",))
        if self.ended is not None and not os.WIFSIGNALED(self.ended):
            raise AssertionError(f"a core ended by itself, with {self.ended}")
