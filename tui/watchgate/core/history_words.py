"""The outcome of a recorded call, and who decided it, in the few words of a column."""

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


def outcome(row: CallRow, extra: Told, *, alive: bool) -> tuple[str, str]:
    """Returns glyph and words of a call's end; `alive` says that it is pending or running now."""
    if row.alarm:
        return "#", row.stage
    if row.stage == "refused":
        return row.glyph, row.stage
    if row.glyph == "?":
        return ("?", "pending") if alive else ("-", "withdrawn")
    if row.glyph:
        answered = extra.word == "answered-by-operator"
        return row.glyph, "answered" if answered else _OUTCOMES.get(row.glyph, row.stage)
    if row.stage == "running":
        return "", "running" if alive else "no result"
    return "", _STAGES.get(row.stage, row.stage)


def by_whom(row: CallRow, extra: Told, ended: str, *, me: str, alive: bool) -> str:
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
    return _BY.get(word, extra.by)


def _operator(by: str, me: str) -> str:
    match = _OPERATOR.fullmatch(by)
    if match is None:
        return by or "an operator"
    name, proof = match["name"], (match["place"] or "").partition(", ")[2]
    who = "you" if me and name == me else name or "an operator"
    # A clear terminal is the ordinary one, which the steps of the call name all the same.
    return f"{who} ({proof})" if proof not in ("", "clear") else who


def _confirmed(row: CallRow, extra: Told) -> str:
    """Returns the confirmation that a console asked for: a grave allow takes more than one key."""
    at_console = "(console " in extra.by
    return _TWICE.get(row.risk, "") if row.glyph == "+" and at_console else ""


def _person(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes}:{rest:02d}"
