from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.service.desk import Desk, places
from tests.service.proofs import presences_of
from tests.service.wire_frames import WAIT_S, is_root, knock_as_nobody, rest, served, until
from watchgate.link.protocol import Request, Result
from watchgate.service.admission import socket_shares
from watchgate.service.control.caller import Caller
from watchgate.service.control.control_socket import JOURNAL_READERS, Control
from watchgate.service.control.reload import Reload
from watchgate.service.control.verb_table import Verbs, VerbStores
from watchgate.service.history import record_pages
from watchgate.service.hub.grant_sync import GrantStore
from watchgate.service.identity.ancestry import Peer
from watchgate.service.identity.presence import CoreProcesses
from watchgate.service.policies.policy_store import Policies


async def never_idle() -> bool:
    return False


class Client:
    """A control client that speaks JSON lines."""

    def __init__(self, stream: SocketStream) -> None:
        self.stream = stream
        self._lines = BufferedByteReceiveStream(stream)

    async def say(self, line: bytes) -> None:
        await self.stream.send(line + b"\n")

    async def hear(self) -> dict[str, Any]:
        with anyio.fail_after(WAIT_S):
            line = await self._lines.receive_until(b"\n", 16 << 20)
        heard: dict[str, Any] = msgspec.json.decode(line)
        return heard

    async def ask(self, **fields: Any) -> dict[str, Any]:
        await self.say(msgspec.json.encode({"id": 1, **fields}))
        while True:
            heard = await self.hear()
            if "id" in heard:
                return heard


class Room:
    """A served control socket over a hub."""

    def __init__(self, directory: Path) -> None:
        self.desk = Desk()
        self.desk.paper.at_once = True
        self.path = directory / "control.sock"
        self.stopped: list[str] = []
        self.verbs = Verbs(
            self.desk.hub,
            self.desk.clock,
            core="core-a",
            paths=places(directory),
            stop=lambda by, _actor: self.stopped.append(by),
            reload=Reload(self.desk.hub, never_idle, places(directory), None, print),
            stores=VerbStores(
                GrantStore(directory / "grants.json", self.desk.hub.engine.grants.permanent),
                Policies(()),
                presences_of(self.desk, directory, CoreProcesses(scripted=True)),
            ),
            forget=lambda: None,
        )

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        async with await anyio.connect_unix(self.path) as stream:
            client = Client(stream)
            hello = await client.hear()
            assert hello["core"] == "core-a"
            yield client


@pytest.fixture
def room(runtime_dir: Path) -> Room:
    return Room(runtime_dir)


async def test_the_core_speaks_first(room: Room) -> None:
    control = Control(room.verbs)
    async with served(room.path, control.handle), await anyio.connect_unix(room.path) as stream:
        hello = await Client(stream).hear()
    assert {"watchgate", "core", "boot", "seq", "profile", "schema"} <= set(hello)


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b"no json", 0),
        (b'{"id": 7, "verb": "dance"}', 7),
        (b'{"id": 7, "verb": "list", "colour": "red"}', 7),
        (b'{"id": 7, "verb": "decide", "decision": "maybe"}', 7),
        (b'{"verb": "list"}', 0),
        (b"[" * 100_000, 0),
        (b'{"id": 7, "verb": "show"}', 7),
        (b'{"id": 7, "verb": "decide", "request": "abcd"}', 7),
        (b'{"id": 7, "verb": "search", "filter": "spaceship:x"}', 7),
    ],
)
async def test_a_bad_request_is_refused_by_its_id_and_the_connection_goes_on(
    room: Room, line: bytes, number: int
) -> None:
    async with served(room.path, Control(room.verbs).handle), room.client() as client:
        await client.say(line)
        heard = await client.hear()
        assert (heard["id"], heard["refused"]) == (number, "bad_request")
        assert heard["message"]
        assert (await client.ask(verb="list"))["ok"] == {"requests": []}


async def test_a_request_over_the_limit_is_refused_and_the_connection_goes_on(room: Room) -> None:
    async with served(room.path, Control(room.verbs).handle), room.client() as client:
        await client.say(b'{"id": 1, "x": "' + b"y" * (5 << 20) + b'"}')
        assert "bytes" in (await client.hear())["message"]
        assert (await client.ask(verb="list"))["ok"] == {"requests": []}


