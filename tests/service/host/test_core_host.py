from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio.abc import SocketStream

from tests.core.builders import START
from tests.service.desk import payload
from tests.service.wire_frames import rest, until
from watchgate.agents.base import HookAnswer, Intake
from watchgate.agents.claude import ClaudeAdapter
from watchgate.agents.registry import ADAPTERS
from watchgate.core.chain.hash_chain import Chain
from watchgate.core.config.config import Approval, Config
from watchgate.core.model.events import Event
from watchgate.core.model.records import Draft, NoteData, Record
from watchgate.core.state.state import State
from watchgate.link.control_client import ControlClient, connect
from watchgate.link.paths import Paths
from watchgate.link.protocol import Result
from watchgate.service.host import core_run
from watchgate.service.host.core_host import CoreHost
from watchgate.service.hub.core_environment import Environment
from watchgate.service.journal import journal_reader
from watchgate.service.journal import verification as journal_verify
from watchgate.service.journal.journal_disk import JournalDisk, head_path
from watchgate.service.journal.schema import open_to_write
from watchgate.service.journal.writer import Journal, Pace
from watchgate.service.system.runtime_dir import CoreRunningError, RuntimeDirError
from watchgate.service.system.system_clock import FakeClock

RISKY = "git push --force"


def counted() -> Any:
    numbers = iter(range(1, 1_000))
    return lambda: f"{next(numbers):04d}".ljust(26, "k")


class Place:
    """A core in this event loop, with a clock that only moves when told to."""

    def __init__(self, runtime_dir: Path, state_dir: Path, **approval: Any) -> None:
        self.paths = Paths(
            runtime_dir=runtime_dir,
            state_dir=state_dir,
            config=state_dir / "config.toml",
            data_dir=state_dir,
        )
        self.clock = FakeClock(START)
        self.config = Config(approval=Approval(**approval))
        stage = Environment(
            ids=counted(), home="/home/u", protected=(), agent_of=lambda _pid: None, scripted=True
        )
        self.host = CoreHost(self.paths, self.config, self.clock, stage)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            await tasks.start(self.host.run)
            yield
            self.host.stop("the test")

    @asynccontextmanager
    async def hook(self, raw: bytes, lane: str = "gate") -> AsyncIterator[SocketStream]:
        """A hook client that has sent its frame."""
        head = f"watchgate/1 claude {lane}\nlength: {len(raw)}\nevent: PreToolUse\n\n"
        async with await anyio.connect_unix(self.paths.ingest_socket) as stream:
            await stream.send(head.encode() + raw)
            yield stream

    def records(self) -> list[Any]:
        return list(journal_reader.read(self.paths.journal, 1, 10_000))


async def pending(client: ControlClient) -> list[dict[str, Any]]:
    with anyio.fail_after(20):
        while True:
            answer = await client.call("list")
            assert isinstance(answer, Result)
            if found := answer.ok["requests"]:
                return list(found)
            await anyio.sleep(0.01)


async def test_a_held_call_is_allowed_over_the_control_socket(place: Place) -> None:
    async with (
        place.running(),
        connect(place.paths.control_socket) as client,
        place.hook(payload(RISKY)) as hook,
    ):
        (request,) = await pending(client)
        answer = await client.call(
            "decide",
            request=request["id"],
            decision="allow",
            digest=request["digest"],
            confirmed=True,
            shown_ms=900,
        )
        assert isinstance(answer, Result)
        assert b'"allow"' in await rest(hook)
    words = [r.data["word"] for r in place.records() if r.kind == "approval.decided"]
    assert words == ["allowed-by-operator"]


async def test_silence_is_noticed_although_no_timer_ran_meanwhile(place: Place) -> None:
    async with (
        place.running(),
        connect(place.paths.control_socket) as client,
        place.hook(payload(RISKY)) as hook,
    ):
        await pending(client)
        place.clock.advance(3_601)  # as a machine that was asleep finds it
        assert b"Nobody answered in 36" in await rest(hook)


