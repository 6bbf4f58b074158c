"""What becomes of a permission rule that was written for an agent: our rule, or why there is none.

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
    """The file cannot be read as what it should be; the message says where and how to mend it."""


class Unfit(Exception):
    """One rule cannot be taken over; the message says why, and what that means."""


class Imported(msgspec.Struct, frozen=True):
    """One rule of the other file.

    `source` is how it is written there, `said` what it decides, and `note` why our `rule` is not
    quite the same (approximated) or why there is none (refused). `about` is what the rule's id is
    made of.
    """

    source: str
    said: Decision
    outcome: Outcome
    note: str = ""
    rule: RuleData | None = None
    about: str = ""


def taken(source: str, rule: RuleData, note: str = "", about: str = "") -> Imported:
    """A rule that was taken over, exactly or with a note that says what differs."""
    outcome: Outcome = "approximated" if note else "understood"
    return Imported(source, rule.decision, outcome, note, rule, about or source)


def with_note(found: Imported, note: str) -> Imported:
    """The same rule with one more thing that differs; it is then approximated."""
    both = f"{found.note}; {note}" if found.note else note
    return msgspec.structs.replace(found, outcome="approximated", note=both)


def refused(source: str, said: Decision, why: str) -> Imported:
    """A rule that was not taken over."""
    return Imported(source, said, "refused", why)


def with_ids(agent: str, rules: Iterable[Imported]) -> tuple[Imported, ...]:
    """The same rules with ids such as `claude.deny-git-push`, each of them once."""
    used: dict[str, int] = {}
    named: list[Imported] = []
    for each in rules:
        if each.rule is None:
            named.append(each)
            continue
        words = _NOT_IN_ID.sub("-", each.about.lower()).strip("-")[:_ID_CHARS].strip("-")
        name = f"{agent}.{each.said}-{words or 'rule'}"
        used[name] = count = used.get(name, 0) + 1
        unique = name if count == 1 else f"{name}-{count}"
        rule = msgspec.structs.replace(each.rule, id=unique)
        named.append(msgspec.structs.replace(each, rule=rule))
    return tuple(named)
