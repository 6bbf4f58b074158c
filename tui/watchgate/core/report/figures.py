"""A session in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from watchgate.core.records import Record
from watchgate.core.report.story import Called, Story


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of calls: each is in one of `allowed`, `denied`, `handed_back` and `other`.

    `by_person` of those allowed and `refused` of those denied were answered by a person, `by_rule`
    of those denied by a rule; the rest were denied for a cause such as that nobody was there.
    `asked` were put to a person; `waited_s` is how long the answers took, half of them at most.
    """

    calls: int
    asked: int
    allowed: int
    by_person: int
    denied: int
    refused: int
    by_rule: int
    timed_out: int
    handed_back: int
    other: int
    failed: int
    ungated: int
    alarms: int
    waited_s: float | None


def figures(story: Story) -> Figures:
    """Counts a session's calls, by the same words as the history shows."""
    calls = story.calls
    allowed, denied = _glyphs(calls, "+="), _glyphs(calls, "xT")
    back = _glyphs(calls, "b")
    waits = [each.row.waited_s for each in calls if each.row.word.endswith("-by-operator")]
    return Figures(
        calls=len(calls),
        asked=sum(each.row.request is not None for each in calls),
        allowed=len(allowed),
        by_person=len(_glyphs(allowed, "+")),
        denied=len(denied),
        refused=sum(each.row.word == "denied-by-operator" for each in denied),
        by_rule=sum(each.row.word == "denied-by-rule" for each in denied),
        timed_out=len(_glyphs(denied, "T")),
        handed_back=len(back),
        other=len(calls) - len(allowed) - len(denied) - len(back),
        failed=sum(any(map(_failed, each.records)) for each in calls),
        ungated=sum(each.row.outcome == "ran ungated" for each in calls),
        alarms=sum(each.row.alarm for each in calls),
        waited_s=median(waits) if waits else None,
    )


def _failed(record: Record) -> bool:
    return record.kind == "tool.error" or record.data.get("ok") is False


def _glyphs(calls: Sequence[Called], glyphs: str) -> list[Called]:
    return [each for each in calls if each.row.glyph and each.row.glyph in glyphs]
