"""Loading of policy files: checks that a TOML text is a `PolicyFile`, or says where it is not."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from watchgate.core.base import config_text, decoding
from watchgate.core.base.config_text import ConfigError, ConfigSource, explain
from watchgate.core.policy.inputs.rule_file import CommandMatch, Names, PolicyFile, RuleData, Tier

MAX_CHARS = 1_000_000
# A repository may be anybody's, and its file is read while a call waits.
PROJECT_CHARS = 50_000
PROJECT_RULES = 100
WILDCARDS = 3
RESERVED = ("policy.", "text.", "shell.", "call.")

_ID = re.compile(r"[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)+")
_WILD = re.compile(r"\*+")
_SET_NAME = re.compile(r"[a-z][a-z0-9-]*")
_SHELL_TOOLS = frozenset(("<shell>", "Bash", "*"))


class PolicyError(ValueError):
    """Raised for a policy that cannot be used; the message has the place and how to mend it."""


class Loaded(msgspec.Struct, frozen=True):
    """A file without faults of its own; `source` gives lines for faults found later."""

    file: PolicyFile
    tier: Tier
    source: ConfigSource

    def error(self, index: int, message: str, key: str = "") -> PolicyError:
        """Makes an error about one of the file's rules, or about a key of it."""
        entry = self.source.entry("rule", index)
        rule = self.file.rule[index].id
        return PolicyError(
            f"{entry.place(f'rule.{key}' if key else 'rule')}: rule {rule}: {message}"
        )

    def place(self, index: int) -> str:
        """Returns the file and line of one of its rules."""
        return self.source.entry("rule", index).place("rule")


def load(text: str, origin: str, tier: Tier) -> Loaded:
    """Reads a policy file from TOML text; `origin` names it in errors. Raises `PolicyError`."""
    source = ConfigSource(text, origin)
    limit = PROJECT_CHARS if tier == "project" else MAX_CHARS
    if len(text) > limit:
        raise PolicyError(f"{origin}: longer than {limit:,} characters; split it or shorten it")
    try:
        values = config_text.parse(source)
        if not values:
            raise PolicyError(
                f"{origin}: nothing is in this file: write `version = 1`, which rules may follow, "
                "or remove it"
            )
        _check_entries(values, source)
        file = decoding.convert(values, PolicyFile)
    except msgspec.ValidationError as fault:
        raise PolicyError(str(explain(fault, PolicyFile, source))) from None
    except ConfigError as fault:
        raise PolicyError(str(fault)) from None
    loaded = Loaded(file, tier, source)
    _check_file(loaded)
    rule_ids: set[str] = set()
    for index, rule in enumerate(file.rule):
        if rule.id in rule_ids:
            raise loaded.error(
                index, "stands twice in this file; give one of them another id", "id"
            )
        rule_ids.add(rule.id)
        if wrong := _fault(rule, tier) or (tier == "project" and _fault_in_project(rule)):
            raise loaded.error(index, wrong[1], wrong[0])
    return loaded


def _check_entries(values: dict[str, Any], source: ConfigSource) -> None:
    """Raises `ConfigError` for a rule whose keys or values are not allowed, at its own lines."""
    entries = values.get("rule", [])
    if not isinstance(entries, list):
        raise source.error("rule", "rule is a list: write [[rule]], with two brackets")
    for index, entry in enumerate(entries):
        try:
            decoding.convert(entry, RuleData)
        except msgspec.ValidationError as fault:
            raise explain(fault, RuleData, source.entry("rule", index), "rule") from None


def _check_file(loaded: Loaded) -> None:
    file, source = loaded.file, loaded.source
    if loaded.tier == "project" and file.disable:
        message = "disable: a project's file may only add ask and deny; remove it"
        raise PolicyError(str(source.error("disable", message)))
    if loaded.tier == "project" and len(file.rule) > PROJECT_RULES:
        message = f"{len(file.rule)} rules; a project's file may have {PROJECT_RULES}"
        raise PolicyError(str(source.error("rule", message)))
    for name in file.sets:
        if not _SET_NAME.fullmatch(name):
            message = f"set {name!r}: use small letters, digits and hyphens"
            raise PolicyError(str(source.error("sets", message)))


def _fault(rule: RuleData, tier: Tier) -> tuple[str, str] | None:
    """Returns the key of a rule that is at fault, and the fault with its cure; None without."""
    if not _ID.fullmatch(rule.id):
        return "id", "an id is words with dots between, such as team.no-deploy"
    if rule.id.startswith(RESERVED):
        return "id", f"ids that begin with {rule.id.split('.')[0]}. are built in; take another"
    if rule.until is not None and rule.until.tzinfo is None:
        return "until", "write the time with its zone, such as 2026-12-31T00:00:00Z"
    # Of ours it says that a call runs code which nobody has read.
    if rule.risk == "unknown" and tier != "shipped":
        return (
            "risk",
            "unknown is for texts that cannot be read; allowed: low, medium, high, critical",
        )
    if rule.decision == "allow":
        return _fault_of_allow(rule, tier)
    return _fault_of_ask(rule, tier)


