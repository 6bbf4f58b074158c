"""The words of other systems for a decision, and the one meaning that each of them has.

Each table is read both ways. Where several words mean the same the first is the one that is said;
where a system has no word for a meaning the next narrower one is said, in the end its denial: what
is told is never wider than what was decided.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal


class Meaning(StrEnum):
    """The meaning of another system's word about a call; `ASKED`: nobody has decided yet."""

    ASKED = "asked"
    ALLOW = "allow"
    ALLOW_SESSION = "allow-session"
    ALLOW_ALWAYS = "allow-always"
    MODIFY = "modify"
    DENY = "deny"
    ABORT = "abort"

    @property
    def allows(self) -> bool:
        """Returns whether the call may run."""
        return self in _ALLOWING


System = Literal["codewhale-runtime", "sandbox-status", "synaps"]

_ALLOWING = frozenset((Meaning.ALLOW, Meaning.ALLOW_SESSION, Meaning.ALLOW_ALWAYS, Meaning.MODIFY))
_NARROWER: Final = {
    Meaning.ALLOW_ALWAYS: Meaning.ALLOW_SESSION,
    Meaning.ALLOW_SESSION: Meaning.ALLOW,
    Meaning.ABORT: Meaning.DENY,
}
WORDS: Final[dict[System, dict[str, Meaning]]] = {
    "codewhale-runtime": {"allow": Meaning.ALLOW, "deny": Meaning.DENY},
    "sandbox-status": {
        "requested": Meaning.ASKED,
        "accept": Meaning.ALLOW,
        "accept_for_session": Meaning.ALLOW_SESSION,
        "reject": Meaning.DENY,
        "approved": Meaning.ALLOW,
        "denied": Meaning.DENY,
    },
    "synaps": {
        "continue": Meaning.ALLOW,
        "confirm": Meaning.ASKED,
        "modify": Meaning.MODIFY,
        "block": Meaning.DENY,
    },
}


def meaning(system: System, word: object) -> Meaning | None:
    """Returns the meaning of a system's word; None for one that the system does not have."""
    return WORDS[system].get(word) if isinstance(word, str) else None


def decided(system: System, word: object) -> Meaning:
    """Returns the decision that this word means: a missing or unknown one denies."""
    known_meaning = meaning(system, word)
    return Meaning.DENY if known_meaning in (None, Meaning.ASKED) else known_meaning


def word(system: System, meant: Meaning) -> str:
    """Returns a system's word for a meaning; never one that allows more than is meant."""
    words = {known: text for text, known in reversed(WORDS[system].items())}
    wanted: Meaning | None = meant
    while wanted is not None:
        if wanted in words:
            return words[wanted]
        wanted = _NARROWER.get(wanted)
    return words[Meaning.DENY]
