"""The configuration's `[dispatch]`, `[[handler]]`, `[[extension]]` and `[[sink]]`.

- The matcher texts of each hook system, read into conditions. Which system wrote a text is known
  and never guessed from its look. A text that cannot be read becomes a condition that no event
  fits: a fault never widens what a handler sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fnmatch import translate
from typing import Annotated, Any, Final, Literal

import msgspec

from watchgate.core.base.patterns.pattern import Pattern, PatternFault
from watchgate.core.dispatch.handler_matchers import (
    ANY,
    AgentCondition,
    CodexFieldCondition,
    CommandContains,
    CommandWord,
    Condition,
    FolderCondition,
    InputContains,
    InputEquals,
    InputRegex,
    Matcher,
    NeverCondition,
    SessionCondition,
    ToolCondition,
    ToolPrefix,
    ToolRegex,
)
from watchgate.core.dispatch.handlers import OnFailure, Permission
from watchgate.core.dispatch.presets import PresetName, ProtocolName

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
Limit = Annotated[float, msgspec.Meta(gt=0, le=3_600)]
Argv = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
SinkType = Literal["stdout", "jsonl", "webhook", "unix-socket"]
Envelope = Literal["record", "codewhale"]


class DispatchConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[dispatch]`: the preset of the user's handlers, and the time for all of them together."""

    preset: PresetName = "console"
    total_timeout_s: Limit | None = None


class MatchConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`match`: the events that a handler wants; every key that is given must fit.

    `tool` is a name, `prefix*` or `*`; `command_word` one whole word of a shell command.
    """

    tool: str | None = None
    command_contains: str | None = None
    command_word: str | None = None
    input_contains: str | None = None
    input_equals: Any = msgspec.UNSET
    regex: str | None = None
    agent: str | None = None
    session: str | None = None
    cwd: str | None = None


class HandlerConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[handler]]`: one hook command of the user's own, run by the core.

    `matcher` is the tool matcher as the protocol's own system writes it; `cwd` replaces the
    session's folder; `env` adds variables to the allow-listed ones.
    """

    id: Id
    on: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    command: Argv
    role: Literal["gate", "observer"] = "gate"
    timeout_s: Limit | None = None
    on_failure: OnFailure | None = None
    priority: int = 100
    match: MatchConfig = MatchConfig()
    matcher: str | None = None
    protocol: ProtocolName | None = None
    continue_on_failure: bool | None = None
    once: bool = False
    enabled: bool = True
    cwd: str | None = None
    env: dict[str, str] = {}


class ExtensionConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[extension]]`: one long-lived process; `permissions` are what the user grants it.

    `config` are the values of the keys that its manifest declares.
    """

    id: Id
    manifest: Annotated[str, msgspec.Meta(min_length=1)]
    permissions: tuple[Permission, ...] = ()
    role: Literal["gate", "observer"] = "gate"
    timeout_s: Limit | None = None
    on_failure: OnFailure | None = None
    priority: int = 100
    enabled: bool = True
    config: dict[str, str] = {}


class SinkConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[sink]]`: a target for copies of records; `kinds` are record kinds or families (`tool.*`).

    `queue` is how many records wait for a slow reader before the oldest is dropped and counted.
    """

    type: SinkType
    path: str | None = None
    url: str | None = None
    envelope: Envelope = "record"
    kinds: tuple[str, ...] = ("*",)
    queue: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 1_000


_ALTERNATIVES = re.compile(r"[A-Za-z0-9_|]+")


class MatcherError(ValueError):
    """Raised for a match table that says something impossible; the message says what to change."""


def read_matcher(protocol: ProtocolName, text: str | None) -> Matcher:
    """Reads a system's own matcher text; None is a matcher that is not there."""
    if text is None or text == "*":
        return ANY
    return Matcher((_READERS[protocol](text),)) if text else _EMPTY[protocol]


def matcher_from_config(match: MatchConfig) -> Matcher:
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


def why_impossible(matcher: Matcher) -> str | None:
    """Returns the reason a handler with this matcher would never run; None when it may."""
    never = (c.why for c in matcher.conditions if isinstance(c, NeverCondition))
    return next(never, None)


def _exact_or_prefix(text: str) -> Condition:
    """Reads our own form: one star, at the end, makes it a prefix."""
    return ToolPrefix(text[:-1]) if text.endswith("*") else ToolCondition((text,))


def _field_or_prefix(text: str) -> Condition:
    """Reads the form of the codex fork's first version: as ours, ignored where there is no tool."""
    if text.endswith("*"):
        return CodexFieldCondition("prefix", (text[:-1],), sessions=False)
    return CodexFieldCondition("exact", (text,), sessions=False)


def _pattern(text: str) -> Condition:
    """Reads a pattern, to be searched for in the field that codex matches on."""
    why = _fault(text)
    return NeverCondition(f"{text!r} {why}") if why else CodexFieldCondition("regex", (text,))


def _alternatives_or_pattern(text: str) -> Condition:
    """Reads upstream codex' form: plain names between bars are exact, else it is a pattern."""
    if _ALTERNATIVES.fullmatch(text):
        return CodexFieldCondition("exact", tuple(name for name in text.split("|") if name))
    return _pattern(text)


def _glob(text: str) -> Condition:
    """Reads CodeWhale's conditions on a tool's name: stars, question marks and sets."""
    return ToolRegex(rf"\A{translate(text)}")


def _none(text: str) -> Condition:
    return NeverCondition(
        f"hooks of its protocol have no matcher, but there is one: {text!r}; take it out"
    )


def _wrong(name: str, value: object) -> str:
    """Returns the reason a key of a match table could never fit; empty when it may."""
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
    """Returns the reason a text may not be used as a regular expression; empty when it may."""
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
_NO_TOOL: Final = Matcher(
    (NeverCondition("an empty matcher fits no tool: take it out, or write '*'"),)
)
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
    "regex": InputRegex,
    "agent": AgentCondition,
    "session": SessionCondition,
    "cwd": FolderCondition,
}
