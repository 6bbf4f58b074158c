"""An imported rule, held against the loader and its own examples before anybody relies on it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from watchgate.core.policy.examples import check_examples, speaks
from watchgate.core.policy.importing.fragment import VERSION, rule_text
from watchgate.core.policy.importing.imported import Imported, refused
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


def _plainest(rule: RuleData) -> Iterator[str]:
    """The commands that a rule by words is plainly about."""
    command = rule.command
    for shape in (command,) if isinstance(command, CommandMatch) else command:
        for line in (shape.line,) if isinstance(shape.line, str) else shape.line:
            example = line.removesuffix(" *")
            if "*" not in example:
                yield example


def bound(found: Imported, agent: str) -> Imported:
    """The same for calls of one agent only."""
    if found.rule is None:
        return found
    return msgspec.structs.replace(found, rule=msgspec.structs.replace(found.rule, agents=agent))
