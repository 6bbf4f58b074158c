"""The page: head, figures, what was decided, every call in its order, and the proof.

- Events between the calls: prompts, turns, and changes of the gate.
- The look of the page: the console's colours, in daylight, in the dark and on paper.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from datetime import tzinfo
from hashlib import sha256
from itertools import groupby
from shlex import quote
from typing import Final
from xml.etree.ElementTree import Element

import msgspec

from watchgate.core.base.amounts import plural
from watchgate.core.filters.filter_fields import record_text
from watchgate.core.model.records import Record
from watchgate.core.report.call_steps import CallEntry, RecordEntry, Story, number_in, text_in
from watchgate.core.report.call_view import drawn_call, line
from watchgate.core.report.page_head import count_figures, drawn_figures, drawn_head
from watchgate.core.report.report_html import clock_text, cut, day_text, element, html

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
    length = number_in(record.data, "text_chars")
    content = (
        _content(record) if length is None else f"{plural(int(length), 'character')}, not kept"
    )
    shown, left = cut(content)
    return element(
        "p",
        element("time", clock_text(record.at, zone)),
        element("span", _NAMES.get(record.kind, record.kind), class_="kind"),
        element("span", shown, class_="said"),
        element("span", left, class_="left") if left else None,
        class_="note loud" if record.kind in _LOUD else "note",
    )


def _content(record: Record) -> str:
    """Returns the content of the record without the name of its kind."""
    if record.kind not in _NAMES or not record.kind.startswith("policy."):
        return record_text(record)
    texts = (text_in(record.data, key) for key in ("why", "detail", "name"))
    return ", ".join(filter(None, texts))


STYLE: Final = """
:root {
  color-scheme: light dark;
  --bg: #fcfcfd; --card: #ffffff; --s1: #f0f1f5; --s2: #e5e7ee; --line: #dfe2ea;
  --fg: #1f232b; --dim: #576072; --accent: #5a3bc2;
  --medium: #0668b5; --high: #8a6000; --critical: #b30f3b; --alarm: #b3261e;
  --good: #0b4d44; --good-ground: #d3f0ea; --bad: #861b33; --bad-ground: #fbdfe4;
  --mono: ui-monospace, "JetBrains Mono", "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --bg: #0f1115; --card: #151820; --s1: #171a21; --s2: #21252f; --line: #262b36;
    --fg: #d8dbe2; --dim: #939bab; --accent: #b7a6ff;
    --medium: #56b4e9; --high: #f0c419; --critical: #ff6a3d; --alarm: #c8372e;
    --good: #96dfd3; --good-ground: #12302e; --bad: #f0afbd; --bad-ground: #3a212b;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 2rem; }
body { margin: 0; background: var(--bg); color: var(--fg); font: 0.94rem/1.55 var(--sans); }
main { max-width: 68rem; margin: 0 auto; padding: 2.5rem 1.5rem 5rem; }
code, pre, .what, .said { unicode-bidi: isolate; direction: ltr; }
code, pre { font-family: var(--mono); font-size: 0.92em; }
a { color: inherit; text-decoration: none; }
p { margin: 0; }

.brand { color: var(--accent); font: 600 0.95rem var(--mono); }
h1 { margin: 0.1rem 0 1.1rem; font-size: 2.1rem; line-height: 1.2; letter-spacing: -0.02em;
  overflow-wrap: anywhere; }
h1 .agent { color: var(--dim); font-weight: 400; }
h2 { margin: 2.8rem 0 0.9rem; font-size: 1.15rem; }
h3 { margin: 1.6rem 0 0.5rem; color: var(--dim); font-size: 0.9rem; font-weight: 600; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1.4rem; margin: 0; }
.facts dt { color: var(--dim); }
.facts dd { margin: 0; overflow-wrap: anywhere; }

.figures { display: grid; grid-template-columns: repeat(6, 1fr); gap: 0.8rem; margin-top: 2rem; }
.card { display: flex; flex-direction: column; padding: 0.8rem 1rem 0.9rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 10px; }
.card .name { color: var(--dim); font-size: 0.85rem; }
.card strong { font-size: 1.75rem; line-height: 1.3; font-weight: 650; letter-spacing: -0.02em;
  font-variant-numeric: tabular-nums; }
.card .about { color: var(--dim); font-size: 0.8rem; line-height: 1.35; }
.card.denied strong { color: var(--bad); }
.card.alarm { background: var(--alarm); border-color: var(--alarm); }
.card.alarm * { color: #fff; }
.broken { margin-top: 1.6rem; padding: 0.8rem 1.1rem; background: var(--alarm); color: #fff;
  border-radius: 10px; font-weight: 600; }

.line { display: grid; align-items: baseline; gap: 0 0.9rem;
  grid-template-columns: 4.6rem 1.6rem 5rem minmax(0, 1fr) max-content minmax(0, 9rem); }
.line time, .steps time, .note time { color: var(--dim); font: 0.85rem var(--mono);
  font-variant-numeric: tabular-nums; }
.line .risk { font-family: var(--mono); }
.line .tool, .line .by { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.line .tool { color: var(--dim); }
.line .by { color: var(--dim); font-size: 0.88rem; }
.line .what { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.line .end { font-size: 0.85rem; white-space: nowrap; }
.end.allowed, .end.denied, .end.alarm { padding: 0.05rem 0.55rem; border-radius: 6px;
  font-weight: 600; }
.end.allowed { background: var(--good-ground); color: var(--good); }
.end.denied { background: var(--bad-ground); color: var(--bad); }
.end.alarm { background: var(--alarm); color: #fff; }
.risk { font-weight: 700; }
.risk.medium { color: var(--medium); }
.risk.high, .risk.unknown { color: var(--high); }
.risk.critical { color: var(--critical); }
.risk.low { color: var(--dim); font-weight: 400; }

nav { padding: 0.4rem 0; background: var(--card); border: 1px solid var(--line);
  border-radius: 10px; }
nav .line { padding: 0.22rem 1rem; }
nav .line:hover { background: var(--s1); }

.call { padding: 0.7rem 1rem 0.8rem; margin: 0.45rem 0; background: var(--card);
  border: 1px solid var(--line); border-radius: 10px; }
.call.denied { border-left: 4px solid var(--bad); padding-left: calc(1rem - 3px); }
.call.allowed { border-left: 4px solid var(--good); padding-left: calc(1rem - 3px); }
.call.alarm { border: 2px solid var(--alarm); padding: calc(0.7rem - 1px) calc(1rem - 1px); }
.call:target { outline: 2px solid var(--accent); outline-offset: 2px; }
.call.quiet { padding-top: 0.4rem; padding-bottom: 0.45rem; margin: 0; background: none;
  border-color: transparent; border-radius: 0; }
.call.quiet + .call.quiet { border-top-color: var(--line); }
.call > :not(.line) { margin-left: 8rem; }
.call > .line .what { white-space: normal; overflow-wrap: anywhere; }
.call.denied > .line .what, .call.allowed > .line .what, .call.alarm > .line .what {
  font-weight: 600; }
.why { margin-top: 0.2rem; color: var(--dim); font-size: 0.92rem; }
.rule { color: var(--dim); font-size: 0.82em; }
.findings { margin: 0.5rem 0 0; padding: 0; list-style: none; }
.findings li { position: relative; padding-left: 5.3rem; overflow-wrap: anywhere; }
.findings .risk { position: absolute; left: 0; font-size: 0.88rem; }
.findings .rule { margin-left: 0.7rem; }
.safer { display: block; color: var(--dim); font-size: 0.9rem; }
.steps { margin: 0.5rem 0 0; padding: 0; list-style: none; font-size: 0.9rem; }
.steps li { display: flex; flex-wrap: wrap; gap: 0 0.9rem; align-items: baseline; }
.steps .step { font-weight: 600; }
.steps .loud, .loud { color: var(--bad); }
.steps .about { color: var(--dim); overflow-wrap: anywhere; }
.steps .seq { margin-left: auto; color: var(--dim); font-size: 0.82rem;
  font-variant-numeric: tabular-nums; }

pre { margin: 0.5rem 0 0; padding: 0.7rem 0.9rem; background: var(--s1); border-radius: 8px;
  white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; line-height: 1.5; }
figure { margin: 0.7rem 0 0; }
figcaption { color: var(--dim); font-size: 0.88rem; overflow-wrap: anywhere; }
.diff { padding: 0.4rem 0; }
.diff span { display: block; padding: 0 0.9rem; min-height: 1.5em; }
.diff .add { background: var(--good-ground); color: var(--good); }
.diff .del { background: var(--bad-ground); color: var(--bad); }
.diff .far { color: var(--dim); font-style: italic; }
.left { color: var(--dim); font-size: 0.88rem; font-style: italic; }

.folds { display: flex; flex-wrap: wrap; gap: 0 1.6rem; }
details { margin-top: 0.45rem; min-width: 0; }
details[open] { flex-basis: 100%; }
summary { color: var(--dim); font-size: 0.9rem; cursor: pointer; }
summary:hover { color: var(--fg); }
.wide { overflow-x: auto; }
table { width: 100%; margin-top: 0.3rem; border-collapse: collapse; font-size: 0.86rem; }
th { color: var(--dim); font-weight: 500; text-align: left; }
th, td { padding: 0.15rem 0.9rem 0.15rem 0; vertical-align: baseline; overflow-wrap: anywhere; }
td.name { font-family: var(--mono); }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.skipped { color: var(--dim); }

.note { display: flex; gap: 0.9rem; align-items: baseline; padding: 0.15rem 1rem;
  color: var(--dim); font-size: 0.92rem; }
.note time { flex: 0 0 4.6rem; }
.note .kind { flex: none; font-weight: 600; }
.note .said { overflow-wrap: anywhere; }
.note.loud .kind { color: var(--bad); }
.proof .facts { margin-top: 1rem; }
.proof p { max-width: 46rem; }

@media screen and (max-width: 56rem) {
  .figures { grid-template-columns: repeat(3, 1fr); }
  .line { grid-template-columns: 4.6rem 1.9rem minmax(0, 1fr) max-content; }
  .line .tool { grid-column: 3; }
  .line .end { grid-column: 4; grid-row: 1; }
  .line .what { grid-column: 1 / -1; }
  .line .by { grid-column: 1 / -1; }
  .call > :not(.line) { margin-left: 0; }
}
@media print {
  @page { margin: 16mm 14mm; }
  main { max-width: none; padding: 0; }
  :root { --bg: #ffffff; font-size: 12px; }
  .call, .card, nav { border-color: #c8ccd6; }
  .card, .line, .findings, .steps li { break-inside: avoid; }
  h2, h3, .line, figcaption { break-after: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


_DIGEST = b64encode(sha256(STYLE.encode()).digest()).decode()
# Were a fault of ours to let something through, the browser would still load and run nothing.
_POLICY = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"


class JournalProof(msgspec.Struct, frozen=True):
    """The verification of the whole journal, in words; `made_at` (UTC µs) is when it was done.

    `program` names what looked.
    """

    sound: bool
    words: str
    made_at: int
    program: str


def report_page(story: Story, proof: JournalProof, zone: tzinfo | None = None) -> Iterator[str]:
    """Yields the page in pieces, one for each call; times are by the clock of `zone`."""
    yield "<!DOCTYPE html>\n"
    yield '<html lang="en">'
    yield html(_meta(story))
    yield "<body><main>"
    yield html(drawn_head(story, zone))
    if not proof.sound:
        yield html(element("p", "The journal is not sound: ", proof.words, class_="broken"))
    yield html(drawn_figures(story, count_figures(story)))
    if loud := [each for each in story.calls if each.row.glyph]:
        yield html(_index(loud, zone))
    yield "<section>"
    yield html(element("h2", "What happened"))
    for date, entries in groupby(story.entries, lambda entry: day_text(_at(entry), zone)):
        yield html(element("h3", date))
        for entry in entries:
            yield html(_entry_html(entry, zone))
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


def _index(calls: list[CallEntry], zone: tzinfo | None) -> Element:
    """Draws the calls that the gate decided, alarms first."""
    ordered = sorted(calls, key=lambda each: (not each.row.alarm, each.seq))
    return element(
        "section",
        element("h2", "What the gate decided"),
        element("nav", *(line(each.row, zone) for each in ordered)),
        class_="index",
    )


def _entry_html(entry: CallEntry | RecordEntry, zone: tzinfo | None) -> Element:
    if isinstance(entry, CallEntry):
        return drawn_call(entry, zone)
    return drawn_note(entry.record, zone)


def _at(entry: CallEntry | RecordEntry) -> int:
    return entry.row.at if isinstance(entry, CallEntry) else entry.record.at


def _proof(story: Story, proof: JournalProof, zone: tzinfo | None) -> Element:
    first, last = story.first, story.last
    owner = f"{story.agent}:{story.session}"
    left = ", ".join(f"{count:,} {kind}" for kind, count in sorted(story.left_out.items()))
    made = f"{day_text(proof.made_at, zone)}, {clock_text(proof.made_at, zone)}"
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
