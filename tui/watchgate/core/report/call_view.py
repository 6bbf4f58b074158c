"""One call on the page: a line that says how it ended, and below it what led there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from xml.etree.ElementTree import Element

from watchgate.core import tool_input
from watchgate.core.amounts import plural
from watchgate.core.as_asked import columns_of
from watchgate.core.diff.blocks import blocks
from watchgate.core.events import Tool
from watchgate.core.history_row import HistoryRow
from watchgate.core.records import Record
from watchgate.core.report.edits import COMPARED_BYTES, drawn_edit
from watchgate.core.report.elements import Lines, cut, element
from watchgate.core.report.fields import Data, parts, pretty, text, tool
from watchgate.core.report.formats import clock, took
from watchgate.core.report.hooks import drawn_hooks
from watchgate.core.report.steps import steps
from watchgate.core.report.story import Called

RISKS = {"low": "", "medium": "!", "high": "!!", "critical": "!!!", "unknown": "?"}
_ENDS = {"+": "allowed", "=": "allowed", "x": "denied", "T": "denied", "#": "alarm"}
TOOL_CHARS = 60
_NOT_RECORDED = "not kept in the journal"


def drawn_call(called: Called, zone: tzinfo | None) -> Element:
    """Draws the call with everything that is known of it."""
    row = called.row
    return element(
        "article",
        line(row, zone),
        *_subject(called),
        *_why(called),
        _steps(called, zone),
        *_changes(called),
        element(
            "div", *_result(called), *_input(called), drawn_hooks(called.records), class_="folds"
        ),
        class_=f"call {_ENDS.get(row.glyph, 'quiet')}",
        id=anchor(row),
    )


def anchor(row: HistoryRow) -> str:
    """Returns the id of the call in links of the page."""
    return f"record-{row.first}"


def line(row: HistoryRow, zone: tzinfo | None) -> Element:
    """Draws the call in one line: time, risk, tool, what ran, how it ended, and by whom."""
    risk = row.risk if row.risk in RISKS else "unknown"
    ended = f"{row.glyph} {row.outcome}".strip()
    tool, call = columns_of(row, TOOL_CHARS)
    return element(
        "a",
        element("time", clock(row.at, zone)),
        element("b", RISKS[risk], class_=f"risk {risk}", title=f"risk: {risk}"),
        element("span", tool or "?", class_="tool"),
        element("code", call or _NOT_RECORDED, class_="what"),
        element("span", ended, class_=f"end {_ENDS.get(row.glyph, '')}".strip()),
        element("span", row.by or _took(row), class_="by"),
        class_="line",
        href=f"#{anchor(row)}",
    )


def _took(row: HistoryRow) -> str:
    return "" if row.took_ms is None else took(row.took_ms)


def _subject(called: Called) -> Iterator[Element]:
    """Draws what one line cannot show: a command of several lines, or the text of a plan."""
    subject_tool = _tool(called)
    if subject_tool is None:
        return
    whole = (
        tool_input.command(subject_tool)
        if subject_tool.cls == "shell"
        else text(subject_tool.input, "plan")
    )
    if whole and (whole != called.row.summary or "\n" in whole):
        yield from _block(whole, "command")


def _why(called: Called) -> Iterator[Element]:
    """Draws for whom it was, the policy's findings, and what the call would have touched."""
    if name := _sub_agent(called):
        yield element("p", f"for sub-agent {name}", class_="why")
    asked = _newest(called, "approval.requested")
    findings = parts(asked, "findings") if asked else []
    if findings:
        yield element("ul", *map(_finding, findings), class_="findings")
    elif called.row.reason:
        yield element("p", called.row.reason, " ", _rule(called.row.rule), class_="why")
    if asked and (raised := text(asked, "raised")):
        yield element("p", f"raised: {raised}", class_="why")
    facts = _newest(called, "approval.facts")
    touched = [text(fact, "text") for fact in parts(facts, "facts")] if facts else []
    if touched:
        yield element("p", "would touch: ", ", ".join(touched), class_="why")
    if was := called.row.asked:
        yield element("p", f"{was.verb}; the agent asked for: ", _risk(was.risk), class_="why")
        yield from _block(was.summary, "command")
    if asked and isinstance(before := asked.get("before"), dict):
        who = "an operator" if text(asked, "edited_from") else "a handler"
        yield _folded(f"what the agent had sent, before {who} changed it", pretty(before))


