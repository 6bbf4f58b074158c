"""The top of the page: whose session it is, what it comes to, and what is wrong.

- A session in numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from statistics import median
from xml.etree.ElementTree import Element

import msgspec

from watchgate.core.base.amounts import plural
from watchgate.core.model.records import Record
from watchgate.core.report.call_steps import CallEntry, Story
from watchgate.core.report.report_html import (
    clock_text,
    day_text,
    elapsed_text,
    element,
    money,
    offset,
    waited_text,
)


class SessionFigures(msgspec.Struct, frozen=True, kw_only=True):
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


def count_figures(story: Story) -> SessionFigures:
    """Counts a session's calls, by the same words as the history shows."""
    calls = story.calls
    allowed, denied = _glyphs(calls, "+="), _glyphs(calls, "xT")
    back = _glyphs(calls, "b")
    waits = [each.row.waited_s for each in calls if each.row.word.endswith("-by-operator")]
    return SessionFigures(
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


def _glyphs(calls: Sequence[CallEntry], glyphs: str) -> list[CallEntry]:
    return [each for each in calls if each.row.glyph and each.row.glyph in glyphs]


def drawn_head(story: Story, zone: tzinfo | None) -> Element:
    """Draws the session's name, and where, when and with what it ran."""
    facts = element("dl", *_facts(story, zone), class_="facts")
    return element("header", element("p", "watchgate", class_="brand"), *_title(story), facts)


def drawn_figures(story: Story, figures: SessionFigures) -> Element:
    """Draws the figures, each with what it is made of."""
    cost = story.usage.cost if story.usage else None
    cards = (
        ("calls", f"{figures.calls:,}", _calls(figures), ""),
        ("asked", f"{figures.asked:,}", _asked(figures), ""),
        ("allowed", f"{figures.allowed:,}", _allowed(figures), ""),
        ("denied", f"{figures.denied:,}", _denied(figures), "denied" if figures.denied else ""),
        ("alarms", f"{figures.alarms:,}", _alarms(figures), "alarm" if figures.alarms else ""),
        ("cost", money(cost), _tokens(story), ""),
    )
    return element("section", *(_card(*card) for card in cards), class_="figures")


def _title(story: Story) -> Iterator[Element]:
    where = element("span", f" {story.agent}", class_="agent")
    yield element("h1", element("span", story.view.label), where)


def _facts(story: Story, zone: tzinfo | None) -> Iterator[Element]:
    view, first, last = story.view, story.first, story.last
    models = story.usage.models if story.usage else ()
    began = f"{day_text(first.at, zone)}, {clock_text(first.at, zone)}"
    same_day = day_text(first.at, zone) == day_text(last.at, zone)
    until = (
        clock_text(last.at, zone)
        if same_day
        else f"{day_text(last.at, zone)}, {clock_text(last.at, zone)}"
    )
    lasted = elapsed_text(max(0, last.at - first.at) / 1_000)
    mode = f"{view.mode or 'not told'}{', works on its own' if view.autonomous else ''}"
    facts = {
        "session": story.session,
        "folder": view.cwd or "not told",
        "model": ", ".join(models) or view.model or "not told",
        "mode": mode,
        "time": f"{began} to {until} ({offset(first.at, zone)}), {lasted}",
        "state": "ended" if view.state == "gone" else f"{view.state} when last heard of",
    }
    for name, fact in facts.items():
        yield element("dt", name)
        yield element("dd", fact)


def _card(name: str, figure: str, about: str, class_: str) -> Element:
    return element(
        "div",
        element("span", name, class_="name"),
        element("strong", figure),
        element("span", about, class_="about"),
        class_=f"card {class_}".strip(),
    )


def _calls(figures: SessionFigures) -> str:
    parts = [f"{figures.failed:,} failed" if figures.failed else ""]
    parts.append(f"{figures.ungated:,} ran ungated" if figures.ungated else "")
    parts.append(f"{figures.handed_back:,} handed back" if figures.handed_back else "")
    return _joined(parts, "none failed")


def _asked(figures: SessionFigures) -> str:
    if figures.waited_s is None:
        return "none answered by a person" if figures.asked else ""
    return f"answered after {waited_text(figures.waited_s)} (median)"


def _allowed(figures: SessionFigures) -> str:
    parts = [f"{figures.by_person:,} by a person" if figures.by_person else ""]
    others = figures.allowed - figures.by_person
    parts.append(f"{others:,} by rule or grant" if others else "")
    return _joined(parts)


def _denied(figures: SessionFigures) -> str:
    others = figures.denied - figures.refused - figures.by_rule - figures.timed_out
    parts = [f"{figures.refused:,} by a person" if figures.refused else ""]
    parts.append(f"{figures.by_rule:,} by rule" if figures.by_rule else "")
    parts.append(f"{figures.timed_out:,} timed out" if figures.timed_out else "")
    parts.append(f"{others:,} with nobody asked" if others else "")
    return _joined(parts)


def _alarms(figures: SessionFigures) -> str:
    return "ran against or without a decision" if figures.alarms else "none"


def _tokens(story: Story) -> str:
    tokens = story.usage.tokens if story.usage else None
    if tokens is None:
        return "not told by the agent"
    bound = "at least " if story.usage and story.usage.partial else ""
    return f"{bound}{tokens.read:,} tokens read, {plural(tokens.output, 'token')} written"


def _joined(parts: list[str], nothing: str = "") -> str:
    return ", ".join(filter(None, parts)) or nothing
