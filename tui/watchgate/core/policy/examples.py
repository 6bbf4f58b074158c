"""Examples of rules: each rule is tried on its own examples when a policy is loaded."""

from __future__ import annotations

from typing import Any

from watchgate.core.events import Tool, ToolClass
from watchgate.core.policy.assess import assess
from watchgate.core.policy.assessment import Assessment
from watchgate.core.policy.compiled import Rule
from watchgate.core.policy.load import Loaded
from watchgate.core.policy.policy import Policy
from watchgate.core.policy.rule_file import Defaults
from watchgate.core.policy.shell import grammar
from watchgate.core.policy.subject import Subject

HOME = "/home/me"
CWD = "/home/me/work"
OWN = (
    "/run/user/1000/watchgate",
    "/home/me/.local/state/watchgate",
    "/home/me/.config/watchgate",
    "/home/me/.claude/settings.json",
)
_CLASSES: dict[str, ToolClass] = {
    **dict.fromkeys(("Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch"), "edit"),
    **dict.fromkeys(("Read", "Grep", "Glob", "LS", "NotebookRead"), "read"),
    **dict.fromkeys(("WebFetch", "WebSearch", "Fetch"), "fetch"),
    **dict.fromkeys(("Agent", "Task"), "agent"),
    "AskUserQuestion": "question",
    "ExitPlanMode": "plan",
    "Bash": "shell",
}


def check_examples(policy: Policy, loaded: Loaded) -> None:
    """Raises `PolicyError` for the first example of a file that its rule gets wrong.

    Without a parser no command can be tried: a file is not at fault for that.
    """
    compiled = {rule.id: rule for rule in policy.rules}
    for index, data in enumerate(loaded.file.rule):
        rule = compiled.get(data.id)
        if rule is None:
            continue
        for key, examples, holds, wrong in (
            ("match", data.match, speaks, "does not match"),
            ("not_match", data.not_match, silent, "matches"),
        ):
            for example in examples:
                if isinstance(example, str) and not grammar.available():
                    continue
                if not holds(rule, example):
                    message = f"{wrong} its example {example!r}; mend the rule or the example"
                    raise loaded.error(index, message, key)


def speaks(rule: Rule, example: str | dict[str, Any]) -> bool:
    """Returns whether a rule, alone, matches an example."""
    assessment = _judged(rule, example)
    if rule.decision == "allow":
        return any(segment.allowed_by == rule.id for segment in assessment.segments)
    return any(finding.rule == rule.id for finding in assessment.findings)


def silent(rule: Rule, example: str | dict[str, Any]) -> bool:
    """Returns whether a rule, alone, does not allow an example, or does not match it."""
    if rule.decision == "allow":
        return _judged(rule, example).decision != "allow"
    return not speaks(rule, example)


def _judged(rule: Rule, example: str | dict[str, Any]) -> Assessment:
    return assess(subject_of(example), Policy.with_rules((rule,), Defaults()), 0)


def subject_of(example: str | dict[str, Any]) -> Subject:
    """Returns the call that an example describes: a command, or a tool with its input.

    Of `{ tool = "Edit", class = "edit", input = { ... }, cwd = "/x" }` the class and the folder may
    be left out, and `changed` are the paths that the session wrote before; `mcp__server__tool` is
    what MCP tools are called.
    """
    if isinstance(example, str):
        tool = Tool("Bash", "Bash", "shell", {"command": example}, "")
        return Subject(tool=tool, cwd=CWD, home=HOME, own=OWN)
    name = str(example.get("tool", ""))
    cls: ToolClass = "mcp" if name.startswith("mcp__") else _CLASSES.get(name, "other")
    cls = example.get("class", cls)
    tool = Tool(_shown(name), name, cls, dict(example.get("input", {})), "")
    return Subject(
        tool=tool,
        agent=str(example.get("agent", "")),
        cwd=str(example.get("cwd", CWD)),
        changed=frozenset(map(str, example.get("changed", ()))),
        home=HOME,
        own=OWN,
    )


def _shown(name: str) -> str:
    server, _, tool = name.removeprefix("mcp__").partition("__")
    return f"{server}:{tool}" if name.startswith("mcp__") and tool else name
