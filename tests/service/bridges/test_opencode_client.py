"""The client of an OpenCode server, against a real server on loopback and a core that answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from watchgate.service.bridges.core_client import IngestClient
from watchgate.service.bridges.opencode_client import NothingToFollow, OpenCodeClient
from watchgate.service.bridges.opencode_server import (
    OpenCodeServer,
    ServerRefused,
    ServerUnreachable,
)
from watchgate.service.system.system_clock import SystemClock

pytestmark = pytest.mark.anyio
LIMIT_S = 30
FOLDER = "/home/dev/app"
CONNECTED = {"payload": {"type": "server.connected", "properties": {}}}


class OpenCode:
    """A server: what it holds by path, what it was posted, and the streams that follow it."""

    def __init__(self) -> None:
        self.holds: dict[str, Any] = {"/path": {"directory": FOLDER}, "/config": {}}
        self.holds |= {"/session": [], "/permission": [], "/question": []}
        self.posted: list[tuple[str, Any]] = []
        self.streams: list[SocketStream] = []
        self.connections = 0
        self.password = ""
        self.port = 0

    async def say(self, name: str, cut: int = 5, **properties: Any) -> None:
        """An event for whoever follows, in pieces and chunks of an odd size."""
        event = {"directory": FOLDER, "payload": {"type": name, "properties": properties}}
        await self._send(self.streams[-1], event, cut)

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            await self._serve(stream)

    async def _serve(self, stream: SocketStream) -> None:
        data = b""
        while b"\r\n\r\n" not in data:
            data += await stream.receive()
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        method, target, _ = lines[0].split(" ")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        while len(body) < int(headers.get("content-length", "0")):
            body += await stream.receive()
        path = target.partition("?")[0]
        if self.password and headers.get("authorization") != self.password:
            await stream.send(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
        elif path == "/global/event":
            await self._follow(stream)
        elif method == "POST":
            self.posted.append((target, json.loads(body)))
            await self._answer(stream, True)
        elif path in self.holds:
            await self._answer(stream, self.holds[path])
        else:
            await stream.send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

    async def _answer(self, stream: SocketStream, value: Any) -> None:
        body = json.dumps(value).encode()
        await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    async def _follow(self, stream: SocketStream) -> None:
        await stream.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await self._send(stream, CONNECTED, 5)
        self.streams.append(stream)
        self.connections += 1
        try:
            while True:
                await stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return

    async def _send(self, stream: SocketStream, event: dict[str, Any], cut: int) -> None:
        data = f"data: {json.dumps(event)}\n\n".encode()
        for start in range(0, len(data), cut):
            piece = data[start : start + cut]
            chunk = b"%x\r\n%s\r\n" % (len(piece), piece)
            await stream.send(chunk[:3])
            await stream.send(chunk[3:])


class FakeCore:
    """An ingest socket that keeps what is told and answers what is asked, each by its id."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.answers: dict[str, str] = {}
        self.gone: list[str] = []

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            await self._serve(stream)

    async def _serve(self, stream: SocketStream) -> None:
        data = b""
        while b"\n\n" not in data:
            data += await stream.receive()
        head, _, body = data.partition(b"\n\n")
        length = int(head.decode().partition("length: ")[2].partition("\n")[0])
        while len(body) < length:
            body += await stream.receive()
        payload = json.loads(body)
        if b" observe\n" in head:
            self.told.append(payload)
            return
        self.asked.append(payload)
        id = payload["properties"]["id"]
        try:
            if id in self.answers:
                answer = self.answers[id].encode()
                await stream.send(b"0 %d 0\n" % len(answer) + answer)
            else:
                await stream.receive()
        except anyio.EndOfStream:
            self.gone.append(id)


