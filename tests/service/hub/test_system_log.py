"""At each session's end the machine's log gets an anchor, once its record is on the disk."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from tests.service.host.test_core_host import Place, counted
from tests.service.scribe import committed
from tests.service.wire_frames import until
from watchgate.core.chain.chain_walk import anchor_of
from watchgate.core.chain.hash_chain import START, Chain
from watchgate.core.model.records import Draft, NoteData, Record
from watchgate.service.host.core_host import CoreHost
from watchgate.service.hub.core_environment import AnchorLines, Environment, real_environment
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import Journal


class Paper:
    """A journal that writes when it is told to."""

    path = Path("/state/journal.db")

    def __init__(self) -> None:
        self.asked: list[Callable[[bool], object]] = []

    def commit(self, callback: Callable[[bool], object]) -> None:
        self.asked.append(callback)


class Ends:
    """A chain of the ends of sessions."""

    def __init__(self) -> None:
        self.chain = Chain("core", START, lambda data: data)

    def record(self, session: str, kind: str = "session.end", sub: str | None = None) -> Record:
        data = NoteData(native="SessionEnd")
        draft = Draft(kind=kind, at=1, data=data, agent="claude", session=session, sub=sub)
        return self.chain.seal(draft)[0]


@pytest.fixture
def log(runtime_dir: Path) -> Iterator[socket.socket]:
    """The machine's log, at `log` in the runtime directory."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as log:
        log.bind(str(runtime_dir / "log"))
        log.setblocking(False)
        yield log


def lines(log: socket.socket) -> list[str]:
    found = []
    try:
        while True:
            found.append(log.recv(4_096).decode())
    except BlockingIOError:
        return found


def test_a_line_is_sent_only_when_the_record_is_on_the_disk(
    log: socket.socket, runtime_dir: Path
) -> None:
    paper, end = Paper(), Ends().record("s1")
    AnchorLines(paper, runtime_dir / "log").offer(end)
    assert lines(log) == []
    paper.asked[0](True)
    (line,) = lines(log)
    wanted = f"anchor 1:{end.hash} of /state/journal.db: session claude:s1 ended"
    assert re.fullmatch(rf"<86>watchgate\[\d+\]: {re.escape(wanted)}", line)


def test_none_is_sent_of_what_could_not_be_written(log: socket.socket, runtime_dir: Path) -> None:
    paper = Paper()
    AnchorLines(paper, runtime_dir / "log").offer(Ends().record("s1"))
    paper.asked[0](False)
    assert lines(log) == []


def test_ends_that_come_while_one_is_written_share_the_next_line(
    log: socket.socket, runtime_dir: Path
) -> None:
    paper, ends = Paper(), Ends()
    anchors = AnchorLines(paper, runtime_dir / "log")
    for session in ("s1", "s2", "s3"):
        anchors.offer(ends.record(session))
    assert len(paper.asked) == 1
    paper.asked[0](True)
    paper.asked[1](True)
    first, last = lines(log)
    assert "anchor 1:" in first
    assert "anchor 3:" in last
    assert len(paper.asked) == 2


@pytest.mark.parametrize(("kind", "sub"), [("turn.end", None), ("session.end", "sub-1")])
def test_nothing_else_is_a_sessions_end(runtime_dir: Path, kind: str, sub: str | None) -> None:
    paper = Paper()
    anchors = AnchorLines(paper, runtime_dir / "log")
    anchors.offer(Ends().record("s1", kind, sub))
    assert paper.asked == []


def test_a_name_from_outside_makes_no_line_of_its_own(
    log: socket.socket, runtime_dir: Path
) -> None:
    paper = Paper()
    anchors = AnchorLines(paper, runtime_dir / "log")
    anchors.offer(Ends().record("s1\n<86>sudo: forged\x1b[2J" + "x" * 9_000))
    paper.asked[0](True)
    (line,) = lines(log)
    assert "\n" not in line
    assert "\x1b" not in line
    assert len(line) < 300


def test_a_log_that_is_full_or_gone_holds_up_nothing(log: socket.socket, runtime_dir: Path) -> None:
    paper, ends = Paper(), Ends()
    anchors = AnchorLines(paper, runtime_dir / "log")
    for number in range(2_000):
        anchors.offer(ends.record("s1"))
        paper.asked[number](True)
    assert 0 < len(lines(log)) < 2_000
    (runtime_dir / "log").unlink()
    anchors.offer(ends.record("s2"))
    paper.asked[-1](True)


def test_the_line_of_a_real_journal_proves_it(
    log: socket.socket, runtime_dir: Path, tmp_path: Path
) -> None:
    journal = Journal.open(tmp_path / "journal.db")
    anchors = AnchorLines(journal, runtime_dir / "log")
    record, row = Ends().chain.seal(
        Draft(kind="session.end", at=1, data={}, agent="claude", session="s1")
    )
    journal.append(row)
    anchors.offer(record)
    assert committed(journal)
    journal.close()
    (line,) = lines(log)
    found = re.search(r"anchor (\S+)", line)
    assert found is not None
    assert verify_journal(journal.path, anchors=[anchor_of(found[1])]).problem is None


async def test_a_core_sends_one_for_each_session_that_ends(
    log: socket.socket, runtime_dir: Path, state_dir: Path
) -> None:
    place = Place(runtime_dir, state_dir)
    stage = Environment(
        ids=counted(),
        home="/home/u",
        protected=(),
        agent_of=lambda _pid: None,
        scripted=True,
        system_log=runtime_dir / "log",
    )
    place.host = CoreHost(place.paths, place.config, place.clock, stage)
    raw = b'{"session_id":"one","hook_event_name":"SessionEnd","cwd":"/","reason":"exit"}'
    head = f"watchgate/1 claude observe\nlength: {len(raw)}\nevent: SessionEnd\n\n".encode()
    async with place.running(), await anyio.connect_unix(place.paths.ingest_socket) as stream:
        await stream.send(head + raw)
        await stream.aclose()
        (line,) = await until(lambda: lines(log), "the anchor")
    found = re.search(r"anchor (\S+)", line)
    assert found is not None
    assert line.endswith("session claude:one ended")
    assert verify_journal(place.paths.journal, anchors=[anchor_of(found[1])]).problem is None
    assert str(real_environment(place.paths).system_log) == "/dev/log"
