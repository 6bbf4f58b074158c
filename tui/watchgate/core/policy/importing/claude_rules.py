"""Import of Claude Code's permission lists (`settings.json`).

Source: the settings and permissions pages of Claude Code's documentation; `permissions` holds the
lists `allow`, `ask` and `deny` of texts such as `Bash(git push *)`. The lists alone are taken too.

- `Read(...)` and `Edit(...)` of Claude Code's permission lists. Source: the permissions page of
  Claude Code's documentation. Patterns are those of `.gitignore`; `//x` begins at the root, `~/x`
  at home, `/x` at the folder of the settings, any other at the working folder. `Read` stands for
  all tools that read, `Edit` for all that write.
- `Bash(...)` of Claude Code's permission lists. Source: the permissions page of Claude Code's
  documentation. `*` stands for anything, blanks included; a last ` *` or `:*` also for no
  arguments; without a `*` the whole command must be equal. Each command of a compound is judged by
  itself.
- Tools, servers, hosts and fields in Claude Code's permission lists. Source: the permissions page
  of Claude Code's documentation. `Tool(field:value)` looks at one field of the input and can only
  ask or deny; a field that a tool has a form of its own for is never looked at this way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from watchgate.core.model.assessment import Decision
from watchgate.core.policy.importing.imported_rule import (
    NO_PROGRAM,
    UNNAMED,
    Imported,
    ImportFault,
    Unfit,
    accepted,
    line,
    refused,
    risk,
    rule_for,
    split,
    with_ids,
)
from watchgate.core.policy.inputs.rule_file import Access, CommandMatch, Names, PathMatch, RuleData

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
    return accepted(source, rule, note, match["text"] or match["name"])


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
