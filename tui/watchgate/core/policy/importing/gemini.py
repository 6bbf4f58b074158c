"""Import of Gemini CLI's policy files (`~/.gemini/policies/*.toml`).

Source: gemini-cli, docs/reference/policy-engine.md. There the rule of the highest priority wins;
here a denial always does, and then what asks. A rule that wins there and loses here is said so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from watchgate.core import decoding
from watchgate.core.policy.importing.gemini_rule import GeminiRule, convert
from watchgate.core.policy.importing.imported import (
    Imported,
    ImportFault,
    Unfit,
    refused,
    taken,
    with_ids,
)

_NO_RULE = "is no rule of ours: nothing of it is taken over"
_FIELDS = ("mcpName", "toolName", "commandPrefix", "commandRegex", "argsPattern")


def read(text: str) -> tuple[Imported, ...]:
    """Reads every rule of a policy file; raises `ImportFault` when it is none."""
    try:
        given = tomllib.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ImportFault(f"is not TOML: {fault}; mend that line") from None
    entries = given.pop("rule", [])
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise ImportFault("`rule` is not a list of tables; write [[rule]]")
    return with_ids("gemini", (*_rules(entries), *(refused(key, "ask", _NO_RULE) for key in given)))


def _rules(entries: list[dict[str, Any]]) -> Iterator[Imported]:
    known: list[GeminiRule | Unfit] = [_checked(each) for each in entries]
    allows = [
        each for each in known if isinstance(each, GeminiRule) and each.our_decision == "allow"
    ]
    for number, (entry, rule) in enumerate(zip(entries, known, strict=True), 1):
        source = _shown(entry, number)
        if isinstance(rule, Unfit):
            yield refused(source, "ask", str(rule))
            continue
        try:
            made, note = convert(rule)
        except Unfit as why:
            yield refused(source, rule.our_decision, str(why))
            continue
        beaten = "" if rule.our_decision == "allow" else _beats(rule, allows)
        yield taken(source, made, "; ".join(filter(None, (note, beaten))), _about(rule))


def _checked(entry: dict[str, Any]) -> GeminiRule | Unfit:
    try:
        return decoding.convert(entry, GeminiRule)
    except msgspec.ValidationError as fault:
        return Unfit(f"is not understood: {fault}")


def _beats(rule: GeminiRule, allows: list[GeminiRule]) -> str:
    """Returns the note on allows of a higher priority that lose here; empty without any."""
    wins = [each for each in allows if each.priority > rule.priority and _meet(rule, each)]
    if not wins:
        return ""
    return (
        f"beats {len(wins)} allow rule(s) of a higher priority here, for priorities do not count; "
        "take it out where they should hold"
    )


def _about(rule: GeminiRule) -> str:
    parts = (rule.mcp_name, rule.command_prefix, rule.command_regex, rule.tool_name)
    return str(next(filter(None, parts), "every tool"))


def _meet(rule: GeminiRule, other: GeminiRule) -> bool:
    """Returns whether both may be about the same tool."""
    return any(
        fnmatchcase(one, two) or fnmatchcase(two, one)
        for one in rule.tools or ("*",)
        for two in other.tools or ("*",)
    )


def _shown(entry: dict[str, Any], number: int) -> str:
    fields = " ".join(
        f"{key}={msgspec.json.encode(entry[key]).decode()}" for key in _FIELDS if key in entry
    )
    return f"rule {number}: {entry.get('decision', '?')} {fields}".rstrip()
