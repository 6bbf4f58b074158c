"""What the tests of imports ask of a list of rules."""

from __future__ import annotations

import json

from watchgate.core.policy.importing import claude_rules
from watchgate.core.policy.importing.imported_rule import Imported
from watchgate.core.policy.inputs.rule_file import CommandMatch, RuleData

BASE = "/home/me/work"


def one(rule: str, said: str = "allow", base: str = BASE) -> Imported:
    """What becomes of one rule of Claude Code's."""
    (found,) = claude_rules.read(json.dumps({"permissions": {said: [rule]}}), base)
    return found


def made(found: Imported) -> RuleData:
    """The rule that was taken over."""
    assert found.rule is not None, found.note
    return found.rule


def shapes(found: Imported) -> tuple[CommandMatch, ...]:
    """The commands that it is about."""
    command = made(found).command
    return command if isinstance(command, tuple) else (command,)
