"""The top of the page: whose session it is, what it comes to, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from xml.etree.ElementTree import Element

from watchgate.core.amounts import plural
from watchgate.core.report.elements import element
from watchgate.core.report.figures import Figures
from watchgate.core.report.formats import clock, day, money, offset, person, took
from watchgate.core.report.story import Story


def drawn_head(story: Story, zone: tzinfo | None) -> Element:
    """Draws the session's name, and where, when and with what it ran."""
    facts = element("dl", *_facts(story, zone), class_="facts")
    return element("header", element("p", "watchgate", class_="brand"), *_title(story), facts)


def drawn_figures(story: Story, figures: Figures) -> Element:
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
    began = f"{day(first.at, zone)}, {clock(first.at, zone)}"
    same_day = day(first.at, zone) == day(last.at, zone)
    until = clock(last.at, zone) if same_day else f"{day(last.at, zone)}, {clock(last.at, zone)}"
    lasted = took(max(0, last.at - first.at) / 1_000)
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


def _calls(figures: Figures) -> str:
    parts = [f"{figures.failed:,} failed" if figures.failed else ""]
    parts.append(f"{figures.ungated:,} ran ungated" if figures.ungated else "")
    parts.append(f"{figures.handed_back:,} handed back" if figures.handed_back else "")
    return _joined(parts, "none failed")


def _asked(figures: Figures) -> str:
    if figures.waited_s is None:
        return "none answered by a person" if figures.asked else ""
    return f"answered after {person(figures.waited_s)} (median)"


def _allowed(figures: Figures) -> str:
    parts = [f"{figures.by_person:,} by a person" if figures.by_person else ""]
    others = figures.allowed - figures.by_person
    parts.append(f"{others:,} by rule or grant" if others else "")
    return _joined(parts)


def _denied(figures: Figures) -> str:
    others = figures.denied - figures.refused - figures.by_rule - figures.timed_out
    parts = [f"{figures.refused:,} by a person" if figures.refused else ""]
    parts.append(f"{figures.by_rule:,} by rule" if figures.by_rule else "")
    parts.append(f"{figures.timed_out:,} timed out" if figures.timed_out else "")
    parts.append(f"{others:,} with nobody asked" if others else "")
    return _joined(parts)


def _alarms(figures: Figures) -> str:
    return "ran against or without a decision" if figures.alarms else "none"


def _tokens(story: Story) -> str:
    tokens = story.usage.tokens if story.usage else None
    if tokens is None:
        return "not told by the agent"
    bound = "at least " if story.usage and story.usage.partial else ""
    return f"{bound}{tokens.read:,} tokens read, {plural(tokens.output, 'token')} written"


def _joined(parts: list[str], nothing: str = "") -> str:
    return ", ".join(filter(None, parts)) or nothing