async def test_what_waits_when_the_core_stops_is_answered_closed(place: Place) -> None:
    async with place.running(), place.hook(payload(RISKY)) as hook:
        async with connect(place.paths.control_socket) as client:
            await pending(client)
        place.host.stop("kim")
        said = await rest(hook)
    assert said.startswith(b"2 ")
    assert b"stopped" in said
    records = place.records()
    stopped = next(r for r in records if r.kind == "policy.stopped")
    assert stopped.data["name"] == "kim"
    decided = next(r for r in records if r.kind == "approval.decided")
    assert decided.data["word"] == "denied-core-stopped"
    assert journal_verify.verify_journal(place.paths.journal).problem is None


async def test_the_sockets_are_gone_with_the_core(place: Place) -> None:
    async with place.running():
        assert place.paths.ingest_socket.stat().st_mode & 0o777 == 0o600
        assert place.paths.control_socket.stat().st_mode & 0o777 == 0o600
    assert not place.paths.ingest_socket.exists()
    assert not place.paths.control_socket.exists()


async def test_one_core_for_each_runtime_directory(place: Place, state_dir: Path) -> None:
    second = Place(place.paths.runtime_dir, state_dir)
    async with place.running():
        with pytest.raises(CoreRunningError):
            await second.host.run()
        async with connect(place.paths.control_socket) as client:
            assert client.hello.core == place.host.core


async def test_one_core_for_each_state_directory(place: Place, state_dir: Path) -> None:
    second = Place(place.paths.runtime_dir.with_name("other"), state_dir)
    async with place.running():
        with pytest.raises(RuntimeDirError, match="keeps its journal in "):
            await second.host.run()
        async with place.hook(payload("ls")) as hook:
            assert await rest(hook) == b"0 0 0\n", "the first one goes on"
    async with second.running():
        pass
    assert journal_verify.verify_journal(place.paths.journal).problem is None


async def test_a_second_life_goes_on_with_the_chain_and_leaves_nothing_open(
    place: Place, state_dir: Path
) -> None:
    async with (
        place.running(),
        place.hook(payload(RISKY)),
        connect(place.paths.control_socket) as client,
    ):
        await pending(client)
    again = Place(place.paths.runtime_dir, state_dir)
    async with again.running(), connect(again.paths.control_socket) as client:
        snapshot = await client.attach()
        assert snapshot.pending == ()
        assert len(snapshot.rows) == 1
    verdict = journal_verify.verify_journal(place.paths.journal)
    assert verdict.problem is None
    assert [r.seq for r in place.records()] == list(range(1, verdict.count + 1))


async def test_a_journal_that_was_changed_is_said_on_record_at_the_start(
    place: Place, state_dir: Path
) -> None:
    async with place.running():
        pass
    head = head_path(place.paths.journal)
    newest = head.read_text("ascii").split()[0]
    head.write_text(f"{newest} {'0' * 64}\n", "ascii")
    again = Place(place.paths.runtime_dir, state_dir)
    async with again.running():
        pass
    faults = [r for r in place.records() if r.kind == "policy.fault"]
    assert faults
    assert faults[0].data["what"] == "the journal is not what was written"


async def observed(place: Place) -> None:
    """One hook that only tells something was taken in."""
    async with place.hook(payload("ls", "Stop"), "observe") as hook:
        assert await rest(hook) == b""


async def test_what_was_observed_before_the_stop_is_recorded_before_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core_run, "MOMENT_S", 3_600)
    async with place.running():
        await observed(place)
    assert [r.kind for r in place.records()][-2:] == ["turn.end", "policy.stopped"]


async def test_what_was_observed_is_recorded_however_the_core_ends(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core_run, "MOMENT_S", 3_600)
    async with anyio.create_task_group() as tasks:
        await tasks.start(place.host.run)
        await observed(place)
        tasks.cancel_scope.cancel()
    assert [r.kind for r in place.records()][-1] == "turn.end"


