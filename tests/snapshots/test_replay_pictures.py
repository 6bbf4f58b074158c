"""Pictures of a replay; compare an SVG's diff by eye."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.snapshots.test_pictures import Picture, Shown, picture, themed
from tests.ui.picture import busy, quiet
from tests.ui.replay_bench import IDLE_AT, answers, idle, recorded
from watchgate.core.model.records import Record
from watchgate.ui.commands import navigation

ASKED = next(place for place, r in enumerate(recorded(), 1) if r.kind == "approval.requested")


def played(
    place: int, records: tuple[Record, ...] = recorded(), *keys: str
) -> Callable[[Shown], Awaitable[None]]:
    """A session played up to a place, from the History."""

    async def play(shown: Shown) -> None:
        shown.source.answer = answers
        navigation.history(shown.app)
        await shown.settle()
        shown.app.stage.play(records)
        await shown.until(lambda: shown.app.bridge.link.state == "attached")
        recording = shown.app.stage.recording
        assert recording is not None
        recording.player.step(place - recording.player.played)
        recording.moved()
        await shown.until(lambda: shown.app.bridge.state.seq == records[place - 1].seq)
        await shown.settle()
        await shown.press(*keys)

    return play


def test_a_replay(snap_compare: Picture) -> None:
    """120x40: paused where a request waited; nothing of it can be decided."""
    assert picture(snap_compare, quiet(), (120, 40), played(ASKED + 20, recorded(), "a"))


def test_a_replay_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24: idle time that was skipped."""
    assert picture(snap_compare, quiet(), (80, 24), played(IDLE_AT + 1, idle(2_465)))


def test_a_replay_while_somebody_waits(snap_compare: Picture) -> None:
    """120x40: two requests wait at the core meanwhile; the recording has come to its end."""
    assert picture(snap_compare, busy(), (120, 40), played(len(recorded())))


def test_the_help_of_a_replay(snap_compare: Picture) -> None:
    """120x40: its keys stand where those that decide stand otherwise."""
    assert picture(snap_compare, quiet(), (120, 40), played(60, recorded(), "question_mark"))


def test_a_replay_in_light(snap_compare: Picture) -> None:
    """120x40, the light theme, without what only the core could tell of the gate."""
    one = recorded()[ASKED - 1]
    about = tuple(r for r in recorded() if (r.agent, r.session) == (one.agent, one.session))
    place = about.index(one) + 1
    assert picture(snap_compare, quiet(), (120, 40), played(place, about), themed("light"))
