"""What is spoken with a core: requests of consoles, answers to clients, the clients' part."""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import anyio

from tests.fuzz.of_frames import Collected, same_however_cut
from tests.fuzz.target import Target, demand
from watchgate import client, synaps_extension
from watchgate.client_api import core_dialog
from watchgate.link.control_lines import LineReader
from watchgate.service.bridges.opencode_server import (
    OpenCodeServer,
    ServerRefused,
    ServerUnreachable,
)
from watchgate.service.control import control_socket
from watchgate.service.control.caller import Outbox

_NEVER_S = 1e12
_OWN = {"command": "make"}


def requests(data: bytes) -> None:
    """Each line of a console is a request or is refused, by its id where it has one."""
    for line in data.split(b"\n"):
        outbox = Outbox()
        found = control_socket._request(line, outbox)
        refused = list(outbox._lines)
        demand((found is None) == bool(refused), "what is no request is refused")
        for each in refused:
            demand(json.loads(each)["refused"] == "bad_request", "in the words of the protocol")
            reader = LineReader()
            reader.feed(each)
            demand(len(each) < 8_192, "a refusal is bounded")


class _Core:
    """A connected socket whose other end says these bytes, a few at a time."""

    timeout = TimeoutError
    AF_UNIX = socket.AF_UNIX

    def __init__(self, said: bytes) -> None:
        self._said = said
        self._turn = 0

    def socket(self, *_: Any) -> _Core:
        return self

    def __enter__(self) -> _Core:
        return self

    def __exit__(self, *_: object) -> None: ...

    def settimeout(self, _seconds: float) -> None: ...

    def connect(self, _path: str) -> None: ...

    def send(self, data: bytes | bytearray) -> int:
        return len(data)

    def recv_into(self, buffer: bytearray) -> int:
        self._turn += 1
        part, self._said = self._said[: 5 * self._turn], self._said[5 * self._turn :]
        buffer[: len(part)] = part
        return len(part)


@contextmanager
def _speaking(said: bytes) -> Iterator[None]:
    core = _Core(said)
    with (
        patch.object(client, "_socket", core),
        patch.object(synaps_extension, "socket", core),
        patch.object(client, "demand_own", lambda *_: None),
        patch.object(client, "read_stdin", lambda _until: bytearray(b"{}")),
        patch.object(client, "step_s", lambda _until: 1.0),
    ):
        yield


def hook_client(data: bytes) -> None:
    """What the core answers a hook: exactly what it says, or the client's closed answer."""
    with _speaking(data):
        code, out, err = client.ask("/x", "claude", "gate", "", _NEVER_S)
    line, _, body = data.partition(b"\n")
    sizes = [int(each) for each in line.split(b" ")]
    demand([code, len(out), len(err)] == sizes and 0 <= code <= 255, "as the sizes say")
    demand(bytes(out + err) == body[: sizes[1] + sizes[2]], "nothing is added")


def synaps_client(data: bytes) -> None:
    """The same for SynapsCLI: a call that is not let through by the core's word is blocked."""
    extension = synaps_extension.Extension("/run/none/ingest", "gate")
    with _speaking(data):
        result = extension.handle({"kind": "before_tool_call", "session_id": "s"})
    if result.get("action") != "block":
        said = json.loads(data.partition(b"\n")[2][: int(data.split(b" ")[1])])
        demand(said == result, "only the core's own word lets a call run")


def synaps_calls(data: bytes) -> None:
    """What SynapsCLI writes to its extension: each message is answered, whatever it is."""
    extension = synaps_extension.Extension("/run/none/ingest", "gate")
    try:
        message = json.loads(data)
    except synaps_extension.FAULTS:
        message = None
    said: dict[str, Any] | None
    if isinstance(message, dict):
        with _speaking(b""):
            said = synaps_extension.answer(extension, message)
        asks = message.get("method") == "hook.handle" and isinstance(message.get("params"), dict)
        before = asks and message["params"].get("kind") == "before_tool_call"
    else:
        said, before = synaps_extension.unread(data), True
    if said is not None and before:
        demand(said["result"]["action"] == "block", "a core that says nothing lets nothing run")
    json.dumps(said)


