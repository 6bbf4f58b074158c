"""A core for the console's figures: one connection, and calls at a given rate from its outbox."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import anyio
import msgspec
from anyio.abc import SocketStream

from watchgate.core.model.events import Tool
from watchgate.core.model.records import CallData, Record, ResultData
from watchgate.core.model.views import GateView
from watchgate.link.protocol import Hello, Request, Result, Snapshot
from watchgate.service.control.caller import Outbox, RecordSampler

STEP_S = 0.01
SESSIONS = 8
TOOL = Tool("Read", "Read", "read", {"file_path": "src/watchgate/core/state.py"}, "h" * 64)
CALL = msgspec.to_builtins(
    CallData(
        native="PreToolUse",
        lane="gate-read",
        tool=TOOL,
        summary="src/watchgate/core/state.py",
        gate="handback",
        risk="low",
        rule="builtin.read",
        reason="reads a file of the project",
        cwd="/home/alice/src/watchgate",
    )
)
RESULT = msgspec.to_builtins(
    ResultData(native="PostToolUse", tool=TOOL, summary=CALL["summary"], ok=True, took_ms=3)
)


def record(seq: int, at_us: int) -> Record:
    """Records number `seq`: a call, or the end of the call before it."""
    before = seq % 2 == 1
    return Record(
        v=1,
        seq=seq,
        core="bench",
        at=at_us,
        kind="tool.pre" if before else "tool.post",
        agent="claude",
        session=f"s{(seq - 1) // 2 % SESSIONS}",
        call=f"c{(seq + 1) // 2}",
        data=CALL if before else RESULT,
        prev="0" * 64,
        hash="0" * 64,
    )


async def _serve(stream: SocketStream, rate: int) -> None:
    hello = Hello(watchgate="0", core="bench", boot=0, seq=0, profile="guard")
    await stream.send(msgspec.json.encode(hello) + b"\n")
    asked = msgspec.json.decode(await stream.receive(), type=Request)
    now_us = time.time_ns() // 1_000
    snapshot = Snapshot(seq=0, core="bench", now=now_us, gate=GateView())
    answer = Result(id=asked.id, ok={"snapshot": msgspec.to_builtins(snapshot)})
    outbox = Outbox()
    outbox.sampler = RecordSampler()
    outbox.put(msgspec.json.encode(answer) + b"\n")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(offer, outbox, rate, now_us)
        try:
            while True:
                await stream.send(await outbox.take())
        except anyio.BrokenResourceError:
            tasks.cancel_scope.cancel()


async def offer(outbox: Outbox, rate: int, start_us: int) -> None:
    """Offers records at `rate` a second to an outbox, until cancelled."""
    start = time.monotonic()
    seq = 0
    while True:
        passed = time.monotonic() - start
        while seq < passed * rate:
            seq += 1
            outbox.offer(record(seq, start_us + int(passed * 1_000_000)))
        await anyio.sleep(STEP_S)


async def _main(path: Path, rate: int) -> None:
    listener = await anyio.create_unix_listener(path, mode=0o600)

    async def serve(stream: SocketStream) -> None:
        async with stream:
            await _serve(stream, rate)

    await listener.serve(serve)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("socket", type=Path)
    parser.add_argument("rate", type=int)
    given = parser.parse_args()
    anyio.run(_main, given.socket, given.rate)