def _finding(finding: Data) -> Element:
    risk = text(finding, "risk")
    safer = text(finding, "suggest")
    return element(
        "li",
        element("b", risk, class_=f"risk {risk}" if risk in RISKS else "risk unknown"),
        element("span", text(finding, "reason")),
        _rule(text(finding, "rule")),
        element("span", f"safer: {safer}", class_="safer") if safer else None,
    )


def _risk(risk: str) -> Element | None:
    """Draws a risk as its word; None where it is unknown."""
    return None if risk in ("unknown", "") else element("b", risk, class_=f"risk {risk}")


def _rule(rule: str) -> Element | None:
    return element("code", rule, class_="rule") if rule else None


def _steps(called: Called, zone: tzinfo | None) -> Element | None:
    """Draws the steps of a call; of one that nobody held the line above has shown all."""
    step_list = steps(called)
    if not called.row.glyph and not any(step.loud for step in step_list):
        return None
    return element(
        "ol",
        *(
            element(
                "li",
                element("time", clock(step.at, zone)),
                element("span", step.what, class_="step loud" if step.loud else "step"),
                element("span", step.about, class_="about"),
                element("span", f"record {step.seq:,}", class_="seq"),
            )
            for step in step_list
        ),
        class_="steps",
    )


def _changes(called: Called) -> Iterator[Element]:
    edit_tool = _tool(called)
    if edit_tool is None or edit_tool.cls != "edit":
        return
    if sum(map(len, _texts(edit_tool.input))) > COMPARED_BYTES:
        yield element("p", "too long to be shown: the export as JSON lines has it", class_="left")
        return
    yield from map(drawn_edit, blocks(edit_tool))


def _input(called: Called) -> Iterator[Element]:
    """Draws the whole input, folded; of a call that is one command nothing is left to show."""
    input_tool = _tool(called)
    if input_tool is None or (
        input_tool.cls == "shell" and set(input_tool.input) <= tool_input.COMMANDS
    ):
        return
    yield _folded("input", pretty(input_tool.input))


def _result(called: Called) -> Iterator[Element]:
    for record in called.records:
        if record.kind in ("tool.post", "tool.error") and (output := text(record.data, "result")):
            yield _folded(f"result, {plural(len(output), 'character')}", output)


def _folded(title: str, whole: str) -> Element:
    return element("details", element("summary", title), *_block(whole))


def _block(whole: str, class_: str = "") -> Iterator[Element]:
    shown, left = cut(whole)
    yield element("pre", Lines(shown), class_=class_)
    if left:
        yield element("p", left, class_="left")


def _sub_agent(called: Called) -> str:
    """Returns the name of the sub-agent; empty where the session itself called."""
    sub_data = (each.data.get("sub") for each in called.records)
    sub = next((each for each in sub_data if isinstance(each, dict)), {})
    return text(sub, "type") or text(sub, "id")


def _newest(called: Called, kind: str) -> Data | None:
    return next((each.data for each in reversed(called.records) if each.kind == kind), None)


def _tool(called: Called) -> Tool | None:
    """Returns what would run, or ran: the newest form of the call that was recorded."""
    records: list[Record] = [each for each in called.records if each.kind in _TELL_THE_CALL]
    return next(filter(None, (tool(each.data) for each in reversed(records))), None)


_TELL_THE_CALL = ("tool.pre", "tool.permission", "question", "approval.requested")


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
