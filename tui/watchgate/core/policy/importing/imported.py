"""Results of an import: for each permission rule of an agent our rule, or why there is none.

Nothing is passed over in silence: every rule of the other file has its line in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from watchgate.core.policy.assessment import Decision
from watchgate.core.policy.rule_file import RuleData

Outcome = Literal["understood", "approximated", "refused"]

UNNAMED = "-"
"""Stands in a rule whose id is given when all rules of the file are known."""

_NOT_IN_ID = re.compile(r"[^a-z0-9]+")
_ID_CHARS = 40


class ImportFault(ValueError):
    """Raised for a file that is not what it should be; the message says how to mend it."""


class Unfit(Exception):
    """Raised for a rule that cannot be taken over; the message says why."""


class Imported(msgspec.Struct, frozen=True):
    """One rule of the other file, and what became of it.

    `source` is how it is written there, `said` what it decides, and `note` why our `rule` is not
    quite the same (approximated) or why there is none (refused). `about` is what the rule's id is
    made of.
    """

    source: str
    decision: Decision
    outcome: Outcome
    note: str = ""
    rule: RuleData | None = None
    about: str = ""


def taken(source: str, rule: RuleData, note: str = "", about: str = "") -> Imported:
    """Makes the result for a rule that was taken over; `note` says what differs."""
    outcome: Outcome = "approximated" if note else "understood"
    return Imported(source, rule.decision, outcome, note, rule, about or source)


def with_note(imported: Imported, note: str) -> Imported:
    """Returns the result with one more note; it is then approximated."""
    both = f"{imported.note}; {note}" if imported.note else note
    return msgspec.structs.replace(imported, outcome="approximated", note=both)


def refused(source: str, decision: Decision, why: str) -> Imported:
    """Makes the result for a rule that was not taken over."""
    return Imported(source, decision, "refused", why)


def with_ids(agent: str, rules: Iterable[Imported]) -> tuple[Imported, ...]:
    """Gives the rules unique ids such as `claude.deny-git-push`."""
    used: dict[str, int] = {}
    named: list[Imported] = []
    for each in rules:
        if each.rule is None:
            named.append(each)
            continue
        words = _NOT_IN_ID.sub("-", each.about.lower()).strip("-")[:_ID_CHARS].strip("-")
        name = f"{agent}.{each.decision}-{words or 'rule'}"
        used[name] = count = used.get(name, 0) + 1
        unique = name if count == 1 else f"{name}-{count}"
        rule = msgspec.structs.replace(each.rule, id=unique)
        named.append(msgspec.structs.replace(each, rule=rule))
    return tuple(named)
