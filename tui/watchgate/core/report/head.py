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
    """The session's name, and where, when and with what it ran."""
    facts = element("dl", *_facts(story, zone), class_="facts")
    return element("header", element("p", "watchgate", class_="brand"), *_title(story), facts)


def drawn_figures(story: Story, found: Figures) -> Element:
    """The figures, each with what it is made of."""
    cost = story.usage.cost if story.usage else None
    cards = (
        ("calls", f"{found.calls:,}", _calls(found), ""),
        ("asked", f"{found.asked:,}", _asked(found), ""),
        ("allowed", f"{found.allowed:,}", _allowed(found), ""),
        ("denied", f"{found.denied:,}", _denied(found), "denied" if found.denied else ""),
        ("alarms", f"{found.alarms:,}", _alarms(found), "alarm" if found.alarms else ""),
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
    for name, told in facts.items():
        yield element("dt", name)
        yield element("dd", told)


def _card(name: str, figure: str, about: str, class_: str) -> Element:
    return element(
        "div",
        element("span", name, class_="name"),
        element("strong", figure),
        element("span", about, class_="about"),
        class_=f"card {class_}".strip(),
    )


def _calls(found: Figures) -> str:
    told = [f"{found.failed:,} failed" if found.failed else ""]
    told.append(f"{found.ungated:,} ran ungated" if found.ungated else "")
    told.append(f"{found.handed_back:,} handed back" if found.handed_back else "")
    return _joined(told, "none failed")


def _asked(found: Figures) -> str:
    if found.waited_s is None:
        return "none answered by a person" if found.asked else ""
    return f"answered after {person(found.waited_s)} (median)"


def _allowed(found: Figures) -> str:
    told = [f"{found.by_person:,} by a person" if found.by_person else ""]
    others = found.allowed - found.by_person
    told.append(f"{others:,} by rule or grant" if others else "")
    return _joined(told)


def _denied(found: Figures) -> str:
    others = found.denied - found.refused - found.by_rule - found.timed_out
    told = [f"{found.refused:,} by a person" if found.refused else ""]
    told.append(f"{found.by_rule:,} by rule" if found.by_rule else "")
    told.append(f"{found.timed_out:,} timed out" if found.timed_out else "")
    told.append(f"{others:,} with nobody asked" if others else "")
    return _joined(told)


def _alarms(found: Figures) -> str:
    return "ran against or without a decision" if found.alarms else "none"


def _tokens(story: Story) -> str:
    tokens = story.usage.tokens if story.usage else None
    if tokens is None:
        return "not told by the agent"
    least = "at least " if story.usage and story.usage.partial else ""
    return f"{least}{tokens.read:,} tokens read, {plural(tokens.output, 'token')} written"


def _joined(told: list[str], nothing: str = "") -> str:
    return ", ".join(filter(None, told)) or nothing
