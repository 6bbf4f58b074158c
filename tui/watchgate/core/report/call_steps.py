"""The steps of a call, record by record: asked, held, decided, reported, ran.

- Careful reads of a record's data: it may be purged, or changed by anybody.
- The records of a session in the order of what happened: calls, and events between them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from watchgate.core.base import decoding
from watchgate.core.history.call_history import CORE_KINDS, fold_history
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.events import Tool
from watchgate.core.model.outcomes import ENDINGS, ending_text
from watchgate.core.model.records import Record
from watchgate.core.model.session_view import SessionView
from watchgate.core.report.report_html import elapsed_text, waited_text
from watchgate.core.state.asked_call import as_it_ran
from watchgate.core.state.call_rows import CallKey, call_key
from watchgate.core.state.state import State
from watchgate.core.usage.session_usage import SessionUsage

Data = Mapping[str, Any]

_TEXTS = frozenset("summary cwd rule reason lane gate word risk by alarm why name profile".split())
_NUMBERS = frozenset(("took_ms", "waited_s", "until"))


def well_formed(record: Record) -> Record:
    """Returns the record without values of another shape than a fold of records expects."""
    data = {key: value for key, value in record.data.items() if _fits(key, value)}
    return record if len(data) == len(record.data) else msgspec.structs.replace(record, data=data)


def text_in(data: Data, key: str) -> str:
    """Returns the text under a key; empty where there is none."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def number_in(data: Data, key: str) -> float | None:
    """Returns the finite number under a key; None where there is none."""
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def objects_in(data: Data, key: str) -> list[Data]:
    """Returns the objects of the list under a key."""
    value = data.get(key)
    listed = value if isinstance(value, list | tuple) else ()
    return [each for each in listed if isinstance(each, Mapping)]


def tool_in(data: Data) -> Tool | None:
    """Returns the call in the data, where its input was recorded."""
    try:
        call_tool = decoding.convert(data.get("tool"), Tool)
    except msgspec.ValidationError:
        return None
    return call_tool if call_tool.input else None


