"""Matchers as values: the conditions under which a handler gets an event.

A matcher is a list of conditions that must all hold; each condition names its `kind`, and nothing
is guessed from the look of a text. The empty matcher takes every event. The texts that other hook
systems write are read by `handler_config.read_matcher`.
"""

from __future__ import annotations

import shlex
from functools import lru_cache
from typing import Any, Literal

import msgspec

from watchgate.core.base.patterns.allowance import AllowanceSpent
from watchgate.core.base.patterns.pattern import Pattern, PatternFault
from watchgate.core.model.events import Event, SessionChange

Keys = tuple[str, ...]
Way = Literal["exact", "prefix", "regex"]
_QUOTES = frozenset("\\'\"")


class ToolCondition(msgspec.Struct, frozen=True, tag="tool"):
    """Condition: the tool's canonical or native name is one of these."""

    names: Keys

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds; without a tool it never does."""
        tool = event.tool
        return tool is not None and (tool.name in self.names or tool.native_name in self.names)


class ToolPrefix(msgspec.Struct, frozen=True, tag="tool-prefix"):
    """Condition: the tool's canonical or native name begins so."""

    prefix: str

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds; without a tool it never does."""
        tool = event.tool
        return tool is not None and (
            tool.name.startswith(self.prefix) or tool.native_name.startswith(self.prefix)
        )


class ToolRegex(msgspec.Struct, frozen=True, tag="tool-regex"):
    """Condition: a regular expression matches in the tool's native name; a bad one never does."""

    pattern: str

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds; without a tool it never does."""
        tool = event.tool
        return tool is not None and _searches(self.pattern, tool.native_name)


class CommandContains(msgspec.Struct, frozen=True, tag="command-contains"):
    """Condition: the command holds this text anywhere, as `npm run confirm` holds `rm`."""

    text: str

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds; without a command it never does."""
        command = _command(event)
        return command is not None and self.text in command


class CommandWord(msgspec.Struct, frozen=True, tag="command-word"):
    """Condition: one word of the command is this one, quotes removed, split as a shell would."""

    word: str

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds; a command that cannot be split holds it."""
        command = _command(event)
        if command is None or (self.word not in command and not _QUOTES.intersection(command)):
            return False
        try:
            # A line may go on after a backslash, in the middle of a word or between two; or the
            # backslash is one of two, and the line ends.
            forms = (command, *(command.replace("\\\n", by) for by in ("", " ")))
            return any(self.word in _words(form) for form in forms)
        except ValueError:
            return True


class InputContains(msgspec.Struct, frozen=True, tag="input-contains"):
    """Condition: the compact JSON text of the tool's input (`null` without one) holds this text.

    The text has the input's own key order, no blanks between its parts and no escapes beyond
    those that JSON needs (SynapsCLI, `input_contains`).
    """

    text: str

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds."""
        tool = event.tool
        return self.text in (_json(tool.input) if tool is not None else "null")


class InputEquals(msgspec.Struct, frozen=True, tag="input-equals"):
    """Condition: the tool's input (`null` without one) is this JSON value (`input_equals`)."""

    value: Any

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds; 1, 1.0 and true are three values here."""
        tool = event.tool
        return json_equal(tool.input if tool is not None else None, self.value)


class InputRegex(msgspec.Struct, frozen=True, tag="regex"):
    """Condition: a regular expression matches in the command, or else in the input's JSON text."""

    pattern: str

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds; an invalid pattern and a missing input never do."""
        tool = event.tool
        if tool is None or _compiled(self.pattern) is None:
            return False
        command = _command(event)
        return _searches(self.pattern, command if command is not None else _json(tool.input))


class AgentCondition(msgspec.Struct, frozen=True, tag="agent"):
    """Condition: the event comes from this agent."""

    name: str

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds."""
        return event.agent == self.name


