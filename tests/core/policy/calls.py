"""Calls to judge: one session in /home/ada/project, with our own files beside it."""

from __future__ import annotations

from typing import Any

from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.rules.policy import Policy
from watchgate.service.policies.policy_files import shipped

HOME = "/home/ada"
CWD = "/home/ada/project"
OWN = (
    "/run/user/1000/watchgate",
    "/home/ada/.local/state/watchgate",
    "/home/ada/.config/watchgate",
    "/home/ada/.claude/settings.json",
)


def judge_tool(
    name: str,
    cls: ToolClass,
    given: dict[str, Any],
    cwd: str = CWD,
    policy: Policy | None = None,
    home: str = HOME,
) -> Assessment:
    """Assesses a call of this tool, by the shipped policy if no other is given.

    Args:
        name: The tool, as the agent calls it.
        cls: The class of the tool.
        given: Its input.
        cwd: The folder of the session.
        policy: The policy, if it is not the shipped one.
        home: The home of the user.
    """
    tool = Tool(name, name, cls, given, "h")
    subject = Subject(tool=tool, agent="claude", session="s1", cwd=cwd, home=home, own=OWN)
    return assess(subject, policy or shipped(), 0)


def judge_command(
    command: str, cwd: str = CWD, policy: Policy | None = None, *, home: str = HOME
) -> Assessment:
    """Assesses a shell command."""
    return judge_tool("Bash", "shell", {"command": command}, cwd, policy, home)


def rules(found: Assessment) -> set[str]:
    """The ids of the rules that matched."""
    return {finding.rule for finding in found.findings}
