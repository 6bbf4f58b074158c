"""Call endings: the 18 words for how the gate's part of a call ends, and all their labels.

One table for the screen, the history, reports and replays. A word stands in records and never
changes; a label may.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

SentDecision = Literal["allow", "deny", "handback", "answer"]
_CLAIM = "-by-operator"


class CallEnding(msgspec.Struct, frozen=True, kw_only=True):
    """One way to end: what it means for the call, and how it is called where.

    `glyph` marks it in tables, `stage` is what the call is in from then on, `counter` the field of
    `Totals` that counts it, if any. `label` is for a list of settled requests, without the name of
    whoever decided, and `short` for where that name has no room; `sentence` for the dock, ending
    before that name with `names_actor`; `cause` names in the history what decided where no person
    did. `decision` is what an operator who ended it so had sent, for a replay.
    """

    glyph: str
    stage: str
    label: str
    sentence: str
    counter: str = ""
    names_actor: bool = False
    cause: str = ""
    short: str = ""
    decision: SentDecision | None = None

    @property
    def over(self) -> bool:
        """True where nothing more is to be expected of the call."""
        return self.stage not in ("running", "handed back")


ENDINGS: Final[dict[str, CallEnding]] = {
    "allowed-by-operator": CallEnding(
        glyph="+",
        stage="running",
        counter="allowed_by_operator",
        label="allowed",
        sentence="allowed by ",
        names_actor=True,
        decision="allow",
    ),
    "answered-by-operator": CallEnding(
        glyph="+",
        stage="running",
        counter="allowed_by_operator",
        label="answered",
        sentence="answered by ",
        names_actor=True,
        decision="answer",
    ),
    "allowed-by-grant": CallEnding(
        glyph="=",
        stage="running",
        counter="allowed_by_grant",
        label="allowed by a grant",
        sentence="allowed by ",
        names_actor=True,
        cause="a grant",
    ),
    "allowed-by-rule": CallEnding(
        glyph="=",
        stage="running",
        counter="allowed_by_grant",
        label="allowed by a rule",
        sentence="allowed by ",
        names_actor=True,
    ),
    "edited-by-operator": CallEnding(
        glyph="?",
        stage="pending",
        label="edited, asked again",
        sentence="edited and asked again by ",
        names_actor=True,
    ),
    "denied-by-operator": CallEnding(
        glyph="x",
        stage="denied",
        counter="denied_by_operator",
        label="denied",
        sentence="denied by ",
        names_actor=True,
        decision="deny",
    ),
    "denied-by-rule": CallEnding(
        glyph="x",
        stage="denied",
        counter="denied_by_rule",
        label="denied by a rule",
        short="a rule",
        sentence="denied by ",
        names_actor=True,
    ),
    "denied-by-timeout": CallEnding(
        glyph="T",
        stage="timed out",
        counter="denied_by_timeout",
        label="denied, no answer",
        sentence="denied by timeout",
    ),
    "denied-no-approver": CallEnding(
        glyph="x",
        stage="denied",
        counter="denied_other",
        label="denied, nobody there",
        sentence="denied, nobody could be asked",
        cause="no console",
    ),
    "denied-no-journal": CallEnding(
        glyph="x",
        stage="denied",
        counter="denied_other",
        label="denied, no journal",
        sentence="denied, the journal could not be written",
        cause="no journal",
    ),
    "denied-core-stopped": CallEnding(
        glyph="x",
        stage="denied",
        counter="denied_other",
        label="denied, core stopped",
        sentence="denied, the core stopped",
        cause="no core",
    ),
    "denied-failure": CallEnding(
        glyph="x",
        stage="denied",
        counter="denied_other",
        label="denied, a failure",
        sentence="denied after a failure",
        cause="a failure",
    ),
    "denied-paused": CallEnding(
        glyph="x",
        stage="denied",
        counter="denied_other",
        label="denied, paused",
        sentence="denied, the session is paused",
        cause="a pause",
    ),
    "withdrawn": CallEnding(
        glyph="-",
        stage="withdrawn",
        label="withdrawn, agent gone",
        sentence="withdrawn by the agent",
        cause="agent gone",
    ),
    "answered-elsewhere": CallEnding(
        glyph="~",
        stage="running",
        label="answered in its agent",
        short="in its agent",
        sentence="answered elsewhere, as told by ",
        names_actor=True,
    ),
    "handed-back": CallEnding(
        glyph="b",
        stage="handed back",
        counter="handed_back",
        label="handed back",
        sentence="handed back",
        cause="the gate",
    ),
    "handed-back-by-operator": CallEnding(
        glyph="b",
        stage="handed back",
        counter="handed_back",
        label="handed back",
        sentence="handed back by ",
        names_actor=True,
        decision="handback",
    ),
    "handed-back-by-timeout": CallEnding(
        glyph="b",
        stage="handed back",
        counter="handed_back",
        label="no answer, went back",
        sentence="handed back by timeout",
    ),
}


class GlyphLabels(msgspec.Struct, frozen=True):
    """The words for a glyph: in the history's column, of a hook's trace, in the help's legend."""

    column: str
    trace: str
    legend: str


GLYPHS: Final[dict[str, GlyphLabels]] = {
    "?": GlyphLabels("", "pending", "pending"),
    "+": GlyphLabels("allowed", "by operator", "allowed by you"),
    "x": GlyphLabels("denied", "denied", "denied"),
    "T": GlyphLabels("timed out", "timed out, denied", "timed out: denied"),
    "=": GlyphLabels("by rule", "by rule", "by a rule of yours"),
    "~": GlyphLabels("elsewhere", "answered elsewhere", "answered elsewhere"),
    "b": GlyphLabels("handed back", "handed back", "handed back"),
    "-": GlyphLabels("withdrawn", "withdrawn", "withdrawn, the agent left"),
}
"""Outcomes by the glyph of a call's row, in the order of the legend."""


def counter_of(word: str, by: str) -> str:
    """Returns the counter in `Totals`; a denial by an unproven person is not the operator's.

    A locked terminal may deny as well, and its denials are not those of the person who reads.
    """
    counter = ENDINGS[word].counter
    unproven = bool(by) and not by.startswith("operator")
    return "denied_other" if unproven and counter == "denied_by_operator" else counter


def ending_text(word: str, by: str) -> str:
    """Writes an outcome as a report does: the word without hyphens, as far as `by` is proven."""
    return shown_word(word, by).replace("-", " ")


def shown_word(word: str, by: str) -> str:
    """Returns the word without its `-by-operator` where `by` names no proven operator.

    A locked terminal may deny, and a registered program allow: `denied` and `allowed`, by those.
    """
    return word if by.startswith("operator") else word.removesuffix(_CLAIM)
