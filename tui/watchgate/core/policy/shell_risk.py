"""The risk of a shell command: the built-in rules over every command in it. Never an allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from watchgate.core.policy.assessment import NO_RULE, Assessment, Finding, judge
from watchgate.core.policy.commands import Command, commands
from watchgate.core.policy.folders import Place
from watchgate.core.policy.guards import MAX_CHARS, guard
from watchgate.core.policy.rule import match
from watchgate.core.policy.shell_rules import SHELL_RULES

# What lies behind it is not looked at, so that no input costs more than a moment; such a text is
# opaque and too long besides.
_MAX_SCANNED_CHARS = 2 * MAX_CHARS

# No system takes a longer folder, and every path in it would be worked out in full.
MAX_FOLDER_CHARS = 1_024

# Rules look at the words of a command once more for each wrapper around it. What people write needs
# a fraction of this many words for each character of the text.
_MAX_READ_A_CHAR = 2
_MAX_READ_A_TEXT = 1_000

_SHAPES = [(rule, shape) for rule in SHELL_RULES for shape in rule.shapes]
_ANY_PROGRAM = [(rule, shape) for rule, shape in _SHAPES if not shape.programs]
_BY_PROGRAM = {
    program: [(rule, shape) for rule, shape in _SHAPES if program in shape.programs]
    for program in frozenset[str]().union(*(shape.programs for _, shape in _SHAPES))
}


def assess_command(text: str, place: Place) -> Assessment:
    """What the built-in rules say about a shell command; spans are positions in `text`."""
    scanned = text[:_MAX_SCANNED_CHARS]
    parsed = commands(scanned)
    reader = _Reader(place, _MAX_READ_A_CHAR * len(scanned) + _MAX_READ_A_TEXT)
    findings = list(dict.fromkeys(reader.by_rule(parsed.found)))
    opaque = parsed.opaque or reader.opaque or len(text) > len(scanned)
    known = {finding.rule for finding in findings}
    findings += [
        finding for finding in _by_text(scanned, place, opaque) if finding.rule not in known
    ]
    findings += guard(text)
    if opaque:
        reason = "Runs something that its text does not show"
        findings.append(Finding("shell.opaque", reason, "unknown"))
    if not findings:
        findings.append(Finding(NO_RULE, "No rule knows this command", "unknown"))
    return judge(findings, opaque=opaque)


def _by_text(text: str, place: Place, opaque: bool) -> Iterator[Finding]:
    """What the text itself shows: our own paths always, raw shapes where it is not understood."""
    for rule in SHELL_RULES:
        if opaque and rule.raw and (hit := rule.raw.search(text)):
            yield Finding(rule.id, rule.reason, rule.risk, hit.span())
        elif rule.id == "own.files":
            for path in place.own:
                if (start := text.find(path)) >= 0:
                    span = (start, start + len(path))
                    yield Finding(rule.id, rule.reason, rule.risk, span)


class _Known(Place, frozen=True):
    """A place that works each path out once: wrappers show the same words many times."""

    resolved: dict[str, str] = msgspec.field(default_factory=dict)

    def resolve(self, path: str) -> str:
        known = self.resolved.get(path)
        if known is None:
            known = self.resolved[path] = Place.resolve(self, path)
        return known


def _known(place: Place) -> _Known:
    return _Known(place.session, place.home, place.cwd, place.own)


class _Reader:
    """Holds the rules against commands in their order, for as long as `budget` words last.

    `opaque` says that a command was left out, or ran in a folder that is not followed.
    """

    def __init__(self, place: Place, budget: int) -> None:
        self.opaque = False
        self._place = _known(place)
        self._budget = budget

    def by_rule(self, found: Iterable[Command]) -> Iterator[Finding]:
        """One finding for each rule that a command meets."""
        for command in found:
            self._budget -= _read((command, *command.piped_from, *command.built_from))
            if self._budget < 0:
                self.opaque = True
                return
            hit: set[str] = set()
            for rule, shape in (*_BY_PROGRAM.get(command.program, ()), *_ANY_PROGRAM):
                if rule.id not in hit and (span := match(shape, command, self._place)):
                    hit.add(rule.id)
                    yield Finding(rule.id, rule.reason, rule.risk, span, command.segment)
            self._move(command)

    def _move(self, command: Command) -> None:
        """Go where the next command runs; a folder only known at run time changes nothing."""
        if command.program not in ("cd", "pushd"):
            return
        folders = [word.text for word in command.arguments if not word.text.startswith("-")]
        folder = self._place.resolve(folders[0] if folders else "~")
        if len(folder) > MAX_FOLDER_CHARS:
            self.opaque = True
        elif "$" not in folder and folder.startswith("/"):
            self._place = _known(msgspec.structs.replace(self._place, cwd=folder))


def _read(looked_at: Sequence[Command]) -> int:
    """How many words a rule may look at in these commands."""
    return sum(len(each.words) + len(each.redirects) for each in looked_at)
