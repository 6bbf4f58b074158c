"""Events between the calls: prompts, turns, and changes of the gate."""

from __future__ import annotations

from datetime import tzinfo
from xml.etree.ElementTree import Element

from watchgate.core.amounts import plural
from watchgate.core.record_fields import words
from watchgate.core.records import Record
from watchgate.core.report.elements import cut, element
from watchgate.core.report.fields import number, text
from watchgate.core.report.formats import clock

_NAMES = {
    "session.start": "session began",
    "session.end": "session ended",
    "prompt.submit": "prompt",
    "turn.end": "turn ended",
    "turn.error": "turn failed",
    "turn.interrupt": "interrupted",
    "agent.start": "sub-agent began",
    "agent.stop": "sub-agent ended",
    "compact.pre": "context is shortened",
    "compact.post": "context was shortened",
    "policy.started": "core started",
    "policy.profile": "another profile",
    "policy.off": "gate off",
    "policy.on": "gate on again",
    "policy.ungated": "not gated",
    "policy.paused": "paused",
    "policy.inferred": "inferred",
}
_LOUD = ("policy.off", "policy.profile", "policy.ungated", "turn.error")


def drawn_note(record: Record, zone: tzinfo | None) -> Element:
    """Draws one line; of a text that was not recorded it shows the length."""
    length = number(record.data, "text_chars")
    content = (
        _content(record) if length is None else f"{plural(int(length), 'character')}, not kept"
    )
    shown, left = cut(content)
    return element(
        "p",
        element("time", clock(record.at, zone)),
        element("span", _NAMES.get(record.kind, record.kind), class_="kind"),
        element("span", shown, class_="said"),
        element("span", left, class_="left") if left else None,
        class_="note loud" if record.kind in _LOUD else "note",
    )


def _content(record: Record) -> str:
    """Returns the content of the record without the name of its kind."""
    if record.kind not in _NAMES or not record.kind.startswith("policy."):
        return words(record)
    texts = (text(record.data, key) for key in ("why", "detail", "name"))
    return ", ".join(filter(None, texts))
