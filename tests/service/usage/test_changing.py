"""Whatever writers do while a book follows them, it ends with what a fresh book counts."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.service.usage.tiny import Desk, call

NAMES = st.sampled_from(["a.jsonl", "b.jsonl", "x/c.jsonl", "x/y/d.jsonl", "e.json"])
IDS = st.sampled_from("one two three four five".split())


class Writers(RuleBasedStateMachine):
    """Files are appended to in pieces, cut, written anew, replaced and moved; the book looks on."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = tempfile.TemporaryDirectory()
        root = Path(self.disk.name)
        (root / "agent").mkdir()
        self.desk = Desk(root / "agent")
        self.cached = Desk(root / "agent", cache=root / "cache")
        self.pieces: dict[str, bytes] = {}
        self.time_ns = 1_000_000_000

    def teardown(self) -> None:
        self.disk.cleanup()

    def written(self, path: Path) -> None:
        """Time goes on, as it does between two writes of which one may be missed."""
        self.time_ns += 10_000_000
        os.utime(path, ns=(self.time_ns, self.time_ns))

    @rule(name=NAMES, call_id=IDS, out=st.integers(0, 99), cut=st.integers(0, 40))
    def append(self, name: str, call_id: str, out: int, cut: int) -> None:
        """A line, or the rest of the last one and a part of another."""
        path, line = self.desk.file(name), call(f"{name}:{call_id}", out)
        if name.endswith(".json"):
            path.write_bytes(line)
        else:
            whole = self.pieces.pop(name, b"") + line
            now = whole[: len(whole) - cut]
            self.pieces[name] = whole[len(now) :]
            with path.open("ab") as file:
                file.write(now)
        self.written(path)

    @rule(name=NAMES, at=st.integers(0, 200))
    def truncate(self, name: str, at: int) -> None:
        path = self.desk.file(name)
        # A file of one value that is cut is half written, and tells what it told.
        if name.endswith(".jsonl") and path.exists() and path.stat().st_size > at:
            self.pieces.pop(name, None)
            os.truncate(path, at)
            self.written(path)

    @rule(name=NAMES, count=st.integers(1, 4), out=st.integers(0, 99))
    def write_anew(self, name: str, count: int, out: int) -> None:
        self.pieces.pop(name, None)
        path = self.desk.file(name)
        ids = "five four three two one".split()[: 1 if name.endswith(".json") else count]
        path.write_bytes(b"".join(call(f"{name}:{each}", out) for each in ids))
        self.written(path)

    @rule(name=NAMES, call_id=IDS, out=st.integers(0, 99))
    def replace(self, name: str, call_id: str, out: int) -> None:
        self.pieces.pop(name, None)
        path = self.desk.file(name)
        fresh = path.with_name("fresh.tmp")
        fresh.write_bytes(call(f"{name}:{call_id}", out))
        self.written(fresh)
        fresh.rename(path)

    @rule(name=NAMES, to=NAMES)
    def move(self, name: str, to: str) -> None:
        path, target = self.desk.file(name), self.desk.file(to)
        if path.exists() and path.suffix == target.suffix and name != to:
            self.look_on(everything=True)
            path.rename(target)
            self.pieces[to] = self.pieces.pop(name, b"")
            # A file that changes as well as its name between two looks is another file, and what
            # it told under its old name stays counted.
            self.look_on(everything=True)

    @rule(everything=st.booleans())
    def look_on(self, everything: bool) -> None:
        for desk in (self.desk, self.cached):
            desk.book.look()
            desk.book.refresh(None if everything else 60)

    @rule()
    def start_again(self) -> None:
        self.cached.book.save()
        root = Path(self.disk.name)
        self.cached = Desk(root / "agent", cache=root / "cache")

    @rule()
    def compare(self) -> None:
        fresh = Desk(self.desk.folder).tick()
        assert self.settled(self.desk) == fresh
        assert self.settled(self.cached) == fresh

    @staticmethod
    def settled(desk: Desk) -> dict[str, int]:
        desk.tick()
        return desk.tick()


Writers.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestWriters = Writers.TestCase
