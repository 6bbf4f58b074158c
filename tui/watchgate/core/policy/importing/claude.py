"""Claude Code's permission lists (`settings.json`), read into rules of ours.

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
    """Every rule of a settings file or of pasted lists; `base` is the folder that `/x` begins at.

    Raises `ImportFault` when the text is no such file.
    """
    lists = _lists(text)
    found: list[Imported] = []
    for said in _LISTS:
        entries = lists.pop(said, [])
        if not isinstance(entries, list) or not all(isinstance(each, str) for each in entries):
            raise ImportFault(f'{said} is not a list of texts; write {said} = ["Bash(ls *)"]')
        found += [_one(each, said, base) for each in entries]
    return with_ids("claude", (*found, *_others(lists)))


def _lists(text: str) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as fault:
        raise ImportFault(f"is not JSON: {fault}; mend it, or export the settings again") from None
    if not isinstance(given, dict):
        raise ImportFault("is not an object; Claude Code's settings are one")
    if "permissions" in given:
        given = given["permissions"]
    elif not any(said in given for said in _LISTS):
        raise ImportFault("has no `permissions`; there are no rules in it")
    if not isinstance(given, dict):
        raise ImportFault("`permissions` is not an object with the lists allow, ask and deny")
    return dict(given)


def _one(source: str, said: Decision, base: str) -> Imported:
    found = _RULE.fullmatch(source.strip())
    if found is None:
        return refused(source, said, "is not Tool or Tool(...); check its brackets")
    try:
        rule, note = _rule(found["name"], found["text"], said, base, _reason(source, said))
    except Unfit as why:
        return refused(source, said, str(why))
    return taken(source, rule, note, found["text"] or found["name"])


def _rule(
    name: str, text: str | None, said: Decision, base: str, reason: str
) -> tuple[RuleData, str]:
    if text is None or text.strip() == "*":
        return tool_rule(name, said, reason)
    if name == "Bash" and not _SHELL_FIELDS.match(text):
        return shell_rule(text, said, reason)
    if name in PATH_TOOLS:
        return path_rule(name, text, said, base, reason)
    return field_rule(name, text, said, reason)


def _reason(source: str, said: Decision) -> str:
    return f"Your Claude Code settings {_SAYS[said]} this: {source}"


def _others(rest: dict[str, Any]) -> Iterator[Imported]:
    for key in rest:
        yield refused(key, "ask", "is a setting and no rule; it holds in Claude Code only")
