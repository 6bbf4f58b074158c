"""The built-in policy: a tool call becomes an `Assessment`, by the class of its tool."""

from __future__ import annotations

from collections.abc import Callable

from watchgate.core import tool_input
from watchgate.core.events import Tool, ToolClass
from watchgate.core.policy.assessment import NO_RULE, Assessment, Finding, judge
from watchgate.core.policy.files import assess_edit, assess_read
from watchgate.core.policy.folders import Place
from watchgate.core.policy.guards import guard
from watchgate.core.policy.network import assess_fetch
from watchgate.core.policy.shell_risk import assess_command
from watchgate.core.summary import summary

_AGENT = Finding("agent.start", "Starts a sub-agent; its own calls are gated", "low")
_QUESTION = Finding("agent.question", "Asks the person in front of the agent", "low")
_NO_COMMAND = Finding(NO_RULE, "Does not say which command it runs", "unknown")
_MCP = Finding(NO_RULE, "No rule knows this MCP tool", "unknown")
_OTHER = Finding(NO_RULE, "No rule knows this tool", "unknown")


def assess(tool: Tool, *, cwd: str, home: str, protected: tuple[str, ...]) -> Assessment:
    """What the policy says about a tool call that is about to run.

    `cwd` is the session's folder, `home` the user's, both absolute or empty where unknown;
    `protected` are the absolute paths of our own files and the agents' hook settings.
    """
    place = Place(session=cwd, home=home, cwd=cwd, own=protected)
    return _BY_CLASS.get(tool.cls, _always(_OTHER))(tool, place)


def _shell(tool: Tool, place: Place) -> Assessment:
    command = tool_input.command(tool)
    return judge([_NO_COMMAND]) if command is None else assess_command(command, place)


def _always(finding: Finding, *, allow: bool = False) -> Callable[[Tool, Place], Assessment]:
    """A class whose calls are all judged alike, but for what cannot be seen in them."""

    def judged(tool: Tool, _place: Place) -> Assessment:
        return judge([finding, *guard(summary(tool))], allow=allow)

    return judged


_BY_CLASS: dict[ToolClass, Callable[[Tool, Place], Assessment]] = {
    "shell": _shell,
    "edit": assess_edit,
    "read": assess_read,
    "fetch": assess_fetch,
    "agent": _always(_AGENT, allow=True),
    "question": _always(_QUESTION),
    "plan": _always(_QUESTION),
    "mcp": _always(_MCP),
    "other": _always(_OTHER),
}
