"""Import of Gemini CLI's policy files (`~/.gemini/policies/*.toml`).

Source: gemini-cli, docs/reference/policy-engine.md. There the rule of the highest priority wins;
here a denial always does, and then what asks. A rule that wins there and loses here is said so.

- One `[[rule]]` of a Gemini CLI policy file, and its translation into our rule. Source: gemini-cli,
  docs/reference/policy-engine.md and packages/core/src/policy/toml-loader.ts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from watchgate.core.base import decoding
from watchgate.core.model.assessment import Decision
from watchgate.core.policy.importing.imported_rule import (
    UNNAMED,
    Imported,
    ImportFault,
    Unfit,
    accepted,
    names,
    refused,
    risk,
    rule_for,
    split,
    with_ids,
)
from watchgate.core.policy.inputs.rule_file import Names, RuleData

SHELL = "run_shell_command"
_OF_A_SERVER = re.compile(r"mcp_[^_*]+_\*")
_DECISIONS: dict[str, Decision] = {"allow": "allow", "deny": "deny", "ask_user": "ask"}


class GeminiRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A rule of a Gemini policy file; either of two spellings of a key may be used."""

    decision: Literal["allow", "deny", "ask_user"]
    priority: int
    tool_name: str | tuple[str, ...] = msgspec.field(default=(), name="toolName")
    subagent: str = ""
    mcp_name: str = msgspec.field(default="", name="mcpName")
    args_pattern: str = msgspec.field(default="", name="argsPattern")
    command_prefix: str | tuple[str, ...] = msgspec.field(default=(), name="commandPrefix")
    command_regex: str = msgspec.field(default="", name="commandRegex")
    modes: tuple[str, ...] = ()
    interactive: bool | None = None
    tool_annotations: dict[str, Any] = msgspec.field(default_factory=dict, name="toolAnnotations")
    redirection_allowed: bool = msgspec.field(default=False, name="allowRedirection")
    allow_redirection: bool = False
    message: str = msgspec.field(default="", name="denyMessage")
    deny_message: str = ""

    @property
    def our_decision(self) -> Decision:
        """The rule's decision in our words."""
        return _DECISIONS[self.decision]

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the rule's tools; none means every tool."""
        return _several(self.tool_name)


def convert(rule: GeminiRule) -> tuple[RuleData, str]:
    """Translates a rule into ours, with a note on what differs; raises `Unfit`."""
    if rule.args_pattern:
        raise Unfit("argsPattern searches the input's JSON text; write `input` for a field of it")
    if rule.tool_annotations:
        raise Unfit("goes by what a tool says of itself, which nobody can check here")
    notes = _conditions(rule)
    our_rule, differs = _matchers(rule)
    return our_rule, "; ".join(filter(None, (*notes, differs)))


def _conditions(rule: GeminiRule) -> list[str]:
    """Returns notes on dropped conditions; raises `Unfit` where dropping one would allow more."""
    dropped = [key for key in ("modes", "subagent", "interactive") if _given(getattr(rule, key))]
    if dropped and rule.our_decision == "allow":
        raise Unfit(f"allows only for {', '.join(dropped)}; here it would allow always")
    notes = [f"holds always, whatever its {', '.join(dropped)}"] if dropped else []
    if rule.our_decision == "allow" and (rule.redirection_allowed or rule.allow_redirection):
        notes.append("no allow covers a redirect into a file here")
    return notes


def _matchers(rule: GeminiRule) -> tuple[RuleData, str]:
    reason = rule.message or rule.deny_message or f"Your Gemini policy says {rule.decision}"
    plain = RuleData(
        id=UNNAMED, decision=rule.our_decision, risk=risk(rule.our_decision), reason=reason
    )
    if rule.command_prefix or rule.command_regex:
        if rule.tools != (SHELL,):
            raise Unfit(f'commandPrefix and commandRegex need toolName = "{SHELL}"')
        return _command(rule, plain)
    if rule.mcp_name:
        return _with_tools(plain, _of_server(rule)), ""
    if rule.our_decision == "allow" and (
        not rule.tools or SHELL in rule.tools or _open(rule.tools)
    ):
        raise Unfit("allows every command or tools that nobody has seen; name them one by one")
    return _with_tools(plain, names([_tool(each) for each in rule.tools] or ["*"])), ""


def _command(rule: GeminiRule, plain: RuleData) -> tuple[RuleData, str]:
    if rule.command_regex:
        if rule.our_decision == "allow":
            raise Unfit("allows by a regular expression over the text; use commandPrefix")
        raw = f"^(?:{rule.command_regex})"
        return msgspec.structs.replace(plain, tools="<shell>", raw=raw), (
            "fits at the beginning of the whole text, not of each command in it"
        )
    prefixes = [split(each) for each in _several(rule.command_prefix)]
    if any("*" in word for words in prefixes for word in words) and rule.our_decision == "allow":
        raise Unfit("holds a *, which is a letter there and stands for anything here")
    made = [
        rule_for([[word] for word in words], rule.our_decision, more=True, reason=plain.reason)
        for words in prefixes
    ]
    shapes = [shape for our_rule, _ in made for shape in _shapes(our_rule)]
    command = shapes[0] if len(shapes) == 1 else tuple(shapes)
    notes = dict.fromkeys(note for _, note in made if note)
    return msgspec.structs.replace(plain, command=command), "; ".join(notes)


def _shapes(rule: RuleData) -> tuple[Any, ...]:
    return rule.command if isinstance(rule.command, tuple) else (rule.command,)


def _of_server(rule: GeminiRule) -> Names:
    """Returns the names of a server's tools, as several agents write them."""
    if rule.our_decision == "allow" and "*" in rule.mcp_name:
        raise Unfit("allows tools of servers that nobody has named; name the server")
    if rule.mcp_name == "*" and rule.tools in ((), ("*",)):
        return ("<mcp>", "mcp_*")
    tools = rule.tools or ("*",)
    tool_names = [f"mcp{gap}{rule.mcp_name}{gap}{each}" for each in tools for gap in ("_", "__")]
    return names(tool_names)


def _with_tools(rule: RuleData, tools: Names) -> RuleData:
    return msgspec.structs.replace(rule, tools=tools)


def _tool(name: str) -> str:
    return "<shell>" if name == SHELL else name


def _open(tools: tuple[str, ...]) -> bool:
    return any("*" in each and not _OF_A_SERVER.fullmatch(each) for each in tools)


def _several(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _given(value: Any) -> bool:
    return value is not None and value not in ((), "")


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
        yield accepted(source, made, "; ".join(filter(None, (note, beaten))), _about(rule))


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