def python_gate(data: bytes) -> None:
    """A line that the core says to a Python program: its own words, or a denial."""
    answer = core_dialog.read(data, "a-1", _OWN)
    if answer.may_run:
        said = json.loads(data.decode("utf-8", "replace"))
        demand(said["id"] == "a-1" and said["decision"] == answer.decision, "as the core said")
    else:
        demand(answer.decision == "deny" and answer.input == _OWN, "a denial changes no input")


def http_server(data: bytes) -> None:
    """What an OpenCode server answers over HTTP: a value, or the reason why there is none."""
    anyio.run(_fetched, data)


class _Stream:
    def __init__(self, said: bytes) -> None:
        self._said = said

    async def __aenter__(self) -> _Stream:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def send(self, _data: bytes) -> None: ...

    async def receive(self, _size: int = 0) -> bytes:
        if not self._said:
            raise anyio.EndOfStream
        part, self._said = self._said[:7], self._said[7:]
        return part


async def _fetched(data: bytes) -> None:
    server = OpenCodeServer("http://127.0.0.1:1")

    async def connected() -> Any:
        return _Stream(data)

    with patch.object(server, "_connected", connected):
        await server.get("/session")


def _own_frames(pieces: list[bytes]) -> Collected:
    found, stream = [], io.BytesIO(b"".join(pieces))
    try:
        while (body := synaps_extension.read_frame(stream)) is not None:
            found.append(body)
    except ValueError:
        return found, "broken"
    return found, ""


def synaps_frames(data: bytes) -> None:
    """The frames that SynapsCLI writes to its extension; a message that is framed is read back."""
    same_however_cut(data, _own_frames)
    written = io.BytesIO()
    synaps_extension.write_frame(written, {"said": data.hex()})
    (body,), _ = _own_frames([written.getvalue()])
    demand(json.loads(body) == {"said": data.hex()}, "framed is read back")


def _framed(body: bytes) -> bytes:
    return b"0 %d 0\n" % len(body) + body


CORE = {
    "control-requests": Target(
        feed=requests,
        seeds=(
            b'{"id":1,"verb":"attach","from_seq":0}\n{"id":2,"verb":"search","filter":"a"}\n',
            b'{"id":3,"verb":"decide","request":"abcd","digest":"d","decision":"deny"}',
        ),
    ),
    "hook-client": Target(
        feed=hook_client,
        refusals=(OSError, ValueError, OverflowError),
        seeds=(b"2 3 4\noutwhy?", b"0 0 0\n"),
    ),
    "synaps-client": Target(
        feed=synaps_client,
        seeds=(_framed(b'{"action":"continue"}'), _framed(b'{"action":"block","reason":"r"}')),
    ),
    "synaps-calls": Target(
        feed=synaps_calls,
        found=(b'{"id":"\x01"', b'{"id":' + b"9" * 5_000),
        seeds=(
            b'{"jsonrpc":"2.0","id":1,"method":"hook.handle","params":{"kind":"before_tool_call"}}',
            b'{"jsonrpc":"2.0","id":"a","method":"initialize"}',
            b'{"jsonrpc":"2.0","id":2,"method":"shutdown"}',
        ),
    ),
    "synaps-frames": Target(
        feed=synaps_frames, seeds=(b"Content-Length: 2\r\n\r\n{}Content-Length: 1\r\n\r\n1",)
    ),
    "python-gate": Target(
        feed=python_gate,
        found=(b'{"id":"\xff"}',),
        seeds=(
            b'{"id":"a-1","decision":"allow","input":{"command":"ls"}}',
            b'{"id":"a-1","decision":"handback","context":"x"}',
        ),
    ),
    "http-server": Target(
        feed=http_server,
        found=(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nabc\r\n",
            b'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"\xff"',
        ),
        refusals=(ServerUnreachable, ServerRefused),
        seeds=(
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n[{}]",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
        ),
    ),
}
