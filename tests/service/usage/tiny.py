"""An agent of the tests: its lines are calls, its files are anywhere below its folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from watchgate.agents.usage import FileFacts, UsagePlace
from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.usage_calls import UsageCall
from watchgate.service.usage.usage_files import UsageFiles

AGENT = "tiny"
DAY_US = 86_400_000_000


class TinyReader:
    """Takes `{"id", "out", "session"}`; every chunk must be whole lines."""

    opened = 0

    def __init__(self, path: str) -> None:
        type(self).opened += 1
        self.facts = FileFacts(session=Path(path).stem)
        self.unreadable = 0
        self._calls: list[UsageCall] = []
        self._lines = path.endswith(".jsonl")

    def read(self, chunk: bytes) -> None:
        assert chunk.endswith(b"\n") or not self._lines
        for text in chunk.split(b"\n"):
            if not text:
                continue
            try:
                line = msgspec.json.decode(text, type=dict[str, Any])
                self._take(line)
            except (msgspec.MsgspecError, KeyError, UnicodeDecodeError):
                self.unreadable += 1

    def _take(self, line: dict[str, Any]) -> None:
        if "session" in line:
            self.facts.session = line["session"]
        if "cwd" in line:
            self.facts.cwd = line["cwd"]
        if "context" in line:
            self.facts.context_used = line["context"]
        name = line["id"]
        session = self.facts.session
        self._calls.append(
            UsageCall(id=name, request=name, at_us=1, session=session, output=line["out"])
        )

    def take(self) -> list[UsageCall]:
        calls, self._calls = self._calls, []
        return calls


def call(name: str, out: int = 1, **more: Any) -> bytes:
    return json.dumps({"id": name, "out": out, **more}).encode() + b"\n"


def calls(*names: str) -> bytes:
    return b"".join(map(call, names))


def a_ledger() -> Ledger:
    return Ledger(lambda _call: None, lambda at_us: at_us // DAY_US)


class Desk:
    """A folder of the agent, a ledger, and the book that keeps it up."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder = folder
        self.ledger = a_ledger()
        self.book = book_of(folder, self.ledger, **options)

    def file(self, name: str = "a.jsonl") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def tick(self) -> dict[str, int]:
        """Looks and reads on; the output of each call that is counted."""
        self.book.look()
        assert self.book.refresh() == 0
        return told(self.ledger)


def places_of(folder: Path) -> list[UsagePlace]:
    return [
        UsagePlace(agent=AGENT, root=str(folder), pattern="**/*.jsonl"),
        UsagePlace(agent=AGENT, root=str(folder), pattern="**/*.json", form="whole"),
    ]


def book_of(
    folder: Path, ledger: Ledger, reader: Callable[[str], TinyReader] = TinyReader, **options: Any
) -> UsageFiles:
    return UsageFiles(places_of(folder), ledger, readers={AGENT: reader}, **options)


def told(ledger: Ledger) -> dict[str, int]:
    return {counted.call.id: counted.call.output for counted in ledger.calls()}