class World:
    """A server, a core, and the client between them."""

    def __init__(self, place: Path) -> None:
        self.server = OpenCode()
        self.core = FakeCore()
        self.said: list[str] = []
        self.pauses: list[float] = []
        self._place = place

    @property
    def following(self) -> OpenCodeClient:
        way = IngestClient(
            ingest=self._place / "ingest.sock",
            off=self._place / "off",
            clock=SystemClock(),
            agent="opencode",
            proxy=True,
        )

        async def sleep(pause_s: float) -> None:
            self.pauses.append(pause_s)
            await anyio.sleep(0.001)

        url = f"http://127.0.0.1:{self.server.port}"
        return OpenCodeClient(OpenCodeServer(url), way, self.said.append, 60.0, sleep)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Server and core are there."""
        unix = await anyio.create_unix_listener(self._place / "ingest.sock", mode=0o600)
        tcp = await anyio.create_tcp_listener(local_host="127.0.0.1")
        self.server.port = tcp.extra(SocketAttribute.local_port)
        with anyio.fail_after(LIMIT_S):
            async with unix, tcp, anyio.create_task_group() as tasks:
                tasks.start_soon(unix.serve, self.core.serve)
                tasks.start_soon(tcp.serve, self.server.serve)
                yield
                tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def followed(self) -> AsyncIterator[None]:
        """The client follows the server."""
        async with self.listening(), anyio.create_task_group() as tasks:
            tasks.start_soon(self.following.run)
            await until(lambda: f"following http://127.0.0.1:{self.server.port}" in self.said)
            yield
            tasks.cancel_scope.cancel()


async def until(condition: Callable[[], object]) -> None:
    while True:
        if condition():
            return
        await anyio.sleep(0.002)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def world(short_path: Path) -> World:
    place = short_path / "run"
    place.mkdir(mode=0o700)
    return World(place)


def permission(id: str = "per_1") -> dict[str, Any]:
    return {
        "id": id,
        "sessionID": "s",
        "permission": "bash",
        "patterns": ["make"],
        "metadata": {"command": "make"},
        "tool": {"messageID": "m", "callID": "c"},
    }


def running() -> dict[str, Any]:
    state = {"status": "running", "input": {"command": "make", "description": "build"}}
    return {"type": "tool", "tool": "bash", "callID": "c", "sessionID": "s", "state": state}


async def test_what_happens_is_told_with_its_folder(world: World) -> None:
    async with world.followed():
        await world.server.say("session.created", info={"id": "s", "title": "t"})
        await until(lambda: world.core.told)

    assert world.core.told[0]["type"] == "session.created"
    assert world.core.told[0]["watchgate"]["directory"] == FOLDER


async def test_an_allow_is_posted_as_once(world: World) -> None:
    world.core.answers["per_1"] = '{"reply":"once"}'
    async with world.followed():
        await world.server.say("message.part.updated", part=running())
        await world.server.say("permission.asked", **permission())
        await until(lambda: world.server.posted)

    target = f"/permission/per_1/reply?directory={quote(FOLDER, safe='')}"
    assert world.server.posted == [(target, {"reply": "once"})]
    # The call's own input, so that this is about the same thing as its other events.
    assert world.core.asked[0]["watchgate"]["input"] == running()["state"]["input"]


async def test_answers_to_a_question_are_posted(world: World) -> None:
    world.core.answers["que_1"] = '{"answers":[["B"]]}'
    async with world.followed():
        await world.server.say("question.asked", id="que_1", sessionID="s", questions=[])
        await until(lambda: world.server.posted)

    assert world.server.posted[0][0].startswith("/question/que_1/reply?")
    assert world.server.posted[0][1] == {"answers": [["B"]]}


async def test_an_answer_that_would_allow_more_is_never_posted(world: World) -> None:
    world.core.answers["per_1"] = '{"reply":"always"}'
    async with world.followed():
        await world.server.say("permission.asked", **permission())
        await until(lambda: len(world.said) > 1)

    assert world.server.posted == []
    assert "did not reach OpenCode" in world.said[1]


async def test_what_was_pending_before_is_asked_on_connecting(world: World) -> None:
    world.server.holds["/permission"] = [permission()]
    world.server.holds["/session/s/message/m"] = {"parts": [{"type": "text"}, running()]}
    async with world.followed():
        await until(lambda: world.core.asked)

    assert world.core.asked[0]["properties"]["id"] == "per_1"
    assert world.core.asked[0]["watchgate"]["tool"] == "bash"


async def test_somebody_elses_answer_withdraws_the_question(world: World) -> None:
    async with world.followed():
        await world.server.say("permission.asked", **permission())
        await until(lambda: world.core.asked)
        await world.server.say("permission.replied", sessionID="s", requestID="per_1", reply="once")
        await until(lambda: world.core.gone)

    assert world.core.gone == ["per_1"]
    assert world.server.posted == []


async def test_an_event_that_cannot_be_read_is_passed_over(world: World) -> None:
    async with world.followed():
        for broken in (b'{"x":"\xff"}', b'{"x":' + b"[" * 5_000):
            event = b"data: " + broken + b"\n\n"
            await world.server.streams[-1].send(b"%x\r\n%s\r\n" % (len(event), event))
        await world.server.say("session.idle", sessionID="other")
        await until(lambda: world.core.told)

    assert world.server.connections == 1


async def test_a_broken_stream_is_taken_up_again_without_asking_twice(world: World) -> None:
    async with world.followed():
        await world.server.say("permission.asked", **permission())
        await until(lambda: world.core.asked)
        world.server.holds["/permission"] = [permission()]
        await world.server.streams[-1].aclose()
        await until(lambda: world.server.connections == 2 and world.pauses)
        await until(lambda: len([s for s in world.said if s.startswith("following")]) == 2)
        await world.server.say("session.idle", sessionID="other")
        await until(lambda: world.core.told)

    assert len(world.core.asked) == 1
    assert any("trying again" in each for each in world.said)


async def test_what_was_answered_while_the_stream_was_broken_is_withdrawn(world: World) -> None:
    async with world.followed():
        await world.server.say("permission.asked", **permission())
        await until(lambda: world.core.asked)
        await world.server.streams[-1].aclose()
        await until(lambda: world.core.gone)

    assert world.core.gone == ["per_1"]


async def test_a_server_with_the_plugin_is_left_to_it(world: World) -> None:
    world.server.holds["/config"] = {"plugin": ["file:///home/dev/plugin/watchgate.js"]}
    async with world.listening():
        with pytest.RaisesGroup(pytest.RaisesExc(NothingToFollow, match="runs watchgate's plugin")):
            await world.following.run()


async def test_a_server_that_wants_a_password_is_told_from_one_that_is_gone(world: World) -> None:
    world.server.password = "basic b3blbmnvzgu6chc="
    async with world.listening():
        with pytest.RaisesGroup(
            pytest.RaisesExc(NothingToFollow, match="OPENCODE_SERVER_PASSWORD")
        ):
            await world.following.run()
        given = OpenCodeServer(f"http://127.0.0.1:{world.server.port}", "pw")
        assert await given.get("/permission") == []
        with pytest.raises(ServerRefused):
            await OpenCodeServer(f"http://127.0.0.1:{world.server.port}", "no").get("/permission")


async def test_a_server_that_is_not_there_is_tried_again_ever_less_often(world: World) -> None:
    async with world.listening():
        world.server.port = 1
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.following.run)
            await until(lambda: len(world.pauses) > 6)
            tasks.cancel_scope.cancel()

    assert world.pauses[:7] == [0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 30.0]
    # Said once, not each time.
    assert len(world.said) == 1


async def test_an_address_that_names_no_server_is_refused() -> None:
    with pytest.raises(ValueError, match="use http://HOST:PORT"):
        OpenCodeServer("localhost:4096")
    with pytest.raises(ServerUnreachable):
        await OpenCodeServer("http://127.0.0.1:1").get("/path")
