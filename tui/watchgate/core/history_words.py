"""What became of a recorded call, and who brought it about, in the few words of a column."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from watchgate.core.views import CallRow

_OPERATOR = re.compile(r"operator (?P<name>.*?)(?: \((?P<place>[^()]*)\))?", re.DOTALL)
_OUTCOMES: Final = {
    "+": "allowed",
    "=": "by rule",
    "x": "denied",
    "T": "timed out",
    "-": "withdrawn",
    "~": "elsewhere",
    "b": "handed back",
}
_STAGES: Final = {"done": "ran", "handed back": "handed back"}
_BY: Final = {
    "denied-no-approver": "no console",
    "denied-no-journal": "no journal",
    "denied-core-stopped": "no core",
    "denied-failure": "a failure",
    "denied-paused": "a pause",
    "allowed-by-grant": "a grant",
    "withdrawn": "agent gone",
    "handed-back": "the gate",
}
_TWICE: Final = {"high": ", twice", "unknown": ", twice", "critical": ", yes"}


class Told(msgspec.Struct, kw_only=True):
    """What records tell of a call beside its row; `core_gone`: its core ended while it waited."""

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


def outcome(row: CallRow, told: Told, *, alive: bool) -> tuple[str, str]:
    """Glyph and words of how a call ended; `alive` says that it is pending or running now."""
    if row.alarm:
        return "#", row.stage
    if row.stage == "refused":
        return row.glyph, row.stage
    if row.glyph == "?":
        return ("?", "pending") if alive else ("-", "withdrawn")
    if row.glyph:
        answered = told.word == "answered-by-operator"
        return row.glyph, "answered" if answered else _OUTCOMES.get(row.glyph, row.stage)
    if row.stage == "running":
        return "", "running" if alive else "no result"
    return "", _STAGES.get(row.stage, row.stage)


def by_whom(row: CallRow, told: Told, ended: str, *, me: str, alive: bool) -> str:
    """Who or what brought it about: `you`, `kim`, `nobody, 0:30`, `rule no-sudo`, `no core`."""
    if row.glyph == "?":
        return "" if alive else "no core"
    if row.stage == "ran ungated":
        return "no gate"
    if row.stage == "refused":
        return f"{row.agent} itself"
    word = told.word
    if word == "answered-elsewhere":
        return f"in {row.agent}"
    if word.endswith("-by-timeout"):
        return f"nobody, {_person(told.waited_s)}"
    if word in ("denied-by-rule", "allowed-by-rule"):
        named = told.rule if ended == "by rule" else f"rule {told.rule}"
        return named if told.rule else "a rule"
    if word.endswith("-by-operator"):
        return _operator(told.by, me) + _confirmed(row, told)
    return _BY.get(word, told.by)


def _operator(by: str, me: str) -> str:
    found = _OPERATOR.fullmatch(by)
    if found is None:
        return by or "an operator"
    name, proof = found["name"], (found["place"] or "").partition(", ")[2]
    who = "you" if me and name == me else name or "an operator"
    # A clear terminal is the ordinary one, which the steps of the call name all the same.
    return f"{who} ({proof})" if proof not in ("", "clear") else who


def _confirmed(row: CallRow, told: Told) -> str:
    """A console lets nobody allow what is grave with a single key."""
    at_console = "(console " in told.by
    return _TWICE.get(row.risk, "") if row.glyph == "+" and at_console else ""


def _person(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes}:{rest:02d}"
