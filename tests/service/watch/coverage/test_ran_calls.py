"""Transcripts are followed as they grow, and tell of the calls that no hook told of."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import msgspec
import pytest

from tests.core.builders import other, pre, shell
from tests.core.world import World
from watchgate.agents.transcripts.transcript_ends import interrupted_at_us
from watchgate.agents.transcripts.transcript_lines import moment_us
from watchgate.agents.usage import UsagePlace
from watchgate.core.gate.gate_coverage import TRANSCRIPT
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.core.model.events import Event, SessionChange
from watchgate.service.system.system_clock import SystemClock
from watchgate.service.watch.coverage.ran_calls import LOOK_S, TranscriptFollower

SAID = "2036-11-21T10:00:00.000Z"
LONG_AGO = "2016-11-21T10:00:00.000Z"


class Follower:
    """The transcripts below one folder, held against one engine."""

    def __init__(self, root: Path, *places: UsagePlace) -> None:
        self.world = World()
        self.events: list[Event] = []
        place = UsagePlace(agent="claude", root=str(root), pattern="*/*.jsonl")
        self.transcripts = TranscriptFollower(
            places or (place,), SystemClock(), self.knows, self.events.append
        )

    def knows(self, asked: TranscriptCall) -> bool:
        return self.world.engine.coverage.knows_call(asked.agent, asked.session, asked.tool)

    def look(self) -> list[str | None]:
        """The ids of the calls that one look finds and that nobody told of."""
        before = len(self.events)
        for asked in self.transcripts.look():
            self.transcripts.tell(asked)
        return [each.tool.call_id for each in self.events[before:] if each.tool]


def turn(path: Path, call_id: str, said: str = SAID) -> None:
    """One call of a turn, appended to the transcript."""
    blocks = [
        {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "make"}},
        {"type": "tool_result", "tool_use_id": call_id},
    ]
    kinds = ("assistant", "user")
    lines = [
        json.dumps(
            {"type": kind, "sessionId": "one", "timestamp": said, "message": {"content": [each]}}
        )
        for kind, each in zip(kinds, blocks, strict=True)
    ]
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write("\n".join(lines) + "\n")


def test_calls_that_no_hook_told_of_are_shown_as_ungated(tmp_path: Path) -> None:
    follower, path = Follower(tmp_path), tmp_path / "p" / "t.jsonl"
    follower.world.send(pre(shell("low", "told")), 1)
    for name in ("told", "untold"):
        turn(path, name)
    assert follower.look() == ["untold"]
    (event,) = follower.events
    assert (event.native, event.agent, event.session) == (TRANSCRIPT, "claude", "one")
    follower.world.send(event)
    assert [r.data["cause"] for r in follower.world.all("effect.ungated")] == ["unknown"]
    turn(path, "third")
    assert follower.look() == ["third"]


def test_what_was_there_before_the_core_is_not_told_and_what_is_added_is(tmp_path: Path) -> None:
    path = tmp_path / "p" / "t.jsonl"
    turn(path, "old", LONG_AGO)
    follower = Follower(tmp_path)
    turn(path, "copied", LONG_AGO)
    turn(path, "new")
    assert follower.look() == ["new"]


def test_a_transcript_that_a_hook_names_is_followed_wherever_it_lies(tmp_path: Path) -> None:
    follower, path = Follower(tmp_path / "elsewhere"), tmp_path / "p" / "t.jsonl"
    turn(path, "c1")
    named = SessionChange(what="startup", transcript=str(path))
    event = msgspec.structs.replace(other("session.start"), body=named)
    follower.transcripts.on_event(msgspec.structs.replace(event, agent="droid"))
    assert follower.look() == [], "an agent whose transcripts nobody can read"
    follower.transcripts.on_event(event)
    assert follower.look() == ["c1"]


@pytest.mark.parametrize("odd", ["link", "fifo", "gone"])
def test_a_path_that_is_no_file_of_ours_is_passed_over(tmp_path: Path, odd: str) -> None:
    import os

    follower, path = Follower(tmp_path), tmp_path / "p" / "t.jsonl"
    path.parent.mkdir()
    if odd == "link":
        turn(tmp_path / "real.jsonl", "c1")
        path.symlink_to(tmp_path / "real.jsonl")
    elif odd == "fifo":
        os.mkfifo(path)
    else:
        turn(path, "c1", LONG_AGO)
        follower.look()
        path.unlink()
    assert follower.look() == []


def test_a_call_is_told_within_two_seconds_of_its_line(tmp_path: Path) -> None:
    """Two looks, half a second apart: the limit leaves room for a busy machine."""
    assert 2 * LOOK_S <= 1.0
    path, told = tmp_path / "p" / "t.jsonl", anyio.Event()

    async def main() -> None:
        place = UsagePlace(agent="claude", root=str(tmp_path), pattern="*/*.jsonl")
        transcripts = TranscriptFollower(
            (place,), SystemClock(), lambda _: False, lambda _: told.set()
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcripts.run)
            turn(path, "c1")
            with anyio.fail_after(30):
                await told.wait()
            tasks.cancel_scope.cancel()

    anyio.run(main)


def test_a_call_that_a_hook_tells_of_a_moment_later_is_no_alarm(tmp_path: Path) -> None:
    """Between finding a result and telling of it a whole look passes."""
    path = tmp_path / "p" / "t.jsonl"
    looks: list[list[TranscriptCall]] = []
    told: list[Event] = []
    over = anyio.Event()

    def say(event: Event) -> None:
        told.append(event)
        over.set()

    def knows(asked: TranscriptCall) -> bool:
        return asked.tool.call_id == "late" and len(looks) > 1

    async def main() -> None:
        place = UsagePlace(agent="claude", root=str(tmp_path), pattern="*/*.jsonl")
        transcripts = TranscriptFollower((place,), SystemClock(), knows, say)
        look = transcripts.look

        def counted() -> list[TranscriptCall]:
            looks.append(look())
            return looks[-1]

        transcripts.look = counted  # type: ignore[method-assign] # what is heard while it looks
        turn(path, "late")
        turn(path, "never")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcripts.run)
            with anyio.fail_after(30):
                await over.wait()
            tasks.cancel_scope.cancel()

    anyio.run(main)
    assert [each.tool.call_id for each in told if each.tool] == ["never"]


def line(text: str, **more: object) -> str:
    """A line of the person's in a transcript of Claude Code."""
    content = [{"type": "text", "text": text}]
    told = {"type": "user", "sessionId": "t", "timestamp": SAID, "message": {"content": content}}
    return json.dumps({**told, **more}) + "\n"


