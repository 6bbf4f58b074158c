"""The timeline of one call: a step for each of its records, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.outcomes import ENDINGS, ending_text
from watchgate.core.model.records import Record
from watchgate.core.state.asked_call import as_it_ran
from watchgate.ui.base.formats import covered, home, machine, person
from watchgate.ui.source.agent_titles import title

SAME = "# it ran all the same"


class TimelineStep(msgspec.Struct, frozen=True):
    """One step: when (UTC µs), what, about what, a remark (`beside`), and the record's number."""

    at: int
    words: str
    about: str
    seq: int
    remark: str = ""
    loud: bool = False


def timeline_of(
    records: Iterable[Record], row: HistoryRow, home_dir: str = ""
) -> list[TimelineStep]:
    """Returns the timeline of a call; records that cannot be read are named by their kind."""
    timeline: list[TimelineStep] = []
    for record in records:
        tell = _STEPS.get(record.kind)
        try:
            new = tell(record, row, home_dir) if tell is not None else []
        except (AttributeError, KeyError, TypeError, ValueError):
            new = [TimelineStep(record.at, safe_text(record.kind), "not kept", record.seq)]
        if new and new[0].words == SAME and timeline and timeline[-1].words in ("ran", "failed"):
            # The result is what gave it away: one line for both.
            native = timeline.pop().about.partition(",")[0]
            new[0] = msgspec.structs.replace(new[0], about=f"{native} {new[0].about}")
        timeline += new
    return timeline


def mend(row: HistoryRow) -> tuple[str, str]:
    """Returns the advice on an alarm, and the command that helps; empty without an alarm."""
    if not row.alarm:
        return "", ""
    command = f"watchgate doctor {safe_text(row.agent)}"
    if row.outcome == "RAN ALTERED":
        return "Something changed the call after the decision:", command
    if row.outcome == "ran ungated":
        return f"{title(row.agent)} asked no gate about it:", command
    if row.agent == "cursor":
        return 'Cursor may skip hooks for "always run" lists:', command
    return f"{title(row.agent)} ran what it was told not to run:", command


def _asked(record: Record, row: HistoryRow, home_dir: str) -> list[TimelineStep]:
    data = record.data
    about = str(data.get("native") or record.kind)
    if cwd := data.get("cwd"):
        about += f", cwd {home(str(cwd), home_dir)}"
    timeline = [TimelineStep(record.at, "asked", covered(about), record.seq)]
    gate = data.get("gate")
    if gate == "denied":
        word = str(data.get("word") or "denied-by-rule")
        timeline.append(_end(record, word, row.rule or "", row.reason))
    elif gate == "allowed":
        timeline.append(_end(record, str(data.get("word") or "allowed-by-rule"), row.rule, ""))
    elif gate == "handback" and not row.word:
        timeline.append(
            TimelineStep(record.at, "no opinion", f"{title(row.agent)} decides", record.seq)
        )
    return timeline


def _held(record: Record, _row: HistoryRow, _home: str) -> list[TimelineStep]:
    data = record.data
    about = f"{str(data.get('risk', '?')).upper()}  {data.get('reason', '')}"
    words = "? held"
    if data.get("edited_from"):
        words, about = "edited to", f"{data.get('summary', '')}   {about}"
    return [TimelineStep(record.at, words, covered(about), record.seq, covered(str(data["rule"])))]


def _more(record: Record, _row: HistoryRow, _home: str) -> list[TimelineStep]:
    return [TimelineStep(record.at, "more time", covered(str(record.data["by"])), record.seq)]


def _escalated(record: Record, _row: HistoryRow, _home: str) -> list[TimelineStep]:
    data = record.data
    who, why = covered(str(data["to"])), str(data.get("detail", ""))
    if why:
        words = f"could not tell {who}"
        return [TimelineStep(record.at, words, covered(why), record.seq, loud=True)]
    about = f"after {person(float(data['waited_s']))} without an answer"
    return [TimelineStep(record.at, f"told {who}", about, record.seq)]


def _decided(record: Record, _row: HistoryRow, _home: str) -> list[TimelineStep]:
    data = record.data
    about = f"{data.get('by', '')}, waited {person(float(data.get('waited_s', 0)))}"
    return [_end(record, str(data["word"]), about, str(data.get("reason", "")))]


