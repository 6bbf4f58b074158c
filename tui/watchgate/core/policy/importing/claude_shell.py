"""`Bash(...)` of Claude Code's permission lists.

Source: the permissions page of Claude Code's documentation. `*` stands for anything, blanks
included; a last ` *` or `:*` also for no arguments; without a `*` the whole command must be equal.
Each command of a compound is judged by itself.
"""

from __future__ import annotations

from watchgate.core.policy.assessment import Decision
from watchgate.core.policy.importing.command_words import NO_PROGRAM, line, risk, rule_for, split
from watchgate.core.policy.importing.imported import UNNAMED, Unfit
from watchgate.core.policy.rule_file import CommandMatch, RuleData

_GOES_ON = "its last * has no blank before it, so it also fits words that only begin so"


def shell_rule(text: str, decision: Decision, reason: str) -> tuple[RuleData, str]:
    """Builds the rule for a pattern of commands, and a note on what differs; raises `Unfit`."""
    if text.endswith(":*"):
        text = f"{text.removesuffix(':*')} *"
    if text.strip() == "*":
        return _every_command(decision, reason)
    words = split(text)
    more = words[-1] == "*"
    if more:
        words.pop()
    inner = any("*" in word for word in words)
    if not inner:
        return rule_for([[word] for word in words], decision, more=more, reason=reason)
    program = words[0]
    if "*" in program and decision == "allow":
        raise Unfit(NO_PROGRAM)
    note = _GOES_ON if not more and words[-1].endswith("*") else ""
    if "/" in program:
        # A folder in a pattern may be of any depth; `rule_for` knows what becomes of a plain one.
        raise Unfit("has a folder in its pattern; name the program alone")
    shape = CommandMatch(
        program=program,
        line=line(words) + (" *" if more else ""),
        flags="*" if decision == "allow" else None,
    )
    return RuleData(
        id=UNNAMED, decision=decision, risk=risk(decision), reason=reason, command=shape
    ), note


def _every_command(decision: Decision, reason: str) -> tuple[RuleData, str]:
    if decision == "allow":
        raise Unfit(f"allows every command, and {NO_PROGRAM}")
    return RuleData(
        id=UNNAMED, decision=decision, risk=risk(decision), reason=reason, tools="<shell>"
    ), ""
