"""The steps of a call, record by record: asked, held, decided, reported, ran."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from watchgate.core.as_asked import as_it_ran
from watchgate.core.call_endings import ENDINGS
from watchgate.core.history_row import HistoryRow
from watchgate.core.presence.shown_word import shown_word
from watchgate.core.records import Record
from watchgate.core.report.fields import Data, number, text
from watchgate.core.report.formats import person, took
from watchgate.core.report.story import Called


class Step(msgspec.Struct, frozen=True):
    """One line: when (UTC µs), what, about it, and the number of its record."""

    at: int
    what: str
    about: str
    seq: int
    loud: bool = False


def steps(called: Called) -> list[Step]:
    """Returns the steps of a call, in their order."""
    return [
        say(record, record.data, called.row)
        for record in called.records
        if (say := _STEPS.get(record.kind))
    ]


def _asked(record: Record, data: Data, _row: HistoryRow) -> Step:
    about = [text(data, "native"), text(data, "lane")]
    loud = text(data, "gate") == "denied"
    what = _words(text(data, "word") or "denied-by-rule") if loud else "asked"
    if loud:
        about.append(text(data, "reason"))
    return Step(record.at, what, _joined(about), record.seq, loud)


def _held(record: Record, data: Data, _row: HistoryRow) -> Step:
    limit, silence = number(data, "timeout_s"), text(data, "silence") or "deny"
    after = f"after {person(limit)}" if limit else "whenever it ends"
    about = f"{text(data, 'risk').upper()}; silence means {silence} {after}"
    if text(data, "edited_from"):
        return Step(record.at, "edited to", f"{text(data, 'summary')}, {about}", record.seq)
    return Step(record.at, "held", about, record.seq)


def _more(record: Record, data: Data, _row: HistoryRow) -> Step:
    return Step(record.at, "more time", text(data, "by"), record.seq)


def _escalated(record: Record, data: Data, _row: HistoryRow) -> Step:
    failed = text(data, "detail")
    what = f"could not tell {text(data, 'to')}" if failed else f"told {text(data, 'to')}"
    return Step(record.at, what, failed, record.seq, bool(failed))


def _decided(record: Record, data: Data, _row: HistoryRow) -> Step:
    word, waited = text(data, "word"), number(data, "waited_s")
    after = "" if waited is None else f"waited {person(waited)}"
    scope = text(data, "scope")
    lasting = f"for {scope}" if scope not in ("", "once") else ""
    about = _joined([text(data, "by"), after, lasting, text(data, "reason"), _answers(data)])
    ending = ENDINGS.get(word)
    loud = ending is not None and ending.glyph in ("x", "T")
    return Step(record.at, _words(shown_word(word, text(data, "by"))), about, record.seq, loud)


def _answers(data: Data) -> str:
    """Returns what a person answered, one question after the other."""
    given = data.get("answers")
    lists = [each for each in given if isinstance(each, list)] if isinstance(given, list) else []
    return "; ".join(" and ".join(map(str, each)) or "nothing" for each in lists)


def _ran(record: Record, data: Data, row: HistoryRow) -> Step:
    code, time = number(data, "exit_code"), row.took_ms
    failed = record.kind == "tool.error" or data.get("ok") is False
    what = "interrupted" if data.get("interrupted") is True else "failed" if failed else "ran"
    about = [text(data, "native")]
    about += [] if code is None else [f"exit {code:.0f}"]
    about += [] if time is None else [f"took {took(time)}"]
    return Step(record.at, what, _joined(about), record.seq, failed)


def _undelivered(record: Record, data: Data, _row: HistoryRow) -> Step:
    return Step(record.at, "never told", text(data, "what"), record.seq, loud=True)


def _confirmed(record: Record, data: Data, row: HistoryRow) -> Step:
    return Step(record.at, "as decided", as_it_ran(text(data, "what"), row.asked), record.seq)


def _contradicted(record: Record, data: Data, _row: HistoryRow) -> Step:
    altered = text(data, "alarm") == "RAN ALTERED"
    what = "it ran altered" if altered else "it ran all the same"
    return Step(record.at, what, text(data, "what"), record.seq, loud=True)


def _refused(record: Record, data: Data, _row: HistoryRow) -> Step:
    return Step(record.at, "refused by the agent", text(data, "what"), record.seq, loud=True)


def _ungated(record: Record, data: Data, _row: HistoryRow) -> Step:
    loud = data.get("alarm", True) is True
    return Step(record.at, "no gate was asked", text(data, "why"), record.seq, loud)


def _words(word: str) -> str:
    return word.replace("-", " ")


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(filter(None, parts))


_STEPS: Final[dict[str, Callable[[Record, Data, HistoryRow], Step]]] = {
    "tool.pre": _asked,
    "tool.permission": _asked,
    "question": _asked,
    "tool.post": _ran,
    "tool.error": _ran,
    "approval.requested": _held,
    "approval.extended": _more,
    "approval.escalated": _escalated,
    "approval.decided": _decided,
    "effect.undelivered": _undelivered,
    "effect.confirmed": _confirmed,
    "effect.contradicted": _contradicted,
    "effect.refused": _refused,
    "effect.ungated": _ungated,
}