class SessionCondition(msgspec.Struct, frozen=True, tag="session"):
    """Condition: the event belongs to this session of its agent."""

    id: str

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds."""
        return event.session == self.id


class FolderCondition(msgspec.Struct, frozen=True, tag="cwd"):
    """Condition: the session works in this folder or below it."""

    folder: str

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds; an event without a folder holds none."""
        folder = self.folder.rstrip("/")
        return event.cwd == self.folder or event.cwd.startswith(f"{folder}/")


class CodexFieldCondition(msgspec.Struct, frozen=True, tag="field"):
    """Condition: Codex' field for matching, a tool's name or a session's change, is one of these.

    An event without such a field holds it: there Codex ignores a matcher. `sessions` false leaves
    the session's word out, as the first version of its fork does.
    """

    way: Way
    texts: Keys
    sessions: bool = True

    def holds(self, event: Event) -> bool:
        """Returns whether the condition holds; with a bad pattern no event with the field does."""
        tool, body = event.tool, event.body
        if tool is not None:
            values: Keys = (tool.name, tool.native_name)
        elif self.sessions and isinstance(body, SessionChange):
            values = (body.what,)
        else:
            return True
        return any(_fits(self.way, text, value) for text in self.texts for value in values)


class NeverCondition(msgspec.Struct, frozen=True, tag="never"):
    """Condition that never holds: a text that could not be read must not widen a handler."""

    why: str

    def holds(self, event: Event) -> bool:  # noqa: ARG002 - as every condition
        """Returns False."""
        return False


Condition = (
    ToolCondition
    | ToolPrefix
    | ToolRegex
    | CommandContains
    | CommandWord
    | InputContains
    | InputEquals
    | InputRegex
    | AgentCondition
    | SessionCondition
    | FolderCondition
    | CodexFieldCondition
    | NeverCondition
)
_BY_NAME = (ToolCondition, ToolPrefix, ToolRegex, AgentCondition, NeverCondition)
_ABOUT_TOOLS = (
    ToolCondition,
    ToolPrefix,
    ToolRegex,
    CommandContains,
    CommandWord,
    InputContains,
    InputEquals,
    InputRegex,
)


class Matcher(msgspec.Struct, frozen=True):
    """Conditions that must all hold."""

    conditions: tuple[Condition, ...] = ()

    def matches(self, event: Event) -> bool:
        """Returns whether a handler with this matcher gets the event."""
        return all(condition.holds(event) for condition in self.conditions)

    @property
    def about_tools(self) -> bool:
        """Returns whether it can only ever match an event with a tool."""
        return any(isinstance(condition, _ABOUT_TOOLS) for condition in self.conditions)

    def split(self) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
        """Returns the conditions that agent and tool name alone decide, and the others."""
        named = tuple(c for c in self.conditions if isinstance(c, _BY_NAME))
        return named, tuple(c for c in self.conditions if not isinstance(c, _BY_NAME))


ANY = Matcher()


def json_equal(one: Any, other: Any) -> bool:
    """Returns whether two JSON values are the same; unlike in Python, 1, 1.0 and True are not."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(json_equal(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(json_equal, one, other))
    return bool(one == other)


def _fits(way: Way, text: str, value: str) -> bool:
    if way == "regex":
        return _searches(text, value)
    return value == text if way == "exact" else value.startswith(text)


def _command(event: Event) -> str | None:
    tool = event.tool
    command = tool.input.get("command") if tool is not None else None
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return shlex.join(command)
    return command if isinstance(command, str) else None


def _words(command: str) -> shlex.shlex:
    splitter = shlex.shlex(command, posix=True, punctuation_chars="();<>|&`")
    splitter.whitespace_split = True
    splitter.commenters = ""  # a # inside a word begins no comment, and one in front hides nothing
    return splitter


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _searches(pattern: str, text: str) -> bool:
    """Searches for a pattern in a text.

    A text too long to be searched counts as a match, lest a guard is passed by it.
    """
    known = _compiled(pattern)
    try:
        return known is not None and known.search(text)
    except AllowanceSpent:
        return True


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Pattern | None:
    try:
        return Pattern(pattern)
    except PatternFault:
        return None
