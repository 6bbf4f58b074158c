"""The risk of tools that read or write files directly. Symlinks are not followed here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from watchgate.core import tool_input
from watchgate.core.events import Tool
from watchgate.core.policy import sensitive
from watchgate.core.policy.assessment import NO_RULE, Assessment, Finding, Risk, judge
from watchgate.core.policy.folders import Place
from watchgate.core.policy.guards import guard
from watchgate.core.summary import shown_path, summary


class FileRule(msgspec.Struct, frozen=True):
    """A risk of touching a path: its id, one sentence, and which paths it is about."""

    id: str
    risk: Risk
    reason: str
    test: Callable[[Place, str], bool]


EDIT_RULES = (
    FileRule(
        "own.files",
        "critical",
        "Writes Watchgate's own files or an agent's hook settings",
        sensitive.hook_settings,
    ),
    FileRule("files.write-outside", "high", "Writes outside the session's folder", Place.outside),
    FileRule(
        "files.run-later",
        "high",
        "Writes a file that runs by itself later",
        sensitive.runs_later,
    ),
    FileRule(
        "secrets.write",
        "high",
        "Writes a file that usually holds keys or passwords",
        sensitive.secret,
    ),
)
READ_RULES = (
    FileRule("own.read", "high", "Reads Watchgate's own files", Place.is_own),
    FileRule("files.read-outside", "high", "Reads outside the session's folder", Place.outside),
    FileRule(
        "secrets.read",
        "high",
        "Reads a file that usually holds keys or passwords",
        sensitive.secret,
    ),
)


def assess_edit(tool: Tool, place: Place) -> Assessment:
    """What the rules say about a call that writes files."""
    paths = tool_input.paths(tool)
    findings = [*_by_rule(EDIT_RULES, paths, tool, place), *guard(summary(tool, place.cwd))]
    if not paths:
        findings.append(Finding(NO_RULE, "Does not say which file it writes", "unknown"))
    if not findings:
        reason = "Changes files inside the session's folder"
        findings.append(Finding("files.edit-inside", reason, "medium"))
    return judge(findings)


def assess_read(tool: Tool, place: Place) -> Assessment:
    """What the rules say about a call that reads files; without a path it reads where it runs."""
    findings = [
        *_by_rule(READ_RULES, tool_input.paths(tool), tool, place),
        *guard(summary(tool, place.cwd)),
    ]
    if not findings:
        reason = "Only reads, inside the session's folder"
        findings.append(Finding("files.read-inside", reason, "low"))
    return judge(findings, allow=True)


def _by_rule(
    rules: tuple[FileRule, ...], paths: tuple[str, ...], tool: Tool, place: Place
) -> Iterator[Finding]:
    shown = summary(tool, place.cwd)
    for path in paths:
        name = shown_path(path, place.cwd)
        start = shown.find(name)
        span = (start, start + len(name)) if start >= 0 else None
        for rule in rules:
            if rule.test(place, path):
                yield Finding(rule.id, rule.reason, rule.risk, span)
