"""Results of an import: for each permission rule of an agent our rule, or why there is none.

Nothing is passed over in silence: every rule of the other file has its line in the answer.

Command prefixes: rules that name commands by their first words, for all three agents.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from itertools import chain, product
from math import prod
from typing import Literal

import msgspec

from watchgate.core.model.assessment import Decision, Risk
from watchgate.core.policy.inputs.rule_file import CommandMatch, Names, RuleData

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


def accepted(source: str, rule: RuleData, note: str = "", about: str = "") -> Imported:
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


MAX_LINES = 64
"""Alternatives that one rule may spell out; more is no rule that a person has read."""

NO_PROGRAM = "an allow rule names its program here; name the programs one by one"

_RISKS: dict[Decision, Risk] = {"ask": "medium", "deny": "high"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_CLUSTER = re.compile(r"-[A-Za-z]{2,3}")
_NEEDS_QUOTES = re.compile(r"[\s'\"\\]")


def split(text: str) -> list[str]:
    """Splits the command of a rule into words without quotes; raises `Unfit` for several.

    `*` stays as it is, wherever it stands.
    """
    if "\n" in text:
        raise Unfit("holds a line break, and each command is judged by itself; write one rule each")
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        raise Unfit("has a quote that is not closed; close it") from None
    if not words:
        raise Unfit("names no command; write the command that is meant")
    if operator := next((word for word in words if set(word) <= set("();<>|&")), None):
        raise Unfit(f"holds the operator {operator}, and each command is judged by itself")
    if _ASSIGNMENT.match(words[0]):
        raise Unfit("begins with a variable; name the program, and the variable as `env`")
    return words


def line(words: Sequence[str]) -> str:
    """Joins words as in `CommandMatch.line`: one blank between, quoted where they need it."""
    return " ".join(shlex.quote(word) if _NEEDS_QUOTES.search(word) else word for word in words)


def rule_for(
    words: Sequence[Sequence[str]], decision: Decision, *, more: bool, reason: str
) -> tuple[RuleData, str]:
    """Builds the rule for commands of these words, each with its alternatives.

    It comes with a note on what differs; `more` says that further arguments may follow. An allow
    fits these words only; what asks or denies also sees the same words with options between them
    and flags in another order. Raises `Unfit`.
    """
    if prod(map(len, words)) > MAX_LINES:
        raise Unfit(f"spells out more than {MAX_LINES} commands; write several rules")
    programs, note = _programs(words[0], decision)
    spelled = [line(each) for each in product(programs, *words[1:])]
    lines = names([f"{each} *" if more else each for each in spelled])
    if decision == "allow":
        shape = CommandMatch(program=names(programs), line=lines, flags="*")
        return RuleData(id=UNNAMED, decision=decision, reason=reason, command=shape), note
    shapes = [CommandMatch(program=names(programs), line=lines)]
    if more and len(words) > 1 and not any("*" in each for each in chain(*words[1:])):
        shapes += [_in_any_order(programs, each) for each in product(*words[1:])]
    command = shapes[0] if len(shapes) == 1 else tuple(shapes)
    rule = RuleData(
        id=UNNAMED, decision=decision, risk=risk(decision), reason=reason, command=command
    )
    return rule, note


def risk(decision: Decision) -> Risk | None:
    """Returns the risk of an imported rule: an agent's list does not name any."""
    return _RISKS.get(decision)


def names(several: Sequence[str]) -> Names:
    """Returns several names as a tuple, and one as it is."""
    return several[0] if len(several) == 1 else tuple(several)


def _programs(given: Sequence[str], decision: Decision) -> tuple[list[str], str]:
    """Returns the programs without their folders, and a note on what that changes."""
    if decision == "allow" and any("*" in each for each in given):
        raise Unfit(NO_PROGRAM)
    if not any("/" in each for each in given):
        return list(given), ""
    if decision == "allow":
        raise Unfit("allows one file as a program; here an allow fits programs found by their name")
    programs = [each.rstrip("/").rpartition("/")[2] or each for each in given]
    return programs, "fits the program wherever it lies: a folder does not make it harmless"


def _in_any_order(programs: Sequence[str], words: Sequence[str]) -> CommandMatch:
    """Builds the shape of the same operands and flags, the flags in any order and spelling."""
    flags = [flag for word in words if word.startswith("-") for flag in _letters(word)]
    operands = [word for word in words if not word.startswith("-")]
    return CommandMatch(
        program=names(programs), sub=" ".join(operands) or (), all_flag=tuple(flags)
    )


def _letters(flag: str) -> list[str]:
    """Splits a short cluster (`-rf`) into flags; a longer one is a name by itself (`-delete`)."""
    return [f"-{letter}" for letter in flag[1:]] if _CLUSTER.fullmatch(flag) else [flag]
