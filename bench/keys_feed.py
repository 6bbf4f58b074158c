"""A core for the figures of keys: requests to decide, calls at a given rate, and what it is told.

Every decision that arrives is a line on stdout: its request, and when (monotonic seconds).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import anyio
import msgspec
from anyio.abc import SocketStream

from bench.console_feed import TOOL, offer
from watchgate.core.model.records import DecisionData, Record, RequestData, Word
from watchgate.core.model.views import GateView, PendingView
from watchgate.link.protocol import Hello, Push, Request, Result, Snapshot
from watchgate.service.control.caller import Outbox, RecordSampler

HOUR_US = 3_600_000_000


def request(number: int, now_us: int) -> PendingView:
    """An open request of low risk, which one key allows."""
    data = RequestData(
        digest=f"{number:064x}",
        lane="gate",
        native="PreToolUse",
        tool=TOOL,
        summary=f"touch file-{number}",
        risk="low",
        rule="bench",
        reason="a request of the bench",
        cwd="/home/alice/src/watchgate",
        deadline_at=now_us + HOUR_US + number,
        timeout_s=3_600.0,
    )
    return PendingView(
        id=f"{number:026d}",
        at=now_us,
        agent="claude",
        session="s0",
        label="watchgate",
        call=f"held{number}",
        data=data,
    )


def _ended(asked: Request) -> Record:
    allowed = asked.decision == "allow"
    word: Word = "allowed-by-operator" if allowed else "denied-by-operator"
    data = DecisionData(word=word, by="operator", waited_s=1.0)
    return Record(
        v=1,
        seq=0,  # outside the numbering of the calls, and so never one that is passed over
        core="bench",
        at=time.time_ns() // 1_000,
        kind="approval.decided",
        agent="claude",
        session="s0",
        request=asked.request,
        call=f"held{int(asked.request or 0)}",
        data=msgspec.to_builtins(data),
    )


async def _serve(stream: SocketStream, rate: int, pending: int) -> None:
    hello = Hello(watchgate="0", core="bench", boot=0, seq=0, profile="guard")
    outbox = Outbox()
    outbox.put(msgspec.json.encode(hello) + b"\n")
    outbox.sampler = RecordSampler()
    now_us = time.time_ns() // 1_000
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_write, stream, outbox)
        buffered = b""
        while True:
            try:
                buffered += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                break
            arrived_s = time.monotonic()
            *lines, buffered = buffered.split(b"\n")
            for line in lines:
                asked = msgspec.json.decode(line, type=Request)
                ok = {}
                if asked.verb == "attach":
                    views = tuple(request(number, now_us) for number in range(pending))
                    first = Snapshot(
                        seq=0, core="bench", now=now_us, gate=GateView(), pending=views
                    )
                    ok = {"snapshot": msgspec.to_builtins(first)}
                    tasks.start_soon(offer, outbox, rate, now_us)
                outbox.put(msgspec.json.encode(Result(id=asked.id, ok=ok)) + b"\n")
                if asked.verb == "decide":
                    print(asked.request, arrived_s, flush=True)
                    outbox.put(msgspec.json.encode(Push(record=_ended(asked))) + b"\n")
        tasks.cancel_scope.cancel()


async def _write(stream: SocketStream, outbox: Outbox) -> None:
    while True:
        await stream.send(await outbox.take())


async def _main(path: Path, rate: int, pending: int) -> None:
    listener = await anyio.create_unix_listener(path, mode=0o600)

    async def serve(stream: SocketStream) -> None:
        async with stream:
            await _serve(stream, rate, pending)

    await listener.serve(serve)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("socket", type=Path)
    parser.add_argument("rate", type=int)
    parser.add_argument("pending", type=int)
    given = parser.parse_args()
    anyio.run(_main, given.socket, given.rate, given.pending)
