from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec
import pytest

from tests.link.fake_core import GREETING, HELLO, Conversation, fake_core
from watchgate.core.model.records import Record
from watchgate.core.model.views import GateView
from watchgate.link import control_lines
from watchgate.link.control_client import ControlClient, connect
from watchgate.link.control_lines import CoreLost, NoCore, RequestRefused
from watchgate.link.protocol import Push, Refusal, Result, Snapshot

SNAPSHOT = Snapshot(seq=7, core="core-a", now=5, gate=GateView())


def record(seq: int) -> Record:
    return Record(v=1, seq=seq, core="core-a", at=seq, kind="notice", data={"native": "é"})


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "control.sock"


async def all_pushes(client: ControlClient) -> list[Push]:
    pushes: list[Push] = []
    while True:
        try:
            pushes += await client.batch()
        except CoreLost:
            return pushes


async def test_the_core_greets_and_answers_by_id(path: Path) -> None:
    heard = []

    def script(core: Conversation) -> None:
        heard.append(core.hear())
        core.say(Result(id=1, ok={"n": 1}))

    with fake_core(path, script):
        async with connect(path) as client:
            assert client.hello == HELLO
            answer = await client.call("decide", request="abcd", decision="deny", as_="alice")
    assert answer == Result(id=1, ok={"n": 1})
    assert {"verb": "decide", "request": "abcd", "as": "alice"}.items() <= heard[0].items()


async def test_concurrent_calls_get_their_own_answers(path: Path) -> None:
    def script(core: Conversation) -> None:
        asked = [core.hear() for _ in range(3)]
        for request in reversed(asked):
            core.say(Result(id=request["id"], ok={"request": request["request"]}))

    answers: dict[str, object] = {}

    async def ask(client: ControlClient, name: str) -> None:
        answers[name] = await client.call("show", request=name)

    with fake_core(path, script):
        async with connect(path) as client, anyio.create_task_group() as tasks:
            for name in ("aaaa", "bbbb", "cccc"):
                tasks.start_soon(ask, client, name)
    assert {name: answer.ok["request"] for name, answer in answers.items()} == {  # type: ignore[attr-defined]
        name: name for name in ("aaaa", "bbbb", "cccc")
    }


async def test_a_refusal_is_an_answer(path: Path) -> None:
    refusal = Refusal(
        id=1, refused="already_settled", message="bob was first", by="bob", at=9, word="withdrawn"
    )

    def script(core: Conversation) -> None:
        core.hear()
        core.say(refusal)

    with fake_core(path, script):
        async with connect(path) as client:
            assert await client.call("decide", request="abcd") == refusal


async def test_attach_gives_the_snapshot_and_then_every_push_in_order(path: Path) -> None:
    pushes = [Push(record=record(8)), Push(gap=(9, 11)), Push(record=record(12))]

    def script(core: Conversation) -> None:
        assert core.hear()["from_seq"] == 3
        core.say(Result(id=1, ok={"snapshot": msgspec.to_builtins(SNAPSHOT)}), *pushes)

    with fake_core(path, script):
        async with connect(path) as client:
            assert await client.attach(from_seq=3) == SNAPSHOT
            assert await all_pushes(client) == pushes


async def test_attach_refused_is_raised_with_the_cores_words(path: Path) -> None:
    def script(core: Conversation) -> None:
        core.hear()
        core.say(Refusal(id=1, refused="bad_request", message="from_seq is in the future"))

    with fake_core(path, script):
        async with connect(path) as client:
            with pytest.raises(RequestRefused, match="in the future"):
                await client.attach(from_seq=99)


async def test_a_batch_waits_for_a_push_and_takes_all_that_came(path: Path) -> None:
    def script(core: Conversation) -> None:
        core.hear()
        core.say(*[Push(record=record(seq)) for seq in range(1, 501)], Result(id=1))
        core.wait_for_hang_up()

    with fake_core(path, script):
        async with connect(path) as client:
            await client.call("list")
            batch = await client.batch()
            assert [push.record.seq for push in batch if push.record] == list(range(1, 501))
            with anyio.move_on_after(0) as patience:
                await client.batch()
            assert patience.cancelled_caught


async def test_lines_may_come_in_any_pieces(path: Path) -> None:
    def script(core: Conversation) -> None:
        core.hear()
        whole = b"".join(
            msgspec.json.encode(line) + b"\n"
            for line in (Push(record=record(1)), Result(id=1, ok={"text": "ü\n"}))
        )
        for byte in whole:
            core.connection.sendall(bytes([byte]))

    with fake_core(path, script):
        async with connect(path) as client:
            assert await client.call("list") == Result(id=1, ok={"text": "ü\n"})
            assert await client.batch() == [Push(record=record(1))]


async def test_pushes_that_came_with_the_greeting_are_kept(path: Path) -> None:
    early = GREETING + msgspec.json.encode(Push(record=record(8))) + b"\n"
    with fake_core(path, Conversation.wait_for_hang_up, greeting=early):
        async with connect(path) as client:
            assert await client.batch() == [Push(record=record(8))]


