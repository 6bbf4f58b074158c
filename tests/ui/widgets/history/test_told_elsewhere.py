"""The timeline of a call says who else was told that it waits, and who could not be."""

from __future__ import annotations

from tests.core.builders import pre
from tests.core.world import World
from watchgate.core.gate import record_builders
from watchgate.core.history.call_history import fold_history
from watchgate.core.model.records import EscalatedData
from watchgate.ui.widgets.history.call_timeline import TimelineStep, timeline_of


def timeline(*told: EscalatedData) -> list[TimelineStep]:
    """The steps of a held call of which these were told."""
    world = World()
    request = world.ask(pre(), 1)
    for each in told:
        world.do([record_builders.about(request, "approval.escalated", each, world.now)])
    (row,) = fold_history(world.records, 10)
    return timeline_of(world.records, row)[-len(told) :]


def test_who_was_told_stands_there_with_how_long_nobody_answered() -> None:
    (step,) = timeline(EscalatedData(to="ana", waited_s=60))
    assert (step.words, step.about, step.loud) == (
        "told ana",
        "after 1:00 without an answer",
        False,
    )


def test_who_could_not_be_told_is_loud_and_says_why() -> None:
    (step,) = timeline(EscalatedData(to="ops\u202e", waited_s=60, detail="it answered 503"))
    assert (step.words, step.about, step.loud) == (
        "could not tell ops<U+202E>",
        "it answered 503",
        True,
    )