def _fault_of_ask(rule: RuleData, tier: Tier) -> tuple[str, str] | None:
    if not rule.reason:
        return "decision", "has no reason; add one sentence that says what would happen"
    if not _looks_for_something(rule):
        return "decision", "matches every call; add what it is about (tools, command, paths, ...)"
    return _fault_of_effect(rule, tier) if rule.effect else None


def _fault_of_effect(rule: RuleData, tier: Tier) -> tuple[str, str] | None:
    if rule.decision != "ask" or rule.risk not in (None, "low", "medium"):
        return "effect", "an effect is of rules that ask at medium risk at most; remove it"
    if rule.effect == "lasting":
        return None
    if tier == "project":
        return "effect", "a project's file may only tighten; put this into your own policy.toml"
    for key in ("raw", "env", "opaque"):
        if getattr(rule, key):
            return key, f"{key} is not for ordinary work; say it with command, or remove it"
    commands = (rule.command,) if isinstance(rule.command, CommandMatch) else rule.command
    return next(filter(None, map(_fault_of_shape, commands)), None)


def _fault_of_allow(rule: RuleData, tier: Tier) -> tuple[str, str] | None:
    if tier == "project":
        return "decision", (
            "a project's file may only add ask and deny; put the allow into your own policy.toml"
        )
    if rule.risk not in (None, "low", "medium"):
        return "risk", f"an allow has no risk {rule.risk}; remove it, or ask"
    for key in ("raw", "env", "opaque", "always_ask", "effect"):
        if getattr(rule, key):
            return (
                key,
                f"{key} stands in ask and deny rules only; say it with command, or remove it",
            )
    commands = (rule.command,) if isinstance(rule.command, CommandMatch) else rule.command
    for shape in commands:
        if fault := _fault_of_shape(shape):
            return fault
    if commands:
        return None
    tools = _each(rule.tools)
    if not tools:
        return "decision", "an allow names its command or its tools; add one of them"
    if not _SHELL_TOOLS.isdisjoint(tools):
        return "tools", "an allow for the shell needs command, with a program and all its flags"
    return None


def _fault_of_shape(shape: CommandMatch) -> tuple[str, str] | None:
    programs = _each(shape.program)
    if not shape.project_file and (not programs or any("*" in name for name in programs)):
        return "command", "a rule that loosens names its programs one by one; add command.program"
    if shape.changed:
        return "command", "changed stands in ask and deny rules only; remove it"
    if shape.shows:
        return "command", "shows stands in ask and deny rules only; remove it"
    if shape.flags is None:
        return "command", (
            "a rule that loosens lists all flags that may occur; add command.flags,"
            " [] for none, '*' for any"
        )
    return None


def _fault_in_project(rule: RuleData) -> tuple[str, str] | None:
    """Returns the key and the fault of a project's rule that could hold a call up."""
    if key := _expression(rule):
        return key, (
            "a project's file has no regular expressions, which can take for ever; use patterns"
        )
    if long := _wild(rule):
        return "paths", f"{long!r} has too many wildcards for a project's file; use {WILDCARDS}"
    return None


def _expression(rule: RuleData) -> str:
    """Returns the key of a regular expression in a rule; empty without any."""
    if any(not source.startswith("@") for source in _each(rule.raw)):
        return "raw"
    given = (rule.command,) if isinstance(rule.command, CommandMatch) else rule.command
    todo = list(given)
    while todo:
        shape = todo.pop()
        keys = ("sub_regex", "args_regex", "no_args_regex", "first")
        if any(getattr(shape, key) for key in keys):
            return "command"
        todo += [each for each in (shape.piped_from, shape.built_from) if each is not None]
    return ""


def _wild(rule: RuleData) -> str:
    """Returns a pattern for paths that could take long to match; empty without any."""
    given = (rule.command,) if isinstance(rule.command, CommandMatch) else rule.command
    todo, path_matches = list(given), [rule.paths]
    while todo:
        shape = todo.pop()
        path_matches.append(shape.paths)
        todo += [each for each in (shape.piped_from, shape.built_from) if each is not None]
    paths = [*_each(rule.cwd)]
    for each in path_matches:
        paths += [] if each is None else [*_each(each.any), *_each(each.none)]
    return next((path for path in paths if len(_WILD.findall(path)) > WILDCARDS), "")


def _looks_for_something(rule: RuleData) -> bool:
    return any(
        bool(each)
        for each in (
            rule.tools, rule.command, rule.raw, rule.paths, rule.input, rule.agents,
            rule.sessions, rule.cwd, rule.hosts, rule.env, rule.mcp,
        )
    )  # fmt: skip


def _each(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names