async def test_a_client_that_takes_no_batches_stops_reading_and_loses_nothing(path: Path) -> None:
    count = 2_000

    def script(core: Conversation) -> None:
        core.say(*[Push(record=record(seq)) for seq in range(1, count + 1)])

    with fake_core(path, script):
        async with connect(path, max_pushes=10) as client:
            pushes = await all_pushes(client)
    assert [push.record.seq for push in pushes if push.record] == list(range(1, count + 1))


async def test_the_end_is_told_after_the_last_push_with_the_cores_reason(path: Path) -> None:
    def script(core: Conversation) -> None:
        core.say(Push(closed="it was stopped by alice"))

    with fake_core(path, script):
        async with connect(path) as client:
            assert await client.batch() == [Push(closed="it was stopped by alice")]
            with pytest.raises(CoreLost, match="stopped by alice"):
                await client.batch()
            with pytest.raises(CoreLost, match="stopped by alice"):
                await client.call("list")


async def test_a_call_in_flight_is_told_that_the_core_is_gone(path: Path) -> None:
    with fake_core(path, Conversation.hear):
        async with connect(path) as client:
            with pytest.raises(CoreLost, match="closed the connection"):
                await client.call("list")


async def test_a_cancelled_call_does_not_disturb_the_next(path: Path) -> None:
    heard = threading.Event()

    def script(core: Conversation) -> None:
        core.hear()
        heard.set()
        second = core.hear()
        core.say(Result(id=1, ok={"late": True}), Result(id=second["id"], ok={"late": False}))

    with fake_core(path, script):
        async with connect(path) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call, "list")
                await anyio.to_thread.run_sync(heard.wait, 30)
                tasks.cancel_scope.cancel()
            assert await client.call("list") == Result(id=2, ok={"late": False})


@pytest.mark.parametrize(
    "line",
    [
        b'{"record": 5}\n',
        b'{"id": 1, "ok": {"x": "\xff"}}\n',
        b'{"id": 1, "ok": {"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}\n",
    ],
    ids=["shape", "bytes", "depth"],
)
async def test_a_line_that_is_not_the_protocol_ends_the_connection(path: Path, line: bytes) -> None:
    def script(core: Conversation) -> None:
        core.connection.sendall(line)
        core.wait_for_hang_up()

    with fake_core(path, script):
        async with connect(path) as client:
            with pytest.raises(CoreLost, match="this version cannot read"):
                await client.batch()


def test_a_line_without_end_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_lines, "LINE_LIMIT_BYTES", 20)
    reader = control_lines.LineReader()
    assert reader.feed(b'{"gap":') == []
    assert reader.feed(b'[1,2]}\n{"gap":[3,4]}') == [Push(gap=(1, 2))]
    with pytest.raises(CoreLost, match="without an end of a line"):
        reader.feed(b" " * 21)
    with pytest.raises(CoreLost, match="without an end of a line"):
        control_lines.LineReader().hello(b"x" * (control_lines.HELLO_LIMIT_BYTES + 1))


async def test_an_exception_of_the_block_comes_out_as_it_is(path: Path) -> None:
    with fake_core(path, Conversation.wait_for_hang_up), pytest.raises(KeyError):
        async with connect(path):
            raise KeyError("mine")


async def test_after_the_block_a_call_is_refused_here(path: Path) -> None:
    with fake_core(path, Conversation.wait_for_hang_up):
        async with connect(path) as client:
            pass
        with pytest.raises(CoreLost, match="this side closed"):
            await client.call("list")


async def test_without_a_socket_the_error_says_how_to_start_a_core(path: Path) -> None:
    with pytest.raises(NoCore, match=r"there is no socket.*`watchgate serve`"):
        async with connect(path):
            pass


async def test_a_left_over_socket_is_no_core(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with pytest.raises(NoCore, match="nobody listens"):
        async with connect(path):
            pass


async def test_a_core_that_does_not_greet_is_no_core(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(str(path))
        hung.listen()
        with pytest.raises(NoCore, match=r"did not greet within 0\.05 s"):
            async with connect(path, timeout_s=0.05):
                pass


@pytest.mark.parametrize(
    ("greeting", "why"), [(b"", "closed the connection"), (b"220 smtp\n", "cannot read")]
)
async def test_a_stranger_at_the_socket_is_no_core(path: Path, greeting: bytes, why: str) -> None:
    with fake_core(path, lambda core: None, greeting=greeting), pytest.raises(NoCore, match=why):
        async with connect(path):
            pass


async def test_what_is_not_a_socket_is_not_opened(path: Path) -> None:
    await anyio.Path(path).write_text("")
    with pytest.raises(NoCore, match="not a socket"):
        async with connect(path):
            pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a socket away")
async def test_a_socket_of_another_user_is_not_trusted(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as foreign:
        foreign.bind(str(path))
        foreign.listen()
        os.chown(path, 65534, 65534)
        with pytest.raises(NoCore, match="belongs to user 65534"):
            async with connect(path):
                pass
