"""One call on the page: a line that says how it ended, and below it what led there.

- The lines that an edit changes, on coloured grounds, each with its sign.
- The hooks of a call, folded away: what each of them did, and for how long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import tzinfo
from xml.etree.ElementTree import Element

from watchgate.core.base.amounts import plural
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.events import Tool
from watchgate.core.model.records import Record
from watchgate.core.report.call_steps import (
    CallEntry,
    Data,
    call_steps,
    number_in,
    objects_in,
    pretty_json,
    text_in,
    tool_in,
)
from watchgate.core.report.report_html import (
    PreformattedText,
    clock_text,
    cut,
    elapsed_text,
    element,
)
from watchgate.core.state.asked_call import columns_of
from watchgate.core.tools import tool_input
from watchgate.core.tools.diff_rows import DiffRow, folded
from watchgate.core.tools.edit_blocks import EditBlock, blocks

LINES_SHOWN = 400
"""Lines of one change; whoever needs all of them has the export as JSON lines."""

LINES_OPEN = 40
"""A longer change is folded, so that the calls around it are found."""

COMPARED_BYTES = 256 << 10
"""An edit of more is not compared: it could take seconds, and would fill the page."""

_CLASSES = {"+": "add", "-": "del", "@": "far"}


def drawn_edit(edit: EditBlock) -> Element:
    """Draws one change with its file above it."""
    rows = folded(edit.rows)
    left = len(rows) - LINES_SHOWN
    long = len(rows) > LINES_OPEN
    added, gone = edit.size
    return element(
        "details" if long else "figure",
        element(
            "summary" if long else "figcaption",
            element("code", edit.path),
            f"  +{added:,} -{gone:,}  ",
            edit.note,
        ),
        element("pre", *map(_diff_line, rows[:LINES_SHOWN]), class_="diff"),
        element("p", f"{left:,} more lines", class_="left") if left > 0 else None,
    )


def _diff_line(line: DiffRow) -> Element:
    sign = " " if line.sign == "@" else line.sign
    return element(
        "span", PreformattedText(f"{sign} {line.text}\n"), class_=_CLASSES.get(line.sign, "")
    )


_HEAD = ("hook", "role", "did", "", "took", "says")
_WHY = {
    "filter": "its filter passes this by",
    "matcher": "not for this call",
    "after-stop": "another had decided",
    "breaker": "it failed too often",
    "disabled": "switched off",
    "deadline": "no time was left",
    "once": "it has run already",
}


def drawn_hooks(records: Iterable[Record]) -> Element | None:
    """Draws the hooks of a call, a table for each dispatch; None where there was no hook."""
    traces = [record.data for record in records if record.kind == "hook.trace"]
    dispatches = [(data, rows) for data in traces if (rows := objects_in(data, "rows"))]
    if not dispatches:
        return None
    ran = sum(row.get("status") == "ran" for _, rows in dispatches for row in rows)
    took_ms = sum(_took_ms(data, rows) for data, rows in dispatches)
    return element(
        "details",
        element("summary", f"hooks: {ran:,} ran, {elapsed_text(took_ms)}"),
        *(_dispatch_table(data, rows) for data, rows in dispatches),
        class_="hooks",
    )


def _took_ms(data: Data, rows: list[Data]) -> float:
    """Returns the duration of a dispatch in ms; earlier versions left out the policy's time."""
    waited_for = [row for row in rows if text_in(row, "role") == "gate"]
    ends = [(number_in(each, "start_ms") or 0) + (number_in(each, "duration_ms") or 0)
            for each in waited_for]  # fmt: skip
    return max(number_in(data, "took_ms") or 0, *ends, 0)


def _dispatch_table(data: Data, rows: list[Data]) -> Element:
    made, by = text_in(data, "decision"), text_in(data, "decided_by")
    decision = "no decision" if made in ("", "none") else f"{made} by {by}" if by else made
    if text_in(data, "effect") == "view" and made not in ("", "none"):
        decision += ", which prevented nothing"
    head = (text_in(data, "native"), decision, elapsed_text(_took_ms(data, rows)))
    names = element("thead", element("tr", *(element("th", name) for name in _HEAD)))
    return element(
        "div",
        element("p", ", ".join(filter(None, head)), class_="why"),
        element("table", names, element("tbody", *map(_row, rows))),
        class_="wide",
    )


def _row(row: Data) -> Element:
    status, time = text_in(row, "status"), number_in(row, "duration_ms")
    verdict = text_in(row, "verdict") if status == "ran" else status
    detail = text_in(row, "detail") or _WHY.get(text_in(row, "why"), text_in(row, "why"))
    ignored = "had no say" if row.get("ignored") is True else ""
    cells = (text_in(row, "handler"), text_in(row, "role"), verdict, ignored,
             "" if time is None else elapsed_text(time), detail)  # fmt: skip
    made = (element("td", cell, class_=name) for cell, name in zip(cells, _CELLS, strict=True))
    return element("tr", *made, class_="" if status == "ran" else "skipped")


_CELLS = ("name", "", "", "", "number", "says")


RISKS = {"low": "", "medium": "!", "high": "!!", "critical": "!!!", "unknown": "?"}
_ENDS = {"+": "allowed", "=": "allowed", "x": "denied", "T": "denied", "#": "alarm"}
TOOL_CHARS = 60
_NOT_RECORDED = "not kept in the journal"


