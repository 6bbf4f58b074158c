"""Policies that a test writes down as TOML, and commands judged by them alone."""

from __future__ import annotations

from typing import Any

from tests.core.policy.calls import judge_tool
from watchgate.core.model.assessment import Assessment
from watchgate.core.policy.inputs.rule_file import Tier
from watchgate.core.policy.rules.load import Loaded, load
from watchgate.core.policy.rules.policy import Policy


def loaded(rules: str, tier: Tier = "user", origin: str = "policy.toml") -> Loaded:
    """A file with these lines below its version, which is line 1."""
    return load(f"version = 1\n{rules}", origin, tier)


def policy(*rules: str) -> Policy:
    """The policy of one file with these rules, each given as the lines below `[[rule]]`."""
    return Policy.of([loaded("\n".join(f"[[rule]]\n{rule}" for rule in rules), "shipped")])


def ask(command: str, *, risk: str = "high") -> str:
    """An ask rule `test.ask` about commands of this shape, as an inline table."""
    return (
        f'id = "test.ask"\ndecision = "ask"\nrisk = "{risk}"\nreason = "It would"\n'
        f"command = {command}"
    )


def allow(command: str) -> str:
    """An allow rule `test.allow` for commands of this shape."""
    return f'id = "test.allow"\ndecision = "allow"\ncommand = {command}'


def judged(policy_: Policy, command: str, **given: Any) -> Assessment:
    """A shell command judged by a policy."""
    return judge_tool("Bash", "shell", {"command": command}, policy=policy_, **given)


def matches(command_match: str, command: str) -> bool:
    """Whether an ask rule of this shape speaks about the command."""
    found = judged(policy(ask(command_match)), command)
    return "test.ask" in {finding.rule for finding in found.findings}


def allows(command_match: str, command: str) -> bool:
    """Whether an allow rule of this shape lets the whole text run."""
    return judged(policy(allow(command_match)), command).decision == "allow"