async def test_a_record_that_cannot_be_taken_in_does_not_keep_the_core_from_starting(
    place: Place, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.running():
        pass
    whole = State.apply

    def apply(state: State, record: Record) -> None:
        if record.seq == 1:
            raise ValueError("of a shape that no record has")
        whole(state, record)

    monkeypatch.setattr(State, "apply", apply)
    again = Place(place.paths.runtime_dir, state_dir)
    async with again.running():
        pass
    (fault,) = [r for r in place.records() if r.kind == "policy.fault"]
    assert "unreadable" in fault.data["detail"]


def damaged(path: Path, page: int) -> None:
    """Nothing of a page is what it was."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    content = bytearray(path.read_bytes())
    content[4_096 * page : 4_096 * (page + 1)] = b"\xaa" * 4_096
    path.write_bytes(content)


async def test_a_journal_that_is_damaged_where_only_the_past_lies_keeps_the_gate_closed(
    place: Place, state_dir: Path
) -> None:
    async with place.running():
        pass
    journal = Journal.open(place.paths.journal)
    chain = Chain("core", journal.head, lambda data: data)
    for _ in range(200):
        data = NoteData(native="Note", text="x" * 300)
        journal.append(chain.seal(Draft(kind="notice", at=START.wall_us, data=data))[1])
    assert journal.close() == 0
    damaged(place.paths.journal, page=5)
    again = Place(place.paths.runtime_dir, state_dir)
    async with (
        again.running(),
        connect(again.paths.control_socket) as client,
        again.hook(payload("ls")) as hook,
    ):
        assert b"is damaged" in await rest(hook)
        assert "is damaged" in (await client.attach()).gate.journal


async def test_a_core_whose_rows_found_no_room_starts_over_and_leaves_no_hole(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Pace(flush_s=0.001, retry_s=0.001, max_rows=12)
    monkeypatch.setattr(
        Journal,
        "open",
        lambda path: Journal(path, JournalDisk(path, open_to_write(path, 0)), small),
    )
    monkeypatch.setattr(core_run, "JOURNAL_LOOK_S", 0.01)
    async with place.running():
        first = place.host.core
        async with connect(place.paths.control_socket) as client:
            await client.call("profile", profile="strict")
        with closing(sqlite3.connect(place.paths.journal, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for number in range(12):
                async with place.hook(payload(RISKY, call=f"call-{number}")) as hook:
                    assert b"deny" in await rest(hook)
            other.execute("ROLLBACK")
        with anyio.fail_after(20):
            while place.host.core == first:  # noqa: ASYNC110 - as whoever waits for it looks
                await anyio.sleep(0.01)
    verdict = journal_verify.verify_journal(place.paths.journal)
    assert (verdict.problem, verdict.unheaded) == (None, 0)
    second = [record for record in place.records() if record.core != first]
    assert [record.kind for record in second][:2] == ["policy.started", "policy.journal"]
    assert second[0].data["profile"] == "strict", "as it was changed meanwhile"
    assert "records of the time before are not in it" in second[1].data["what"]
    assert place.host.unrecorded == 0


class Broken(ClaudeAdapter):
    """An adapter with a fault in each direction, by the command."""

    def decode(self, payload: bytes, intake: Intake) -> Event:
        if b"decode" in payload:
            raise RuntimeError("a bug in decode")
        return super().decode(payload, intake)

    def answer(self, event: Event, reply: Any) -> HookAnswer:
        if event.tool is not None and "answer" in str(event.tool.input):
            raise KeyError("a bug in answer")
        return super().answer(event, reply)


@pytest.mark.parametrize("command", ["decode", "answer"])
async def test_no_fault_over_one_connection_ends_the_core(
    place: Place, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setitem(ADAPTERS, "claude", Broken())
    async with place.running():
        async with place.hook(payload(command)) as hook:
            said = await rest(hook)
        assert said.startswith(b"2 ")
        assert b"internal error" in said
        assert b"a bug" not in said
        async with place.hook(payload("make", call="c2")) as hook:
            assert await rest(hook) == b"0 0 0\n"
    notices = [r for r in place.records() if r.kind == "notice"]
    assert notices[0].data["native"] == "internal.error"


@pytest.mark.parametrize("depth", [100, 250, 600, 900, 950, 970, 980, 2_000, 100_000])
async def test_no_nesting_ends_the_core(place: Place, depth: int) -> None:
    nested = b'{"command":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
    raw = payload("x").replace(b'{"command":"x"}', nested)
    async with place.running():
        async with place.hook(raw) as hook, connect(place.paths.control_socket) as client:
            if depth == 100:
                await client.call("list")
            else:
                assert (await rest(hook)).startswith(b"2 ")
            await client.attach()
        async with place.hook(payload("make", call="c2")) as hook:
            assert await rest(hook) == b"0 0 0\n"


async def test_numbers_beyond_64_bits_are_carried(place: Place) -> None:
    raw = payload(RISKY).replace(b'"command"', b'"n":' + b"9" * 40 + b',"command"')
    async with place.running(), place.hook(raw), connect(place.paths.control_socket) as client:
        (request,) = await pending(client)
        answer = await client.call("show", request=request["id"])
        assert isinstance(answer, Result)
    (asked,) = [r for r in place.records() if r.kind == "approval.requested"]
    assert msgspec.json.encode(asked.data["tool"]["input"]["n"]) == b"9" * 40


async def test_a_slow_console_gets_a_gap_and_can_fetch_it(place: Place) -> None:
    async with place.running():
        async with connect(place.paths.control_socket, max_pushes=1) as slow:
            await slow.attach()
            text = "x" * 60_000
            async with await anyio.connect_unix(place.paths.ingest_socket) as stream:
                line = {"watchgate": 1, "kind": "message", "agent": "acp", "session": "s"}
                for _ in range(400):
                    await stream.send(msgspec.json.encode({**line, "text": text}) + b"\n")
            gap: tuple[int, int] | None = None
            with anyio.fail_after(20):
                while gap is None:
                    for push in await slow.batch():
                        gap = push.gap or gap
        async with connect(place.paths.control_socket) as other:
            answer = await other.call("history", from_seq=gap[0], to_seq=gap[1])
            assert isinstance(answer, Result)
            seqs = [record["seq"] for record in answer.ok["records"]]
        assert seqs == list(range(gap[0], gap[1] + 1))


async def test_history_has_the_newest_record_at_once(place: Place) -> None:
    async with place.running(), connect(place.paths.control_socket) as client:
        for _ in range(5):
            newest = (await client.attach()).seq
            answer = await client.call("history", from_seq=newest, to_seq=newest)
            assert isinstance(answer, Result)
            assert [record["seq"] for record in answer.ok["records"]] == [newest]
            async with place.hook(payload("make", "PostToolUse"), "observe") as hook:
                assert await rest(hook) == b""


async def test_observed_events_wait_for_no_one(place: Place) -> None:
    async with (
        place.running(),
        place.hook(payload(RISKY)),
        connect(place.paths.control_socket) as client,
    ):
        await pending(client)
        for number in range(50):
            raw = payload("ls", "PostToolUse", f"p{number}")
            async with place.hook(raw, "observe") as hook:
                assert await rest(hook) == b""
        assert len(await pending(client)) == 1
    await until(lambda: len([r for r in place.records() if r.kind == "tool.post"]) == 50, "all")


@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("CREATE TRIGGER t BEFORE INSERT ON record BEGIN SELECT raise(IGNORE); END", False),
        ("DELETE FROM record WHERE seq = 2", True),
    ],
)
async def test_an_allow_is_not_told_once_another_program_wrote_to_the_journal(
    place: Place, statement: str, kept: bool
) -> None:
    async with (
        place.running(),
        connect(place.paths.control_socket) as client,
        place.hook(payload(RISKY)) as hook,
    ):
        (request,) = await pending(client)
        await until(lambda: len(place.records()) > 2, "what is deleted")
        with closing(sqlite3.connect(place.paths.journal, isolation_level=None)) as other:
            other.execute(statement)
        await client.call(
            "decide",
            request=request["id"],
            decision="allow",
            digest=request["digest"],
            confirmed=True,
        )
        assert b'"allow"' not in await rest(hook)
        async with place.hook(payload("git push --force origin", call="c2")) as second:
            assert b"another program has written" in await rest(second)
    with closing(sqlite3.connect(place.paths.journal)) as journal:
        kinds = [kind for (kind,) in journal.execute("SELECT kind FROM record")]
    assert ("policy.tampered" in kinds) is kept, "the alarm is evidence, too"
