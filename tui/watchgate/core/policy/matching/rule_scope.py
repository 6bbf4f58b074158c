"""Rule scopes: who calls, with which tool, and where; not what is done."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.inputs.rule_file import PathMatch, RuleData
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.matching import name_patterns, path_patterns
from watchgate.core.policy.matching.name_patterns import Hosts, Patterns, Sets, compiled, expanded
from watchgate.core.policy.matching.path_patterns import PathPatterns, forms_of
from watchgate.core.tools import tool_input

_JSON = msgspec.json.Encoder()


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """The calls that a rule is about; what is empty or None holds for every call.

    `until_us` is the first microsecond at which the rule no longer holds; `every_shell_call` says
    that it takes in all of them, so that nothing need be looked at; `only_tools` that nothing but
    the tool matters.
    """

    tools: Patterns
    agents: Patterns
    sessions: Patterns
    mcp: Patterns
    cwd: PathPatterns | None
    input: tuple[tuple[str, Patterns], ...]
    until_us: int | None
    every_shell_call: bool
    only_tools: bool

    def holds(self, subject: Subject, now_us: int) -> bool:
        """Returns whether a rule with this scope is about the call at this time."""
        tool = subject.tool
        if self.every_shell_call and tool.cls == "shell":
            return True
        if self.only_tools:
            return self.of_tool(tool)
        ended = self.until_us is not None and now_us >= self.until_us
        if ended or not self.of_tool(tool):
            return False
        if self.agents and not self.agents.fit(subject.agent):
            return False
        if self.sessions and not self.sessions.fit(subject.session):
            return False
        if self.mcp and not (tool.cls == "mcp" and self.mcp.fit(server_of(subject))):
            return False
        if self.cwd is not None and not _in_folder(self.cwd, subject):
            return False
        return all(
            name in tool.input and wanted.fit(_field(tool.input[name]))
            for name, wanted in self.input
        )

    def of_tool(self, tool: Tool) -> bool:
        """Returns whether the scope takes in calls of this tool."""
        return not self.tools or (
            self.tools.fit(f"<{tool.cls}>")
            or self.tools.fit(tool.name)
            or self.tools.fit(tool.native_name)
        )


def scope(rule: RuleData, sets: Sets) -> Scope:
    """Compiles the scope of a rule; raises `PatternError`."""
    until = rule.until
    allows = rule.decision == "allow" or rule.effect == "ordinary"
    others = (rule.agents, rule.sessions, rule.mcp, rule.cwd, rule.input, until)
    tools = expanded(rule.tools, sets)
    if not tools and rule.command:
        tools = ("<shell>",)
    return Scope(
        tools=compiled(tools),
        agents=compiled(expanded(rule.agents, sets)),
        sessions=compiled(expanded(rule.sessions, sets)),
        mcp=compiled(expanded(rule.mcp, sets)),
        cwd=path_patterns.compiled(PathMatch(any=rule.cwd), sets, allows=allows)
        if rule.cwd
        else None,
        input=tuple(
            (name, compiled((wanted,), cased=allows)) for name, wanted in rule.input.items()
        ),
        until_us=None if until is None else int(until.timestamp() * 1_000_000),
        every_shell_call=(not tools or "<shell>" in tools) and not any(others),
        only_tools=not any(others),
    )


def server_of(subject: Subject) -> str:
    """Returns the MCP server of a call: of `mcp__server__tool`, or of `server:tool`."""
    native = subject.tool.native_name
    if native.startswith("mcp__"):
        return native.removeprefix("mcp__").partition("__")[0]
    return subject.tool.name.partition(":")[0]


def addresses_fit(wanted: Hosts, subject: Subject, *, every: bool) -> bool:
    """Returns whether some address of the call is meant; with `every`, all and none odd."""
    addresses = tool_input.urls(subject.tool)
    if every:
        return bool(addresses) and all(map(wanted.fit_only, addresses))
    return any(map(wanted.fit, addresses))


def compiled_hosts(rule: RuleData, sets: Sets) -> Hosts | None:
    """Compiles the addresses that a rule is about; None where it names none."""
    return name_patterns.compiled_hosts(rule.hosts, sets) if rule.hosts else None


def _in_folder(wanted: PathPatterns, subject: Subject) -> bool:
    if not subject.cwd:
        return False
    place = Place(session="", home=subject.home, cwd=subject.cwd)
    return wanted.fit(place, subject.cwd, forms_of(place, subject.cwd))


def _field(value: Any) -> str:
    return value if isinstance(value, str) else _JSON.encode(value).decode()