def _end(record: Record, word: str, about: str, remark: str) -> TimelineStep:
    ending = ENDINGS.get(word)
    glyph = f"{ending.glyph} " if ending else ""
    ended = ending_text(word, str(record.data.get("by", "operator")))
    words = f"{glyph}{ended}"
    loud = ending is not None and ending.glyph in ("x", "T")
    return TimelineStep(
        record.at, safe_text(words), covered(about), record.seq, covered(remark), loud
    )


def _ran(record: Record, row: HistoryRow, _home: str) -> list[TimelineStep]:
    data = record.data
    about, code, took = str(data.get("native", "")), data.get("exit_code"), row.took_ms
    if isinstance(code, int):
        about += f", exit {code}"
    if took is not None:
        about += f", took {machine(took)}"
    failed = record.kind == "tool.error" or data.get("ok") is False
    return [TimelineStep(record.at, "failed" if failed else "ran", covered(about), record.seq,
                 loud=failed)]  # fmt: skip


def _hooks(record: Record, _row: HistoryRow, _home: str) -> list[TimelineStep]:
    data = record.data
    rows = data.get("rows") or ()
    made, by, took = str(data.get("decision", "none")), data.get("decided_by"), data["took_ms"]
    if not rows or (made == "none" and took < 1):
        return []  # only told of it
    about = "no decision" if made == "none" else f"{made} by {by}" if by else made
    return [TimelineStep(record.at, "hooks", covered(f"{about}, {machine(took)}"), record.seq)]


def _undelivered(record: Record, _row: HistoryRow, _home: str) -> list[TimelineStep]:
    return [
        TimelineStep(
            record.at, "never told", covered(str(record.data["what"])), record.seq, loud=True
        )
    ]


def _confirmed(record: Record, row: HistoryRow, _home: str) -> list[TimelineStep]:
    about = covered(as_it_ran(str(record.data.get("what", "")), row.asked))
    return [TimelineStep(record.at, "as decided", about, record.seq)]


def _contradicted(record: Record, row: HistoryRow, _home: str) -> list[TimelineStep]:
    if record.data.get("alarm") == "RAN ALTERED":
        about = covered(str(record.data.get("what") or "not as it was decided"))
        return [TimelineStep(record.at, "# it ran altered", about, record.seq, loud=True)]
    about = f"of the same call: {title(row.agent)} did not obey"
    return [TimelineStep(record.at, SAME, about, record.seq, loud=True)]


def _refused_by_agent(record: Record, _row: HistoryRow, _home: str) -> list[TimelineStep]:
    about = covered(str(record.data["what"]))
    return [TimelineStep(record.at, "refused by the agent", about, record.seq, loud=True)]


def _ungated(record: Record, _row: HistoryRow, _home: str) -> list[TimelineStep]:
    alarm = record.data.get("alarm", True) is True
    words = "# no gate was asked" if alarm else "no gate was asked"
    return [
        TimelineStep(record.at, words, covered(str(record.data["why"])), record.seq, loud=alarm)
    ]


def _refused(record: Record, _row: HistoryRow, _home: str) -> list[TimelineStep]:
    data = record.data
    about = covered(f"{data.get('what', '')}, {data.get('detail', '')}")
    return [TimelineStep(record.at, "# refused", about, record.seq, loud=bool(data.get("alarm")))]


Say = Callable[[Record, HistoryRow, str], list[TimelineStep]]
_STEPS: Final[dict[str, Say]] = {
    "tool.pre": _asked,
    "tool.permission": _asked,
    "question": _asked,
    "tool.post": _ran,
    "tool.error": _ran,
    "hook.trace": _hooks,
    "approval.requested": _held,
    "approval.extended": _more,
    "approval.escalated": _escalated,
    "approval.decided": _decided,
    "effect.undelivered": _undelivered,
    "effect.confirmed": _confirmed,
    "effect.contradicted": _contradicted,
    "effect.refused": _refused_by_agent,
    "effect.ungated": _ungated,
    "policy.refused": _refused,
}
