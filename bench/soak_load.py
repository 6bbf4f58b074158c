"""An hour's work of many sessions, as fast as the core takes it: agents, consoles, files, streams.

How the hour is reckoned: 50 sessions at a time, each with a call every 10 s (asked before, told
after), a call every 2 minutes that is held, and ten minutes of life; a console that comes and goes
each minute beside one that stays; every minute a line in each session's transcript and 50 lines of
a stream. That is some 38,000 events.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
from anyio.abc import SocketStream

from watchgate.link.control_client import ControlClient, connect
from watchgate.link.protocol import Refusal

SESSIONS = 50
CALLS_A_MINUTE = 6
LIFE_MINUTES = 10
STREAM_LINES = 50
LEFT_ONE_IN = 5
"""So many of the held calls are decided by nobody, so that they expire."""

_LATE = ("too_late", "already_settled")
"""How a denial is refused where the machine was busy for longer than a request waits."""

_DENIED = b'"deny"'


class Load:
    """What has been done so far; `events` counts what was sent, `answers` what was waited for.

    `model_calls` counts those that transcripts and streams told of.
    """

    def __init__(self, ingest: Path, control: Path, transcripts: Path) -> None:
        self.events = 0
        self.answers = 0
        self.model_calls = 0
        self.held = 0
        self._ingest = ingest
        self._control = control
        self._transcripts = transcripts
        self._requests = 0

    async def minute(self, number: int) -> None:
        """What comes in one minute; ends when all that waits has been answered."""
        async with anyio.create_task_group() as tasks:
            for place in range(SESSIONS):
                tasks.start_soon(self._session, place, number)
            tasks.start_soon(self._stream, number)
            tasks.start_soon(self._console)

    @asynccontextmanager
    async def operator(self) -> AsyncIterator[None]:
        """A console that stays, and denies what is held, but for one in `LEFT_ONE_IN`.

        It runs below the agents that it stands in for, so it may only deny.
        """
        async with connect(self._control) as client, anyio.create_task_group() as tasks:
            await client.attach()
            tasks.start_soon(self._decide, client)
            yield
            tasks.cancel_scope.cancel()

    async def _decide(self, client: ControlClient) -> None:
        while True:
            for push in await client.batch():
                record = push.record
                if record is None or record.kind != "approval.requested":
                    continue
                self._requests += 1
                if self._requests % LEFT_ONE_IN:
                    said = await client.call(
                        "decide",
                        request=record.request,
                        digest=record.data["digest"],
                        decision="deny",
                    )
                    if isinstance(said, Refusal) and said.refused not in _LATE:
                        raise RuntimeError(f"a denial was refused: {said.message}")

    async def _console(self) -> None:
        async with connect(self._control) as client:
            await client.attach()
            await client.call("list")

    async def _session(self, place: int, minute: int) -> None:
        age = (minute + place) % LIFE_MINUTES
        session = f"s-{place}-{(minute + place) // LIFE_MINUTES}"
        if age == 0:
            await self._hook(session, "SessionStart", "observe", source="startup")
        for number in range(CALLS_A_MINUTE):
            held = number == 0 and (minute + place) % 2 == 0
            command = f"rm -rf ./build-{minute}" if held else f"ls -la src/{minute}/{number}"
            call = {
                "tool_name": "Bash",
                "tool_input": {"command": command, "description": "x" * 100},
                "tool_use_id": f"toolu_{session}_{minute}_{number}",
            }
            said = await self._hook(session, "PreToolUse", "gate", **call)
            self.held += held
            if _DENIED not in said:
                result = {"tool_response": {"stdout": "y" * 200, "stderr": ""}}
                await self._hook(session, "PostToolUse", "observe", **call, **result)
        self._told(session, minute)
        if age == LIFE_MINUTES - 1:
            await self._hook(session, "SessionEnd", "observe", reason="other")

    async def _hook(self, session: str, event: str, lane: str, **fields: object) -> bytes:
        payload = msgspec.json.encode(
            {"session_id": session, "cwd": "/srv/app", "hook_event_name": event, **fields}
        )
        head = f"watchgate/1 claude {lane}\nevent: {event}\nlength: {len(payload)}\n\n"
        self.events += 1
        said = b""
        async with await anyio.connect_unix(self._ingest) as stream:
            await stream.send(head.encode() + payload)
            if lane == "observe":
                return said
            said = await _rest(stream)
        self.answers += 1
        return said

    async def _stream(self, minute: int) -> None:
        lines = [
            msgspec.json.encode(
                {
                    "watchgate": 1,
                    "kind": "usage",
                    "agent": "acp",
                    "session": f"stream-{minute // LIFE_MINUTES}",
                    "usage": {"input": number, "output": 1},
                }
            )
            for number in range(STREAM_LINES)
        ]
        self.events += len(lines)
        self.model_calls += len(lines)
        async with await anyio.connect_unix(self._ingest) as stream:
            await stream.send(b"\n".join(lines) + b"\n")

    def _told(self, session: str, minute: int) -> None:
        """One answer of a model more in the session's transcript."""
        line = msgspec.json.encode(
            {
                "type": "assistant",
                "sessionId": session,
                "cwd": "/srv/app",
                "timestamp": "2026-11-20T10:00:00.000Z",
                "requestId": f"req_{session}_{minute}",
                "uuid": f"{session}-{minute}",
                "message": {
                    "id": f"msg_{session}_{minute}_0123456789",
                    "model": "claude-sonnet-4-5",
                    "role": "assistant",
                    "content": [],
                    "usage": {"input_tokens": 10, "output_tokens": 20},
                },
            }
        )
        with (self._transcripts / f"{session}.jsonl").open("ab") as file:
            file.write(line + b"\n")
        self.model_calls += 1


async def _rest(stream: SocketStream) -> bytes:
    said = b""
    try:
        while True:
            said += await stream.receive()
    except anyio.EndOfStream:
        return said
