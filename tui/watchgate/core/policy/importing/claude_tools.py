"""Tools, servers, hosts and fields in Claude Code's permission lists.

Source: the permissions page of Claude Code's documentation. `Tool(field:value)` looks at one field
of the input and can only ask or deny; a field that a tool has a form of its own for is never
looked at this way.
"""

from __future__ import annotations

import re

from watchgate.core.policy.assessment import Decision
from watchgate.core.policy.importing.command_words import risk
from watchgate.core.policy.importing.imported import UNNAMED, Unfit
from watchgate.core.policy.rule_file import Names, PathMatch, RuleData

_KNOWN: dict[str, Names] = {
    "Bash": "<shell>",
    "Read": "<read>",
    "Edit": "<edit>",
    "Agent": ("Agent", "Task"),
    "Task": ("Agent", "Task"),
    **{
        name: name
        for name in (
            *("Write", "MultiEdit", "NotebookEdit", "NotebookRead", "Glob", "Grep", "LS"),
            *("WebFetch", "WebSearch", "Skill", "SlashCommand", "TodoWrite", "ExitPlanMode"),
            *("AskUserQuestion", "BashOutput", "KillShell", "TaskStop", "PowerShell"),
        )
    },
}
_EDITS = frozenset(("Edit", "Write", "MultiEdit", "NotebookEdit"))
_FIELD = re.compile(r"([a-z][a-zA-Z0-9_]*):(.*)", re.DOTALL)
_HAS_A_FORM = frozenset(("command", "file_path", "path", "notebook_path", "url"))
_NAME = re.compile(r"[A-Za-z][\w.:-]*")


def tool_rule(name: str, decision: Decision, reason: str) -> tuple[RuleData, str]:
    """Builds the rule for every call of a tool, and a note on what differs; raises `Unfit`."""
    plain = RuleData(id=UNNAMED, decision=decision, risk=risk(decision), reason=reason)
    if name.startswith("mcp__"):
        return _with(plain, tools=_of_server(name, decision)), ""
    if "*" in name:
        if decision == "allow":
            raise Unfit("allows tools that nobody has seen; name each of them")
        return _with(plain, tools=name), ""
    if decision == "allow" and name in ("Bash", "PowerShell"):
        raise Unfit("allows every command; name the programs, as in Bash(git status *)")
    if decision == "allow" and name in _EDITS:
        inside = PathMatch(access="write", any="**", none="@outside")
        return _with(plain, tools=_KNOWN[name], paths=inside), "only inside the session's folder"
    if name in _KNOWN:
        return _with(plain, tools=_KNOWN[name]), ""
    if not _NAME.fullmatch(name):
        raise Unfit("is not the name of a tool; check how it is written")
    return _with(plain, tools=name), "no tool of this name is known here; only that very name fits"


def field_rule(name: str, text: str, decision: Decision, reason: str) -> tuple[RuleData, str]:
    """Builds the rule for calls of a tool with text in brackets; raises `Unfit`.

    It comes with a note on what differs.
    """
    rule, note = tool_rule(name, decision, reason)
    if name == "WebFetch" and text.startswith("domain:"):
        host = text.removeprefix("domain:")
        if not host or re.search(r"[\s/@]", host):
            raise Unfit("names no host; write WebFetch(domain:example.com)")
        return _with(rule, hosts=host), note
    if (field := _FIELD.fullmatch(text)) and name not in ("Skill", "WebFetch"):
        return _one_field(rule, field[1], field[2]), note
    if name in ("Agent", "Task") and text:
        return _with(rule, input={"subagent_type": text}), note
    if name == "Skill" and text:
        skill = text.removesuffix(":*").removesuffix(" *")
        differs = "fits the skill with any arguments" if skill == text else ""
        return _with(rule, input={"skill": skill}), differs
    raise Unfit(f"nothing is known of {name}(...) in this form; see `claude` for its rules")


def _one_field(rule: RuleData, field: str, value: str) -> RuleData:
    if rule.decision == "allow":
        raise Unfit("one field does not make a call harmless, so Claude Code allows none by it")
    if field in _HAS_A_FORM:
        raise Unfit(f"Claude Code never looks at {field} this way; use the tool's own form")
    if not value:
        raise Unfit(f"names no value for {field}; write one, or * for any")
    return _with(rule, input={field: value})


def _of_server(name: str, decision: Decision) -> Names:
    server = name.removeprefix("mcp__").partition("__")[0]
    if decision == "allow" and (not server or "*" in server):
        raise Unfit("allows tools of servers that nobody has named; name the server")
    if server == "*":
        return ("<mcp>", name)
    return name if "__" in name.removeprefix("mcp__") or "*" in server else f"{name}__*"


def _with(rule: RuleData, **changed: object) -> RuleData:
    values = {name: getattr(rule, name) for name in rule.__struct_fields__}
    return RuleData(**{**values, **changed})