async def test_a_search_keeps_no_other_request_waiting(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A denial leaves at once, also while its console looks through the history."""
    begun, go = threading.Event(), threading.Event()

    def search(*_asked: object) -> dict[str, Any]:
        begun.set()
        go.wait(WAIT_S)
        return {"records": [], "next": None}

    monkeypatch.setattr(record_pages, "search", search)
    async with served(room.path, Control(room.verbs).handle), room.client() as client:
        for number in range(2, 2 + JOURNAL_READERS):
            await client.say(b'{"id": %d, "verb": "search"}' % number)
        await until(begun.is_set, "the search")
        assert (await client.ask(verb="list"))["ok"] == {"requests": []}
        go.set()
        assert {(await client.hear())["id"] for _ in range(JOURNAL_READERS)} == set(
            range(2, 2 + JOURNAL_READERS)
        )


async def test_who_asks_without_reading_the_answers_is_answered_only_as_far_as_there_is_room(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []

    async def do(_verbs: Verbs, request: Request, _caller: Caller) -> Result:
        done.append(request.id)
        return Result(id=request.id, ok={"long": "x" * (1 << 20)})

    monkeypatch.setattr(Verbs, "do", do)
    async with served(room.path, Control(room.verbs).handle), room.client() as client:
        await client.say(b"\n".join(b'{"id": %d, "verb": "hello"}' % n for n in range(60)))
        await until(lambda: done, "the first request")
        await anyio.wait_all_tasks_blocked()
        assert len(done) < 30
        assert [(await client.hear())["id"] for _ in range(60)] == list(range(60))


async def test_a_fault_of_ours_is_a_typed_refusal_on_record(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(room.desk.hub.engine.broker, "find", broken)
    async with served(room.path, Control(room.verbs).handle), room.client() as client:
        heard = await client.ask(verb="show", request="abcd")
        assert (heard["id"], heard["refused"]) == (1, "failed")
        assert "ZeroDivisionError" in heard["message"]
        assert (await client.ask(verb="list"))["ok"] == {"requests": []}
        async with room.client() as other:
            assert (await other.ask(verb="list"))["ok"] == {"requests": []}
    assert room.desk.last("notice")["native"] == "internal.error"


async def test_a_fault_of_ours_outside_any_request_ends_that_client_alone(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    hello = room.verbs.hello
    faults = [KeyError("a bug")]

    def failing() -> Any:
        if faults:
            raise faults.pop()
        return hello()

    monkeypatch.setattr(room.verbs, "hello", failing)
    async with served(room.path, Control(room.verbs).handle):
        async with await anyio.connect_unix(room.path) as stream:
            assert await rest(stream) == b""
        async with room.client() as client:
            assert (await client.ask(verb="list"))["ok"] == {"requests": []}


async def test_history_that_cannot_be_read_is_a_refusal(room: Room) -> None:
    async with served(room.path, Control(room.verbs).handle), room.client() as client:
        heard = await client.ask(verb="history", from_seq=1, to_seq=5)
        assert heard["refused"] == "failed"
        assert "journal" in heard["message"]


async def test_an_attached_console_gets_the_snapshot_and_every_record_after_it(
    room: Room,
) -> None:
    room.desk.send("high")
    async with served(room.path, Control(room.verbs).handle), room.client() as client:
        snapshot = (await client.ask(verb="attach"))["ok"]["snapshot"]
        assert len(snapshot["pending"]) == 1
        room.desk.send("ls", call="c2")
        seqs = [(await client.hear())["record"]["seq"] for _ in range(2)]
        assert seqs == [snapshot["seq"] + 1, snapshot["seq"] + 2]
        assert room.desk.hub.engine.status.consoles == 1
    assert room.desk.kinds()[-1] == "console.detached"
    assert room.desk.hub.engine.status.consoles == 0


async def test_an_observer_gets_records_and_is_no_console(room: Room) -> None:
    async with served(room.path, Control(room.verbs).handle), room.client() as client:
        await client.ask(verb="attach", observer=True)
        assert room.desk.hub.engine.status.consoles == 0
        room.desk.send("ls")
        assert (await client.hear())["record"]["kind"] == "tool.pre"
    assert "console.attached" not in room.desk.kinds()
    assert len(room.desk.hub.recorder.watchers) == 1, "only the test's own is left"


async def test_attaching_from_an_older_record_tells_the_gap(room: Room) -> None:
    for number in range(3):
        room.desk.send("ls", call=f"c{number}")
    async with served(room.path, Control(room.verbs).handle), room.client() as client:
        await client.say(b'{"id": 1, "verb": "attach", "from_seq": 2}')
        heard = [await client.hear(), await client.hear()]
    snapshot = next(each for each in heard if "id" in each)["ok"]["snapshot"]
    gap = next(each for each in heard if "gap" in each)["gap"]
    assert gap == [3, snapshot["seq"]]


async def test_ap_3_the_last_console_that_leaves_ends_what_may_not_wait_unattended(
    runtime_dir: Path,
) -> None:
    room = Room(runtime_dir)
    room.desk.hub.engine.config = msgspec.structs.replace(
        room.desk.hub.engine.config,
        approval=msgspec.structs.replace(room.desk.hub.engine.config.approval, unattended="deny"),
    )
    async with served(room.path, Control(room.verbs).handle):
        async with room.client() as client:
            await client.ask(verb="attach")
            conn = room.desk.send("high")
            assert conn.answer is None
        await until(lambda: conn.answer is not None, "the denial")
    assert room.desk.last("approval.decided")["word"] == "denied-no-approver"


@pytest.mark.skipif(not is_root(), reason="only root can be somebody else")
async def test_another_user_is_not_even_greeted(room: Room) -> None:
    async with served(room.path, Control(room.verbs).handle):
        assert await knock_as_nobody(room.path, '{"id": 1, "verb": "stop"}\n') == "b''"
    assert room.stopped == []


async def test_ap_20_a_foreign_uid_is_not_even_greeted(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_shares, "credentials", lambda _socket: Peer(pid=1, uid=-1, gid=0))
    control = Control(room.verbs)
    async with served(room.path, control.handle), await anyio.connect_unix(room.path) as stream:
        assert await rest(stream) == b""
