"""The 18 words for how the gate's part of a call ended: glyph, stage and counter of each."""

from __future__ import annotations

from typing import Final

import msgspec


class CallEnding(msgspec.Struct, frozen=True):
    """A glyph, the stage that the call is in from then on, and the counter in `Totals`, if any."""

    glyph: str
    stage: str
    counter: str = ""

    @property
    def over(self) -> bool:
        """True where nothing more is to be expected of the call."""
        return self.stage not in ("running", "handed back")


ENDINGS: Final[dict[str, CallEnding]] = {
    "allowed-by-operator": CallEnding("+", "running", "allowed_by_operator"),
    "answered-by-operator": CallEnding("+", "running", "allowed_by_operator"),
    "allowed-by-grant": CallEnding("=", "running", "allowed_by_grant"),
    "allowed-by-rule": CallEnding("=", "running", "allowed_by_grant"),
    "edited-by-operator": CallEnding("?", "pending"),
    "denied-by-operator": CallEnding("x", "denied", "denied_by_operator"),
    "denied-by-rule": CallEnding("x", "denied", "denied_by_rule"),
    "denied-by-timeout": CallEnding("T", "timed out", "denied_by_timeout"),
    "denied-no-approver": CallEnding("x", "denied", "denied_other"),
    "denied-no-journal": CallEnding("x", "denied", "denied_other"),
    "denied-core-stopped": CallEnding("x", "denied", "denied_other"),
    "denied-failure": CallEnding("x", "denied", "denied_other"),
    "denied-paused": CallEnding("x", "denied", "denied_other"),
    "withdrawn": CallEnding("-", "withdrawn"),
    "answered-elsewhere": CallEnding("~", "running"),
    "handed-back": CallEnding("b", "handed back", "handed_back"),
    "handed-back-by-operator": CallEnding("b", "handed back", "handed_back"),
    "handed-back-by-timeout": CallEnding("b", "handed back", "handed_back"),
}


def counter_of(word: str, by: str) -> str:
    """Returns the counter in `Totals`; a denial by an unproven person is not the operator's.

    A locked terminal may deny as well, and its denials are not those of the person who reads.
    """
    counter = ENDINGS[word].counter
    unproven = bool(by) and not by.startswith("operator")
    return "denied_other" if unproven and counter == "denied_by_operator" else counter
