"""An imported rule, held against the loader and its own examples before anybody relies on it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from watchgate.core.policy.assess import assess
from watchgate.core.policy.assessment import NO_RULE, Finding, severity
from watchgate.core.policy.examples import check_examples, speaks, subject_of
from watchgate.core.policy.importing.fragment import VERSION, rule_text
from watchgate.core.policy.importing.imported import Imported, refused, with_note
from watchgate.core.policy.load import PolicyError, load
from watchgate.core.policy.policy import Policy
from watchgate.core.policy.rule_file import CommandMatch, RuleData

_ORIGIN = "import"


def proved(found: Imported) -> Imported:
    """The same, or refused in the loader's words where the rule could not be loaded or is wrong."""
    if found.rule is None:
        return found
    try:
        loaded = load(VERSION + rule_text(found.rule), _ORIGIN, "user")
        policy = Policy.of((loaded,))
        check_examples(policy, loaded)
    except PolicyError as fault:
        why = str(fault).partition(f"rule {found.rule.id}: ")[2] or str(fault)
        return refused(found.source, found.said, f"cannot be said here: {why}")
    for example in _plainest(found.rule):
        if not speaks(policy.rules[0], example):
            why = f"would never hold: {example!r} is judged by what it runs, or cannot be read"
            return refused(found.source, found.said, why)
    return found


def weighed(found: Imported, policy: Policy) -> Imported:
    """The same, with a note where it is an allow for commands that `policy` asks about anyhow.

    Any ask outweighs an allow. A command that is asked about only in some of its forms, with an
    argument or without, is not told of.
    """
    if found.rule is None or found.rule.decision != "allow":
        return found
    told = [
        f"a shipped rule still asks about `{example}` ({why.rule}: {why.reason})"
        for line in _lines(found.rule)
        if (example := line.removesuffix(" *")) and "*" not in example
        if (why := _outweighed(example, policy, more=line != example)) is not None
    ]
    return with_note(found, told[0]) if told else found


def _outweighed(example: str, policy: Policy, *, more: bool) -> Finding | None:
    """The gravest finding that asks about a command, and about it with an argument too."""
    said = _said_against(example, policy)
    if more:
        behind = {each.rule for each in _said_against(f"{example} x", policy)}
        said = [each for each in said if each.rule in behind]
    return max(said, key=lambda each: severity(each.risk), default=None)


def _said_against(command: str, policy: Policy) -> list[Finding]:
    found = assess(subject_of(command), policy, 0).findings
    # An allow outweighs what is ordinary work.
    return [
        each
        for each in found
        if each.decision != "allow" and each.rule != NO_RULE and each.effect != "ordinary"
    ]


def _plainest(rule: RuleData) -> Iterator[str]:
    """The commands that a rule by words is plainly about."""
    for line in _lines(rule):
        example = line.removesuffix(" *")
        if "*" not in example:
            yield example


def _lines(rule: RuleData) -> Iterator[str]:
    """The lines of words that a rule names."""
    command = rule.command
    for shape in (command,) if isinstance(command, CommandMatch) else command:
        yield from (shape.line,) if isinstance(shape.line, str) else shape.line


def bound(found: Imported, agent: str) -> Imported:
    """The same for calls of one agent only."""
    if found.rule is None:
        return found
    return msgspec.structs.replace(found, rule=msgspec.structs.replace(found.rule, agents=agent))