def pretty_json(value: Any) -> str:
    """Writes a value as JSON for people."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _fits(key: str, value: Any) -> bool:
    if key in _TEXTS:
        return isinstance(value, str)
    return key not in _NUMBERS or (isinstance(value, int | float) and math.isfinite(value))


_SHOWN_KINDS = (
    "session.", "prompt.", "turn.", "agent.", "compact.", "task.", "policy.", "grant.", "notice",
    "message", "unknown",
)  # fmt: skip


class CallEntry(msgspec.Struct, frozen=True):
    """A call as a line of the history, and all records of it."""

    row: HistoryRow
    records: tuple[Record, ...]

    @property
    def seq(self) -> int:
        """The number of its first record, which orders the page."""
        return self.row.first


class RecordEntry(msgspec.Struct, frozen=True):
    """Any other record that the page shows."""

    record: Record

    @property
    def seq(self) -> int:
        """The number of its record, which orders the page."""
        return self.record.seq


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """A session from its `first` record to its `last`.

    `left_out` counts by kind the records that the page shows nowhere.
    """

    agent: str
    session: str
    view: SessionView
    usage: SessionUsage | None
    entries: tuple[CallEntry | RecordEntry, ...]
    first: Record
    last: Record
    count: int
    left_out: dict[str, int]

    @property
    def calls(self) -> list[CallEntry]:
        """The calls, oldest first."""
        return [entry for entry in self.entries if isinstance(entry, CallEntry)]


def build_story(records: Sequence[Record], agent: str, session: str, *, core: str = "") -> Story:
    """Builds the story of a session; the records may hold those of the core as well.

    `core` is the one that runs now: what it held and nobody has decided is pending there. Raises
    `ValueError` where none of the records is of the session.
    """
    records = [well_formed(record) for record in records]
    own = [record for record in records if (record.agent, record.session) == (agent, session)]
    if not own:
        raise ValueError("no record of this session")
    key, state = (agent, session), State(max_rows=1)
    for record in own:
        state.apply(record)
    gate = [record for record in records if record.agent is None and record.kind in CORE_KINDS]
    among = sorted((*own, *gate), key=lambda record: record.seq)
    rows = fold_history(among, len(among), alive=_waiting(own, core))
    calls, others = _shared_out(own, rows)
    meanwhile = [record for record in gate if own[0].seq < record.seq < own[-1].seq]
    noted = [record for record in (*others, *meanwhile) if record.kind.startswith(_SHOWN_KINDS)]
    entries: list[CallEntry | RecordEntry] = [*calls, *map(RecordEntry, noted)]
    return Story(
        agent=agent,
        session=session,
        view=state.sessions.get(key) or SessionView(agent=agent, session=session, label=session),
        usage=state.usage.sessions.get(key),
        entries=tuple(sorted(entries, key=lambda entry: entry.seq)),
        first=own[0],
        last=own[-1],
        count=len(own),
        left_out=dict(Counter(r.kind for r in others if not r.kind.startswith(_SHOWN_KINDS))),
    )


def _waiting(own: Sequence[Record], core: str) -> set[CallKey]:
    """Returns the calls that this core holds and nobody has decided."""
    waiting: set[CallKey] = set()
    for record in own:
        if record.kind == "approval.requested" and core and record.core == core:
            waiting.add(call_key(record))
        elif record.kind == "approval.decided":
            waiting.discard(call_key(record))
    return waiting


def _shared_out(
    own: Sequence[Record], rows: Sequence[HistoryRow]
) -> tuple[list[CallEntry], list[Record]]:
    """Returns each call with its records, and the records of no call.

    An id that is given again after a new start is another call: the newest that began by then.
    """
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(row.call, []).append(place)
    of_row: list[list[Record]] = [[] for _ in rows]
    others: list[Record] = []
    for record in own:
        known = places.get(record.call or "")
        if known is None:
            others.append(record)
            continue
        begun = bisect_right(known, record.seq, key=lambda place: rows[place].first)
        of_row[known[max(0, begun - 1)]].append(record)
    return [CallEntry(row, tuple(of)) for row, of in zip(rows, of_row, strict=True)], others


class CallStep(msgspec.Struct, frozen=True):
    """One line: when (UTC µs), what, about it, and the number of its record."""

    at: int
    what: str
    about: str
    seq: int
    loud: bool = False


def call_steps(called: CallEntry) -> list[CallStep]:
    """Returns the steps of a call, in their order."""
    return [
        say(record, record.data, called.row)
        for record in called.records
        if (say := _STEPS.get(record.kind))
    ]


def _asked(record: Record, data: Data, _row: HistoryRow) -> CallStep:
    about = [text_in(data, "native"), text_in(data, "lane")]
    loud = text_in(data, "gate") == "denied"
    what = _words(text_in(data, "word") or "denied-by-rule") if loud else "asked"
    if loud:
        about.append(text_in(data, "reason"))
    return CallStep(record.at, what, _joined(about), record.seq, loud)


def _held(record: Record, data: Data, _row: HistoryRow) -> CallStep:
    limit, silence = number_in(data, "timeout_s"), text_in(data, "silence") or "deny"
    after = f"after {waited_text(limit)}" if limit else "whenever it ends"
    about = f"{text_in(data, 'risk').upper()}; silence means {silence} {after}"
    if text_in(data, "edited_from"):
        return CallStep(record.at, "edited to", f"{text_in(data, 'summary')}, {about}", record.seq)
    return CallStep(record.at, "held", about, record.seq)


def _more(record: Record, data: Data, _row: HistoryRow) -> CallStep:
    return CallStep(record.at, "more time", text_in(data, "by"), record.seq)


def _escalated(record: Record, data: Data, _row: HistoryRow) -> CallStep:
    failed = text_in(data, "detail")
    what = f"could not tell {text_in(data, 'to')}" if failed else f"told {text_in(data, 'to')}"
    return CallStep(record.at, what, failed, record.seq, bool(failed))


def _decided(record: Record, data: Data, _row: HistoryRow) -> CallStep:
    word, waited = text_in(data, "word"), number_in(data, "waited_s")
    after = "" if waited is None else f"waited {waited_text(waited)}"
    scope = text_in(data, "scope")
    lasting = f"for {scope}" if scope not in ("", "once") else ""
    about = _joined([text_in(data, "by"), after, lasting, text_in(data, "reason"), _answers(data)])
    ending = ENDINGS.get(word)
    loud = ending is not None and ending.glyph in ("x", "T")
    return CallStep(record.at, ending_text(word, text_in(data, "by")), about, record.seq, loud)


def _answers(data: Data) -> str:
    """Returns the answers that a person gave, one question after the other."""
    given = data.get("answers")
    lists = [each for each in given if isinstance(each, list)] if isinstance(given, list) else []
    return "; ".join(" and ".join(map(str, each)) or "nothing" for each in lists)


def _ran(record: Record, data: Data, row: HistoryRow) -> CallStep:
    code, time = number_in(data, "exit_code"), row.took_ms
    failed = record.kind == "tool.error" or data.get("ok") is False
    what = "interrupted" if data.get("interrupted") is True else "failed" if failed else "ran"
    about = [text_in(data, "native")]
    about += [] if code is None else [f"exit {code:.0f}"]
    about += [] if time is None else [f"took {elapsed_text(time)}"]
    return CallStep(record.at, what, _joined(about), record.seq, failed)


def _undelivered(record: Record, data: Data, _row: HistoryRow) -> CallStep:
    return CallStep(record.at, "never told", text_in(data, "what"), record.seq, loud=True)


def _confirmed(record: Record, data: Data, row: HistoryRow) -> CallStep:
    return CallStep(
        record.at, "as decided", as_it_ran(text_in(data, "what"), row.asked), record.seq
    )


def _contradicted(record: Record, data: Data, _row: HistoryRow) -> CallStep:
    altered = text_in(data, "alarm") == "RAN ALTERED"
    what = "it ran altered" if altered else "it ran all the same"
    return CallStep(record.at, what, text_in(data, "what"), record.seq, loud=True)


def _refused(record: Record, data: Data, _row: HistoryRow) -> CallStep:
    return CallStep(record.at, "refused by the agent", text_in(data, "what"), record.seq, loud=True)


def _ungated(record: Record, data: Data, _row: HistoryRow) -> CallStep:
    loud = data.get("alarm", True) is True
    return CallStep(record.at, "no gate was asked", text_in(data, "why"), record.seq, loud)


def _words(word: str) -> str:
    return word.replace("-", " ")


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(filter(None, parts))


_STEPS: Final[dict[str, Callable[[Record, Data, HistoryRow], CallStep]]] = {
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
