"""Transcripts are read at the end of a turn, and tell of the calls that no hook told of."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import msgspec

from tests.core.builders import START, other, post, pre, shell
from tests.core.world import World
from watchgate.core.clock import Instant
from watchgate.core.events import Event, SessionChange
from watchgate.service.coverage.transcripts import NATIVE, Transcripts

SAID = "2026-11-21T10:00:00.000Z"


class Still:
    """A clock that does not move."""

    def now(self) -> Instant:
        """Always the same moment."""
        return START


def started(path: Path) -> Event:
    body = SessionChange(what="startup", transcript=str(path))
    return msgspec.structs.replace(other("session.start"), body=body)


def turn(path: Path, call_id: str) -> None:
    """One call of a turn, appended to the transcript."""
    blocks = [
        {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "make"}},
        {"type": "tool_result", "tool_use_id": call_id},
    ]
    lines = [json.dumps({"timestamp": SAID, "message": {"content": [each]}}) for each in blocks]
    with path.open("a") as file:
        file.write("\n".join(lines) + "\n")


def test_calls_that_no_hook_told_of_are_shown_as_ungated(tmp_path: Path) -> None:
    world, path = World(), tmp_path / "t.jsonl"
    said: list[Event] = []
    transcripts = Transcripts(Still(), world.engine.coverage.knows, said.append)
    transcripts.heard(started(path))
    world.send(pre(shell("low", "told")), 1)
    world.send(post(shell("low", "told")))
    for name in ("told", "untold"):
        turn(path, name)
    anyio.run(transcripts.read, ("claude", "one"))
    (event,) = said
    assert (event.native, event.tool and event.tool.call_id) == (NATIVE, "untold")
    world.send(event)
    assert [r.data["cause"] for r in world.all("effect.ungated")] == ["unknown"]
    turn(path, "third")
    anyio.run(transcripts.read, ("claude", "one"))
    assert [e.tool.call_id for e in said if e.tool] == ["untold", "third"]


def test_a_turn_that_ends_makes_the_transcript_due(tmp_path: Path) -> None:
    path, said = tmp_path / "t.jsonl", anyio.Event()

    async def main() -> None:
        transcripts = Transcripts(Still(), lambda *_: False, lambda _: said.set())
        transcripts.heard(other("turn.end"))
        transcripts.heard(started(path))
        turn(path, "c1")
        transcripts.heard(other("turn.end"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcripts.run)
            with anyio.fail_after(30):
                await said.wait()
            tasks.cancel_scope.cancel()

    anyio.run(main)


def test_an_agent_whose_transcript_nobody_can_read_is_left_alone(tmp_path: Path) -> None:
    path, said = tmp_path / "t.jsonl", list[Event]()
    transcripts = Transcripts(Still(), lambda *_: False, said.append)
    transcripts.heard(msgspec.structs.replace(started(path), agent="gemini"))
    turn(path, "c1")
    anyio.run(transcripts.read, ("gemini", "one"))
    assert said == []