def drawn_call(called: CallEntry, zone: tzinfo | None) -> Element:
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
        element("time", clock_text(row.at, zone)),
        element("b", RISKS[risk], class_=f"risk {risk}", title=f"risk: {risk}"),
        element("span", tool or "?", class_="tool"),
        element("code", call or _NOT_RECORDED, class_="what"),
        element("span", ended, class_=f"end {_ENDS.get(row.glyph, '')}".strip()),
        element("span", row.by or _took(row), class_="by"),
        class_="line",
        href=f"#{anchor(row)}",
    )


def _took(row: HistoryRow) -> str:
    return "" if row.took_ms is None else elapsed_text(row.took_ms)


def _subject(called: CallEntry) -> Iterator[Element]:
    """Draws what one line cannot show: a command of several lines, or the text of a plan."""
    subject_tool = _tool(called)
    if subject_tool is None:
        return
    whole = (
        tool_input.command(subject_tool)
        if subject_tool.cls == "shell"
        else text_in(subject_tool.input, "plan")
    )
    if whole and (whole != called.row.summary or "\n" in whole):
        yield from _block(whole, "command")


def _why(called: CallEntry) -> Iterator[Element]:
    """Draws for whom it was, the policy's findings, and what the call would have touched."""
    if name := _sub_agent(called):
        yield element("p", f"for sub-agent {name}", class_="why")
    asked = _newest(called, "approval.requested")
    findings = objects_in(asked, "findings") if asked else []
    if findings:
        yield element("ul", *map(_finding, findings), class_="findings")
    elif called.row.reason:
        yield element("p", called.row.reason, " ", _rule(called.row.rule), class_="why")
    if asked and (raised := text_in(asked, "raised")):
        yield element("p", f"raised: {raised}", class_="why")
    facts = _newest(called, "approval.facts")
    touched = [text_in(fact, "text") for fact in objects_in(facts, "facts")] if facts else []
    if touched:
        yield element("p", "would touch: ", ", ".join(touched), class_="why")
    if was := called.row.asked:
        yield element("p", f"{was.verb}; the agent asked for: ", _risk(was.risk), class_="why")
        yield from _block(was.summary, "command")
    if asked and isinstance(before := asked.get("before"), dict):
        who = "an operator" if text_in(asked, "edited_from") else "a handler"
        yield _folded(f"what the agent had sent, before {who} changed it", pretty_json(before))


def _finding(finding: Data) -> Element:
    risk = text_in(finding, "risk")
    safer = text_in(finding, "suggest")
    return element(
        "li",
        element("b", risk, class_=f"risk {risk}" if risk in RISKS else "risk unknown"),
        element("span", text_in(finding, "reason")),
        _rule(text_in(finding, "rule")),
        element("span", f"safer: {safer}", class_="safer") if safer else None,
    )


def _risk(risk: str) -> Element | None:
    """Draws a risk as its word; None where it is unknown."""
    return None if risk in ("unknown", "") else element("b", risk, class_=f"risk {risk}")


def _rule(rule: str) -> Element | None:
    return element("code", rule, class_="rule") if rule else None


def _steps(called: CallEntry, zone: tzinfo | None) -> Element | None:
    """Draws the steps of a call; of one that nobody held the line above has shown all."""
    step_list = call_steps(called)
    if not called.row.glyph and not any(step.loud for step in step_list):
        return None
    return element(
        "ol",
        *(
            element(
                "li",
                element("time", clock_text(step.at, zone)),
                element("span", step.what, class_="step loud" if step.loud else "step"),
                element("span", step.about, class_="about"),
                element("span", f"record {step.seq:,}", class_="seq"),
            )
            for step in step_list
        ),
        class_="steps",
    )


def _changes(called: CallEntry) -> Iterator[Element]:
    edit_tool = _tool(called)
    if edit_tool is None or edit_tool.cls != "edit":
        return
    if sum(map(len, _texts(edit_tool.input))) > COMPARED_BYTES:
        yield element("p", "too long to be shown: the export as JSON lines has it", class_="left")
        return
    yield from map(drawn_edit, blocks(edit_tool))


def _input(called: CallEntry) -> Iterator[Element]:
    """Draws the whole input, folded; of a call that is one command nothing is left to show."""
    input_tool = _tool(called)
    if input_tool is None or (
        input_tool.cls == "shell" and set(input_tool.input) <= tool_input.COMMANDS
    ):
        return
    yield _folded("input", pretty_json(input_tool.input))


def _result(called: CallEntry) -> Iterator[Element]:
    for record in called.records:
        if record.kind in ("tool.post", "tool.error") and (
            output := text_in(record.data, "result")
        ):
            yield _folded(f"result, {plural(len(output), 'character')}", output)


def _folded(title: str, whole: str) -> Element:
    return element("details", element("summary", title), *_block(whole))


def _block(whole: str, class_: str = "") -> Iterator[Element]:
    shown, left = cut(whole)
    yield element("pre", PreformattedText(shown), class_=class_)
    if left:
        yield element("p", left, class_="left")


def _sub_agent(called: CallEntry) -> str:
    """Returns the name of the sub-agent; empty where the session itself called."""
    sub_data = (each.data.get("sub") for each in called.records)
    sub = next((each for each in sub_data if isinstance(each, dict)), {})
    return text_in(sub, "type") or text_in(sub, "id")


def _newest(called: CallEntry, kind: str) -> Data | None:
    return next((each.data for each in reversed(called.records) if each.kind == kind), None)


def _tool(called: CallEntry) -> Tool | None:
    """Returns the tool that would run, or ran: the newest form of the call on record."""
    records: list[Record] = [each for each in called.records if each.kind in _TELL_THE_CALL]
    return next(filter(None, (tool_in(each.data) for each in reversed(records))), None)


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
