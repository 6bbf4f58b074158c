"""Examples of rules: each rule is tried on its own examples when a policy is loaded.

- Cases: calls with what the policy is expected to say about them, one JSON object a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.assessment import Assessment, Decision, Risk
from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.policy.inputs.rule_file import Defaults
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.rules.compiled_rule import Rule
from watchgate.core.policy.rules.load import Loaded
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.policy.shell import grammar

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
            ("match", data.match, matches_example, "does not match"),
            ("not_match", data.not_match, misses_example, "matches"),
        ):
            for example in examples:
                if isinstance(example, str) and not grammar.available():
                    continue
                if not holds(rule, example):
                    message = f"{wrong} its example {example!r}; mend the rule or the example"
                    raise loaded.error(index, message, key)


def matches_example(rule: Rule, example: str | dict[str, Any]) -> bool:
    """Returns whether a rule, alone, matches an example."""
    assessment = _judged(rule, example)
    if rule.decision == "allow":
        return any(segment.allowed_by == rule.id for segment in assessment.segments)
    return any(finding.rule == rule.id for finding in assessment.findings)


def misses_example(rule: Rule, example: str | dict[str, Any]) -> bool:
    """Returns whether a rule, alone, does not allow an example, or does not match it."""
    if rule.decision == "allow":
        return _judged(rule, example).decision != "allow"
    return not matches_example(rule, example)


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


class CaseError(ValueError):
    """Raised for a line that is no case; the message has its number and says how to mend it."""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A call, and what is expected of it; what is not given is not looked at.

    A `command` is a shell call; any other names its `tool` and `input`. `rule` is one that must
    have spoken, `source` a name for where the case is from.
    """

    command: str | None = None
    tool: str | None = None
    input: dict[str, Any] = {}
    cwd: str = ""
    agent: str = ""
    expected: Decision | None = None
    risk: Risk | None = None
    rule: str = ""
    source: str = ""

    @property
    def about(self) -> str:
        """The call in few words."""
        return self.command if self.command is not None else f"{self.tool} {self.input}"

    def subject(self, *, cwd: str, home: str, own: tuple[str, ...]) -> Subject:
        """Returns the call as the policy gets it; `cwd` is for cases that name no folder."""
        given: dict[str, Any] = {"tool": self.tool, "input": self.input, "agent": self.agent}
        if self.command is not None:
            given |= {"tool": "Bash", "input": {"command": self.command}}
        return msgspec.structs.replace(subject_of(given), cwd=self.cwd or cwd, home=home, own=own)

    def faults(self, assessment: Assessment) -> list[str]:
        """Compares an assessment with what is expected; one text for each difference."""
        faults: list[str] = []
        if self.expected not in (None, assessment.decision):
            faults.append(f"expected {self.expected}, not {assessment.decision}")
        if self.risk not in (None, assessment.risk):
            faults.append(f"expected {self.risk} risk, not {assessment.risk}")
        if self.rule and self.rule not in {each.rule for each in assessment.findings}:
            faults.append(f"expected a word of {self.rule}")
        return faults and [*faults, f"for {assessment.rule}: {assessment.reason}"]


_FIELDS = ", ".join(Case.__struct_fields__)


def read_cases(raw: bytes) -> Iterator[tuple[int, Case]]:
    """Yields the cases of a file with the numbers of their lines; raises `CaseError`."""
    for number, line in enumerate(raw.splitlines(), 1):
        if not line.strip():
            continue
        try:
            case = decoding.decode(line, Case)
        except JSON_FAULTS as fault:
            raise CaseError(f"{number}: {fault}; a case has {_FIELDS}") from None
        if (case.command is None) == (case.tool is None):
            raise CaseError(f"{number}: name either a command or a tool")
        if case.expected is None and case.risk is None and not case.rule:
            raise CaseError(f"{number}: expects nothing; add expected, risk or rule")
        yield number, case
