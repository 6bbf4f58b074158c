"""Import of Claude Code's permission lists (`settings.json`).

Source: the settings and permissions pages of Claude Code's documentation; `permissions` holds the
lists `allow`, `ask` and `deny` of texts such as `Bash(git push *)`. The lists alone are taken too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from watchgate.core.policy.assessment import Decision
from watchgate.core.policy.importing.claude_paths import PATH_TOOLS, path_rule
from watchgate.core.policy.importing.claude_shell import shell_rule
from watchgate.core.policy.importing.claude_tools import field_rule, tool_rule
from watchgate.core.policy.importing.imported import (
    Imported,
    ImportFault,
    Unfit,
    refused,
    taken,
    with_ids,
)
from watchgate.core.policy.rule_file import RuleData

_LISTS: tuple[Decision, ...] = ("deny", "ask", "allow")
_RULE = re.compile(r"(?P<name>[^()\s]+)(?:\((?P<text>.*)\))?", re.DOTALL)
_SHELL_FIELDS = re.compile(r"(?:run_in_background|timeout|description|command):(?!\*$)")
_SAYS: dict[Decision, str] = {"allow": "allow", "ask": "ask about", "deny": "deny"}


def read(text: str, base: str) -> tuple[Imported, ...]:
    """Reads every rule of a settings file or of pasted lists; `base` is the folder for `/x`.

    Raises `ImportFault` when the text is no such file.
    """
    lists = _lists(text)
    rules: list[Imported] = []
    for decision in _LISTS:
        entries = lists.pop(decision, [])
        if not isinstance(entries, list) or not all(isinstance(each, str) for each in entries):
            raise ImportFault(
                f'{decision} is not a list of texts; write {decision} = ["Bash(ls *)"]'
            )
        rules += [_one(each, decision, base) for each in entries]
    return with_ids("claude", (*rules, *_others(lists)))


def _lists(text: str) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as fault:
        raise ImportFault(f"is not JSON: {fault}; mend it, or export the settings again") from None
    if not isinstance(given, dict):
        raise ImportFault("is not an object; Claude Code's settings are one")
    if "permissions" in given:
        given = given["permissions"]
    elif not any(decision in given for decision in _LISTS):
        raise ImportFault("has no `permissions`; there are no rules in it")
    if not isinstance(given, dict):
        raise ImportFault("`permissions` is not an object with the lists allow, ask and deny")
    return dict(given)


def _one(source: str, decision: Decision, base: str) -> Imported:
    match = _RULE.fullmatch(source.strip())
    if match is None:
        return refused(source, decision, "is not Tool or Tool(...); check its brackets")
    try:
        rule, note = _rule(match["name"], match["text"], decision, base, _reason(source, decision))
    except Unfit as why:
        return refused(source, decision, str(why))
    return taken(source, rule, note, match["text"] or match["name"])


def _rule(
    name: str, text: str | None, decision: Decision, base: str, reason: str
) -> tuple[RuleData, str]:
    """Builds our rule for one of Claude Code's, and a note on what differs.

    Args:
        name: The tool that it names.
        text: The text in its brackets; None without brackets.
        decision: The list that it stands in.
        base: The folder where `/x` begins.
        reason: The sentence for a person.
    """
    if text is None or text.strip() == "*":
        return tool_rule(name, decision, reason)
    if name == "Bash" and not _SHELL_FIELDS.match(text):
        return shell_rule(text, decision, reason)
    if name in PATH_TOOLS:
        return path_rule(name, text, decision, base, reason)
    return field_rule(name, text, decision, reason)


def _reason(source: str, decision: Decision) -> str:
    return f"Your Claude Code settings {_SAYS[decision]} this: {source}"


def _others(rest: dict[str, Any]) -> Iterator[Imported]:
    for key in rest:
        yield refused(key, "ask", "is a setting and no rule; it holds in Claude Code only")