BROKEN_OFF = "[Request interrupted by user for tool use]"


@pytest.mark.parametrize(
    ("text", "more", "told"),
    [
        (BROKEN_OFF, {}, True),
        ("[Request interrupted by user]", {}, True),
        (f"the words {BROKEN_OFF} were quoted", {}, False),
        (BROKEN_OFF, {"type": "assistant"}, False),
        (BROKEN_OFF, {"isSidechain": True}, False),
        (BROKEN_OFF, {"timestamp": LONG_AGO}, False),
    ],
)
def test_a_turn_that_a_person_broke_off_is_told_at_once(
    tmp_path: Path, text: str, more: dict[str, object], told: bool
) -> None:
    broken_off: list[tuple[str, str, int]] = []
    place = UsagePlace(agent="claude", root=str(tmp_path), pattern="*/*.jsonl")
    transcripts = TranscriptFollower(
        (place,),
        SystemClock(),
        lambda _asked: True,
        lambda _event: None,
        lambda *each: broken_off.append(each),
    )
    path = tmp_path / "p" / "t.jsonl"
    path.parent.mkdir()
    path.write_text(line(text, **more))
    transcripts.look()
    transcripts.tell_interruptions()
    transcripts.tell_interruptions()
    assert [each[:2] for each in broken_off] == ([("claude", "t")] if told else [])


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("codex", '{"timestamp":"%s","type":"event_msg","payload":{"type":"turn_aborted"}}'),
        ("copilot", '{"type":"abort","data":{"reason":"user initiated"},"timestamp":"%s"}'),
    ],
)
def test_other_agents_say_it_in_their_own_lines(agent: str, text: str) -> None:
    chunk = (text % SAID).encode()
    assert interrupted_at_us(agent, chunk) == moment_us(SAID)
    assert interrupted_at_us(agent, b"no json abort turn_aborted\n") is None
    assert interrupted_at_us("gemini", chunk) is None
