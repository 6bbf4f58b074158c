"""`Read(...)` and `Edit(...)` of Claude Code's permission lists.

Source: the permissions page of Claude Code's documentation. Patterns are those of `.gitignore`;
`//x` begins at the root, `~/x` at home, `/x` at the folder of the settings, any other at the
working folder. `Read` stands for all tools that read, `Edit` for all that write.
"""

from __future__ import annotations

import re

from watchgate.core.policy.assessment import Decision
from watchgate.core.policy.importing.command_words import risk
from watchgate.core.policy.importing.imported import UNNAMED, Unfit
from watchgate.core.policy.rule_file import Access, PathMatch, RuleData

_NEVER = {
    **dict.fromkeys(("Write", "MultiEdit", "NotebookEdit"), "Edit"),
    **dict.fromkeys(("Glob", "Grep", "LS", "NotebookRead"), "Read"),
}
"""Tools whose paths Claude takes in its lists and then never looks at."""

PATH_TOOLS = frozenset(("Read", "Edit", *_NEVER))

_SET = re.compile(r"@[a-z][a-z0-9-]*")
_ANYWHERE = "fits such paths anywhere, in Claude Code only those under the working folder"


def path_rule(
    name: str, pattern: str, decision: Decision, base: str, reason: str
) -> tuple[RuleData, str]:
    """Builds the rule for paths, and a note on what differs; raises `Unfit`.

    Args:
        name: The tool that it names.
        pattern: The pattern for paths, as written.
        decision: The list that it stands in.
        base: The folder where `/x` begins.
        reason: The sentence for a person.
    """
    notes: list[str] = []
    if stands_for := _NEVER.get(name):
        if decision == "allow":
            raise Unfit(f"Claude Code never looks at {name}(...) rules; {stands_for}(...) works")
        notes.append(f"Claude Code never looks at {name}(...); here it is {stands_for}(...)")
        name = stands_for
    if pattern.startswith("!"):
        raise Unfit("is an exception from other rules; write it as `none` of the rule it is from")
    if not pattern:
        raise Unfit("names no path; write the path that is meant")
    anchored, relative = _anchored(pattern, base)
    if _SET.fullmatch(anchored):
        raise Unfit("is written as the names of sets are here; write the path in another way")
    if relative and decision != "allow":
        notes.append(_ANYWHERE)
    return RuleData(
        id=UNNAMED,
        decision=decision,
        risk=risk(decision),
        reason=reason,
        # What asks or denies looks at the paths of shell commands too.
        tools=f"<{name.lower()}>" if decision == "allow" else (),
        paths=PathMatch(
            access=_access(name, decision),
            any=anchored if decision == "allow" or not relative else _at_any_depth(anchored),
            none="@outside" if decision == "allow" and relative else (),
        ),
    ), "; ".join(notes)


def _access(name: str, decision: Decision) -> Access:
    if name == "Edit":
        return "write"
    # A file that must not be read must not be written either, says Claude Code.
    return "any" if decision == "deny" else "read"


def _anchored(pattern: str, base: str) -> tuple[str, bool]:
    """Returns the pattern as we write it, and whether it begins at the session's folder."""
    if pattern.startswith("//"):
        return pattern[1:], False
    if pattern == "~" or pattern.startswith("~/"):
        return pattern, False
    if pattern.startswith("/"):
        return base.rstrip("/") + pattern, False
    return pattern.removeprefix("./"), True


def _at_any_depth(pattern: str) -> str:
    return pattern if pattern.startswith("**/") or pattern == "**" else f"**/{pattern}"
