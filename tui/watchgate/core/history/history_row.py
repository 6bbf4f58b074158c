"""One recorded call as a line of the history.

- Records without what no row of the history shows: thousands are read for one page of it.
- The outcome of a recorded call, and who decided it, in the few words of a column. The names that a
  filter knows a call's decision, machine and session by, on every screen.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import msgspec

from watchgate.core.model.call_row import AsAsked, CallRow
from watchgate.core.model.outcomes import ENDINGS, GLYPHS
from watchgate.core.model.records import Record
from watchgate.core.state.hosts import host_and_id

SUMMARY_CHARS = 2_000

_READ: Final = frozenset(
    "tool summary cwd rule reason lane gate word risk ok ungated took_ms interrupted by waited_s"
    " alarm why what until name profile before edited_from asked asked_risk".split()
)


def lean(record: Record) -> Record:
    """Returns the record with what a `HistoryFold` reads alone: its text can be long."""
    data: dict[str, Any] = {name: each for name, each in record.data.items() if name in _READ}
    if isinstance(tool := data.get("tool"), dict):
        data["tool"] = {"name": tool.get("name")}
    if isinstance(data.get("before"), dict):
        data["before"] = {}  # that there was another input is all that is read of it
    for name in ("summary", "asked", "what"):
        if isinstance(line := data.get(name), str):
            data[name] = line[:SUMMARY_CHARS]
    return msgspec.structs.replace(record, data=data)


_OPERATOR = re.compile(r"operator (?P<name>.*?)(?: \((?P<place>[^()]*)\))?", re.DOTALL)
_STAGES: Final = {"done": "ran", "handed back": "handed back"}
_TWICE: Final = {"high": ", twice", "unknown": ", twice", "critical": ", yes"}


class CallExtra(msgspec.Struct, kw_only=True):
    """Facts of a call beside its row; `core_gone`: its core ended while it waited."""

    first: int
    last: int
    word: str = ""
    by: str = ""
    waited_s: float = 0.0
    rule: str = ""
    reason: str = ""
    cwd: str = ""
    lane: str = ""
    interrupted: bool = False
    core_gone: bool = False


def outcome(row: CallRow, extra: CallExtra, *, alive: bool) -> tuple[str, str]:
    """Returns glyph and words of a call's end; `alive` says that it is pending or running now."""
    if row.alarm:
        return "#", row.stage
    if row.stage == "refused":
        return row.glyph, row.stage
    if row.glyph == "?":
        return ("?", "pending") if alive else ("-", "withdrawn")
    if row.glyph:
        answered = extra.word == "answered-by-operator"
        labels = GLYPHS.get(row.glyph)
        column = (labels.column if labels else "") or row.stage
        return row.glyph, "answered" if answered else column
    if row.stage == "running":
        return "", "running" if alive else "no result"
    return "", _STAGES.get(row.stage, row.stage)


def by_whom(row: CallRow, extra: CallExtra, ended: str, *, me: str, alive: bool) -> str:
    """Names who or what decided: `you`, `kim`, `nobody, 0:30`, `rule no-sudo`, `no core`.

    Args:
        row: The call as the live table has it.
        extra: The facts of the call that no live row has.
        ended: The outcome, in the words of `outcome`.
        me: The operator who is shown as "you".
        alive: The call is pending or running now.
    """
    if row.glyph == "?":
        return "" if alive else "no core"
    if row.stage == "ran ungated":
        return "no gate"
    if row.stage == "refused":
        return f"{row.agent} itself"
    word = extra.word
    if word == "answered-elsewhere":
        return f"in {row.agent}"
    if word.endswith("-by-timeout"):
        return f"nobody, {_person(extra.waited_s)}"
    if word in ("denied-by-rule", "allowed-by-rule"):
        named = extra.rule if ended == "by rule" else f"rule {extra.rule}"
        return named if extra.rule else "a rule"
    if word.endswith("-by-operator"):
        return _operator(extra.by, me) + _confirmed(row, extra)
    ending = ENDINGS.get(word)
    return (ending.cause if ending else "") or extra.by


def _operator(by: str, me: str) -> str:
    match = _OPERATOR.fullmatch(by)
    if match is None:
        return by or "an operator"
    name, proof = match["name"], (match["place"] or "").partition(", ")[2]
    who = "you" if me and name == me else name or "an operator"
    # A clear terminal is the ordinary one, which the steps of the call name all the same.
    return f"{who} ({proof})" if proof not in ("", "clear") else who


def _confirmed(row: CallRow, extra: CallExtra) -> str:
    """Returns the confirmation that a console asked for: a grave allow takes more than one key."""
    at_console = "(console " in extra.by
    return _TWICE.get(row.risk, "") if row.glyph == "+" and at_console else ""


def _person(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes}:{rest:02d}"


_WHO = {
    "-by-operator": "operator",
    "-by-grant": "grant",
    "-by-rule": "rule",
    "-by-timeout": "nobody",
    "-no-approver": "nobody",
}


@lru_cache(maxsize=256)
def states_of(word: str) -> tuple[str, ...]:
    """Returns the states that a word stands for: itself, that of its row, and `allowed`.

    Whether an allowed call runs still is not for this word to say.
    """
    ending = ENDINGS.get(word)
    if ending is None:
        return ()
    over = (ending.stage,) if ending.over or ending.stage == "handed back" else ()
    return (word, *over, *(("allowed",) if word.startswith("allowed-") else ()))


@lru_cache(maxsize=256)
def decider_names(by: str, word: str) -> tuple[str, ...] | None:
    """Returns the names of who decided: `operator ann (console 2)` is also `operator` and `ann`.

    `grant #a41f of operator ann` is a grant, and not an operator.
    """
    who = next((name for end, name in _WHO.items() if word.endswith(end)), "")
    parts = [part.strip("(),") for part in by.split()]
    if who and who != "operator":
        parts = [part for part in parts if part != "operator"]
    names = dict.fromkeys((by, *parts, who))
    return tuple(name for name in names if name) or None


def host_of(session: str) -> str | None:
    """Returns the machine of a session, None where there is only one."""
    host, id = host_and_id(session)
    return host if id else None


def session_names(label: str, session: str) -> tuple[str, ...]:
    """Returns the names of a session: label and id, each without its machine too."""
    host, id = host_and_id(session)
    return (label, session, id, label.removeprefix(f"{host}:")) if id else (label, session)


class HistoryRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One recorded call: when it began (`at`, UTC µs), whose it is, and what became of it.

    `glyph` and `outcome` are its end in short, `by` who or what brought that about (`decider` in
    the record's own words), `word` the decision's own (empty without one) after `waited_s`.
    `state` are the words that a filter finds it by. `first` and `last` number its first and last
    record. `tool` and `summary` are empty where the journal does not keep them; `asked` is what the
    agent had asked for, where something else ran. `took_ms` is the machine's time alone.
    """

    at: int
    agent: str
    session: str
    label: str
    call: str
    tool: str
    risk: str
    glyph: str
    outcome: str
    first: int
    last: int
    by: str = ""
    summary: str = ""
    alarm: bool = False
    request: str | None = None
    word: str = ""
    rule: str = ""
    reason: str = ""
    waited_s: float = 0.0
    took_ms: int | None = None
    asked: AsAsked | None = None
    why: str = ""
    cwd: str = ""
    lane: str = ""
    decider: str = ""
    state: tuple[str, ...] = ()
