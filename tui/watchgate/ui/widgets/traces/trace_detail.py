"""One handler of one dispatch in full: its end, its verdict, and its cost."""

from __future__ import annotations

from collections.abc import Sequence

from watchgate.core.base.amounts import count, plural
from watchgate.core.base.text import safe_text
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import TraceData
from watchgate.core.model.verdicts import TraceRow
from watchgate.core.secrets.redact import redact
from watchgate.core.state.traces import TracedCall, shows_only
from watchgate.ui.base.formats import covered, machine, person, width
from watchgate.ui.base.theme import Palette
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import plain
from watchgate.ui.widgets.traces.trace_words import cause, hides, millis, verdict, why_skipped
from watchgate.ui.widgets.traces.waterfall import SHOWN_ONLY, WATCHED_ONLY

INDENT = 2
VALUES = 12
STREAM_LINES = 40
SHORTEST_QUEUE_MS = 1.0
TIMES = {2: "twice"}

Fact = tuple[str, str, str]
"""A label, a value, and a remark on it."""


def detail_lines(
    row: TraceRow, data: TraceData, cells: int, colors: Palette, *, airy: bool
) -> list[StyledLine]:
    """Returns everything that is known of a handler's run; the unknown has no line.

    Args:
        row: The handler's run.
        data: Its dispatch.
        cells: Width of the lines.
        colors: The palette.
        airy: Whether a blank line follows the title.
    """
    head = StyledLine(colors).to(INDENT).fit(safe_text(row.handler[:80]), cells // 2, bold=True)
    head.add("   ").fit(_about(row, data), cells - head.left_cells - 4, "dim")
    lines = [head, *([StyledLine(colors)] if airy else [])]
    for label, value, remark in _end_facts(row, data):
        lines += _fact(label, value, remark, cells, colors)
    for label, text in (("stdout", row.run.stdout), ("stderr", row.run.stderr)):
        lines += _stream(label, text, cells, colors)
    for label, value, remark in _cost_facts(row):
        lines += _fact(label, value, remark, cells, colors)
    return lines


def conclusion(
    call: TracedCall, row: CallRow | None, cells: int, colors: Palette
) -> list[StyledLine]:
    """Returns the last line: who the agent waited for, and which handler took longest.

    `row` is the call's row, where that is in memory.
    """
    line = StyledLine(colors).to(INDENT)
    decisions = [trace.data for trace in call.traces]
    if all(data.effect == "view" and data.decided_by != "policy" for data in decisions):
        words = f"Nothing was decided: {WATCHED_ONLY}."
        if any(map(shows_only, decisions)):
            words = f"Nothing was prevented: {SHOWN_ONLY}."
        return [line.fit(words, cells - INDENT - 1, "dim")]
    if row is not None and row.waited_ms is not None:
        line.add("It waited ", "dim").add(person(row.waited_ms / 1000), bold=True)
        line.add(" for a person. ", "dim")
    took = machine(call.took_ms) if call.took_ms else "0 ms"
    line.add("Hooks and rules took ", "dim").add(took, bold=True)
    rows = [each for data in decisions if data.effect == "gate" for each in data.rows]
    slowest = max((each for each in rows if _counts(each)), key=_lasted_ms, default=None)
    if slowest is None:
        return [line.add(".", "dim")]
    line.add(". ", "dim").add(machine(slowest.duration_ms), bold=True).add(" of it is ", "dim")
    line.fit(safe_text(slowest.handler[:80]), max(4, cells - line.left_cells - 2))
    return [line.add(".", "dim")]


def _counts(row: TraceRow) -> bool:
    """Returns whether a decision waited for this handler, for a time that was measured."""
    return row.role == "gate" and row.duration_ms is not None


def _lasted_ms(row: TraceRow) -> float:
    return row.duration_ms or 0.0


def _about(row: TraceRow, data: TraceData) -> str:
    kind = f"{row.kind}, {row.role}" if row.kind != row.role else row.kind
    preset = "" if data.preset == "console" else f", preset {data.preset}"
    return safe_text(kind + preset)


def _end_facts(row: TraceRow, data: TraceData) -> Sequence[Fact]:
    """Returns the facts about a run's end and its input."""
    facts = [_verdict_fact(row, data)]
    if row.ignored and row.role == "gate":
        facts.append(("ignored", row.detail or "its verdict had no say", ""))
    run = row.run
    if run.signal:
        facts.append(("signal", run.signal, ""))
    elif run.exit_code is not None:
        facts.append(("exit", str(run.exit_code), _exit_remark(row)))
    if run.stdin_bytes:
        facts.append(("stdin", f"{count(run.stdin_bytes)} B", ""))
    return facts


def _cost_facts(row: TraceRow) -> Sequence[Fact]:
    """Returns the facts about a run's environment, and its use of the limits."""
    run = row.run
    facts: list[Fact] = []
    if run.env:
        facts.append(("env", plural(len(run.env), "variable"), " ".join(run.env)))
    if run.health is not None or run.restarts:
        restarted = f"restarted {_times(run.restarts)}" if run.restarts else ""
        facts.append(("health", (run.health or "").replace("_", " ") or "?", restarted))
    if row.limit_s is not None:
        facts.append(("limit", _seconds(row.limit_s), _used(row)))
    if run.queue_ms >= SHORTEST_QUEUE_MS:
        facts.append(("queue", millis(run.queue_ms), "waited before it began"))
    if row.times > 1:
        facts.append(("runs", _times(row.times), "a rewrite of the input ran it again"))
    return facts


def _verdict_fact(row: TraceRow, data: TraceData) -> Fact:
    if row.status == "skipped":
        detail = row.detail if row.why is not None else ""
        return "skipped", why_skipped(row), detail
    if hides(row, data):
        return "verdict", "hidden from view, nothing was prevented", row.detail
    return "verdict", verdict(row, data), "" if row.ignored else row.detail


def _exit_remark(row: TraceRow) -> str:
    empty = not row.run.stdout.strip()
    return "stdout was empty" if row.run.exit_code == 0 and empty else ""


def _used(row: TraceRow) -> str:
    if row.duration_ms is None or not row.limit_s:
        return ""
    if cause(row) == "timeout":
        return "used up"
    return f"used {min(100, round(row.duration_ms / row.limit_s / 10))} %"


def _seconds(limit_s: float) -> str:
    return f"{limit_s:g} s" if limit_s >= 1 else machine(limit_s * 1000)


def _times(number: int) -> str:
    return "once" if number == 1 else TIMES.get(number, f"{count(number)} times")


def _fact(label: str, value: str, remark: str, cells: int, colors: Palette) -> list[StyledLine]:
    """Returns a label, its value and the remark, wrapped where they do not fit.

    Args:
        label: The label.
        value: The value.
        remark: The remark, or empty.
        cells: Width of the lines.
        colors: The palette.
    """
    room = cells - VALUES - 1
    line = StyledLine(colors).to(INDENT).add(label, "dim").to(VALUES)
    lines = _wrapped(line, value, room, colors)
    shown = covered(remark)
    if shown and len(lines) == 1 and line.left_cells + 3 + width(shown) < cells:
        line.add("   ").add(shown, "dim")
    elif shown:
        lines += _wrapped(StyledLine(colors).to(VALUES), remark, room, colors, dim=True)
    return lines


def _wrapped(
    first: StyledLine, text: str, room: int, colors: Palette, *, dim: bool = False
) -> list[StyledLine]:
    """Wraps a text into lines.

    Args:
        first: The begun first line.
        text: The text.
        room: Cells of the text in each line.
        colors: The palette.
        dim: Whether all of it is dim.
    """
    lines = [first]
    for number, row in enumerate(plain(text, room)):
        if number:
            lines.append(StyledLine(colors).to(VALUES))
        for piece in row:
            ink = "dim" if dim else piece.ink
            lines[-1].add(piece.text, ink, reverse=piece.hidden)
    return lines


def _stream(label: str, text: str, cells: int, colors: Palette) -> list[StyledLine]:
    """Returns the child's output, line by line, every character made safe to show."""
    if not text.strip():
        return []
    text_lines = redact(text).rstrip().replace("\r\n", "\n").split("\n")
    lines = []
    for number, words in enumerate(text_lines[:STREAM_LINES]):
        line = StyledLine(colors).to(INDENT).add(label if number == 0 else "", "dim").to(VALUES)
        lines += _wrapped(line, words, cells - VALUES - 1, colors) if words else [line]
    if len(text_lines) > STREAM_LINES:
        more = f"{plural(len(text_lines) - STREAM_LINES, 'line')} more"
        lines.append(StyledLine(colors).to(VALUES).add(more, "dim"))
    return lines
