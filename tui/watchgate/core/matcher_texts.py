"""The matcher texts of each hook system, read into conditions.

Which system wrote a text is known and never guessed from its look. A text that cannot be read
becomes a condition that no event fits: a fault never widens what a handler sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fnmatch import translate
from typing import Final

import msgspec

from watchgate.core.config_handlers import MatchConfig
from watchgate.core.matching import (
    ANY,
    Agent,
    CommandContains,
    CommandWord,
    Condition,
    Cwd,
    Field,
    InputContains,
    InputEquals,
    Matcher,
    Never,
    Regex,
    Session,
    Tool,
    ToolPrefix,
    ToolRegex,
)
from watchgate.core.patterns.pattern import Pattern, PatternFault
from watchgate.core.presets import ProtocolName

_ALTERNATIVES = re.compile(r"[A-Za-z0-9_|]+")


class MatcherError(ValueError):
    """Raised for a match table that says something impossible; the message says what to change."""


def read(protocol: ProtocolName, text: str | None) -> Matcher:
    """Reads a system's own matcher text; None is a matcher that is not there."""
    if text is None or text == "*":
        return ANY
    return Matcher((_READERS[protocol](text),)) if text else _EMPTY[protocol]


def from_config(match: MatchConfig) -> Matcher:
    """Builds the matcher of a `match` table: every key that is given must fit.

    Raises `MatcherError` for what could never fit: an empty text, a star inside a tool's name, a
    folder that is not absolute, a regular expression that does not compile.
    """
    conditions = []
    for name in match.__struct_fields__:
        value = getattr(match, name)
        if value is msgspec.UNSET or (value is None and name != "input_equals"):
            continue
        if why := _wrong(name, value):
            raise MatcherError(f"match.{name} = {value!r} {why}")
        if (name, value) != ("tool", "*"):
            conditions.append(_FROM_CONFIG[name](value))
    return Matcher(tuple(conditions))


def impossible(matcher: Matcher) -> str | None:
    """Returns why a handler with this matcher would never run; None when it may."""
    never = (c.why for c in matcher.conditions if isinstance(c, Never))
    return next(never, None)


def _exact_or_prefix(text: str) -> Condition:
    """Reads our own form: one star, at the end, makes it a prefix."""
    return ToolPrefix(text[:-1]) if text.endswith("*") else Tool((text,))


def _field_or_prefix(text: str) -> Condition:
    """Reads the form of the codex fork's first version: as ours, ignored where there is no tool."""
    if text.endswith("*"):
        return Field("prefix", (text[:-1],), sessions=False)
    return Field("exact", (text,), sessions=False)


def _pattern(text: str) -> Condition:
    """Reads a pattern, to be searched for in the field that codex matches on."""
    why = _fault(text)
    return Never(f"{text!r} {why}") if why else Field("regex", (text,))


def _alternatives_or_pattern(text: str) -> Condition:
    """Reads upstream codex' form: plain names between bars are exact, else it is a pattern."""
    if _ALTERNATIVES.fullmatch(text):
        return Field("exact", tuple(name for name in text.split("|") if name))
    return _pattern(text)


def _glob(text: str) -> Condition:
    """Reads CodeWhale's conditions on a tool's name: stars, question marks and sets."""
    return ToolRegex(rf"\A{translate(text)}")


def _none(text: str) -> Condition:
    return Never(f"hooks of its protocol have no matcher, but there is one: {text!r}; take it out")


def _wrong(name: str, value: object) -> str:
    """Returns why a key of a match table could never fit; empty when it may."""
    if value == "":
        return "is empty: give it a text, or leave it out"
    if name == "tool" and "*" in str(value)[:-1]:
        return "has a star that is not at its end: only prefix* and * are read so, or use regex"
    if name == "cwd" and not str(value).startswith("/"):
        return "is no absolute path: write it from / on"
    if name == "regex" and (fault := _fault(str(value))):
        return fault
    return ""


def _fault(pattern: str) -> str:
    """Returns why a text is no regular expression that may be used; empty when it is one."""
    try:
        Pattern(pattern).refuse_unbounded()
    except PatternFault as fault:
        return str(fault)
    return ""


_READERS: Final[Mapping[ProtocolName, Callable[[str], Condition]]] = {
    "console": _exact_or_prefix,
    "codex-fork-v1": _field_or_prefix,
    "codex-fork-v2": _pattern,
    "codex": _alternatives_or_pattern,
    "codewhale": _glob,
    "codex-notify": _none,
    "sandbox-env": _none,
}
_NO_TOOL: Final = Matcher((Never("an empty matcher fits no tool: take it out, or write '*'"),))
_EMPTY: Final[Mapping[ProtocolName, Matcher]] = {
    "console": _NO_TOOL,
    "codex-fork-v1": _NO_TOOL,
    "codex-fork-v2": ANY,
    "codex": ANY,
    "codewhale": _NO_TOOL,
    "codex-notify": ANY,
    "sandbox-env": ANY,
}
_FROM_CONFIG: Final[Mapping[str, Callable[..., Condition]]] = {
    "tool": _exact_or_prefix,
    "command_contains": CommandContains,
    "command_word": CommandWord,
    "input_contains": InputContains,
    "input_equals": InputEquals,
    "regex": Regex,
    "agent": Agent,
    "session": Session,
    "cwd": Cwd,
}
