"""The page: head, figures, what was decided, every call in its order, and the proof."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from datetime import tzinfo
from hashlib import sha256
from itertools import groupby
from shlex import quote
from xml.etree.ElementTree import Element

import msgspec

from watchgate.core.amounts import plural
from watchgate.core.report.call_view import drawn_call, line
from watchgate.core.report.elements import element, html
from watchgate.core.report.figures import figures
from watchgate.core.report.formats import clock, day
from watchgate.core.report.head import drawn_figures, drawn_head
from watchgate.core.report.notes import drawn_note
from watchgate.core.report.story import Called, Noted, Story
from watchgate.core.report.style import STYLE

_DIGEST = b64encode(sha256(STYLE.encode()).digest()).decode()
# Were a fault of ours to let something through, the browser would still load and run nothing.
_POLICY = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"


class Proof(msgspec.Struct, frozen=True):
    """The verification of the whole journal, in words; `made_at` (UTC µs) is when it was done.

    `program` names what looked.
    """

    sound: bool
    words: str
    made_at: int
    program: str


def page(story: Story, proof: Proof, zone: tzinfo | None = None) -> Iterator[str]:
    """Yields the page in pieces, one for each call; times are by the clock of `zone`."""
    yield "<!DOCTYPE html>\n"
    yield '<html lang="en">'
    yield html(_meta(story))
    yield "<body><main>"
    yield html(drawn_head(story, zone))
    if not proof.sound:
        yield html(element("p", "The journal is not sound: ", proof.words, class_="broken"))
    yield html(drawn_figures(story, figures(story)))
    if loud := [each for each in story.calls if each.row.glyph]:
        yield html(_index(loud, zone))
    yield "<section>"
    yield html(element("h2", "What happened"))
    for date, entries in groupby(story.entries, lambda entry: day(_at(entry), zone)):
        yield html(element("h3", date))
        for entry in entries:
            yield html(_drawn(entry, zone))
    yield "</section>"
    yield html(_proof(story, proof, zone))
    yield "</main></body></html>\n"


def _meta(story: Story) -> Element:
    title = f"{story.view.label} - {story.agent} - watchgate"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", **{"http-equiv": "Content-Security-Policy", "content": _POLICY}),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        _style(),
    )


def _style() -> Element:
    made = element("style")
    made.text = STYLE
    return made


def _index(calls: list[Called], zone: tzinfo | None) -> Element:
    """Draws the calls that the gate decided, alarms first."""
    ordered = sorted(calls, key=lambda each: (not each.row.alarm, each.seq))
    return element(
        "section",
        element("h2", "What the gate decided"),
        element("nav", *(line(each.row, zone) for each in ordered)),
        class_="index",
    )


def _drawn(entry: Called | Noted, zone: tzinfo | None) -> Element:
    if isinstance(entry, Called):
        return drawn_call(entry, zone)
    return drawn_note(entry.record, zone)


def _at(entry: Called | Noted) -> int:
    return entry.row.at if isinstance(entry, Called) else entry.record.at


def _proof(story: Story, proof: Proof, zone: tzinfo | None) -> Element:
    first, last = story.first, story.last
    owner = f"{story.agent}:{story.session}"
    left = ", ".join(f"{count:,} {kind}" for kind, count in sorted(story.left_out.items()))
    made = f"{day(proof.made_at, zone)}, {clock(proof.made_at, zone)}"
    return element(
        "section",
        element("h2", "Proof"),
        element(
            "p",
            "Every record carries the hash of the one before it. Whether this page says what was "
            "recorded, the journal tells: compare these hashes with those of ",
            element("code", f"watchgate export --session {quote(owner)}"),
            ", and run ",
            element("code", "watchgate audit verify"),
            ".",
        ),
        element(
            "dl",
            element("dt", "records"),
            element("dd", plural(story.count, "record"), " of the session"),
            element("dt", "first"),
            element("dd", f"record {first.seq:,} ", element("code", first.hash)),
            element("dt", "last"),
            element("dd", f"record {last.seq:,} ", element("code", last.hash)),
            element("dt", "journal"),
            element("dd", proof.words, class_="" if proof.sound else "loud"),
            element("dt", "not shown") if left else None,
            element("dd", left, " (the export as JSON lines has them)") if left else None,
            element("dt", "made"),
            element("dd", made, " by ", proof.program),
            class_="facts",
        ),
        class_="proof",
    )
