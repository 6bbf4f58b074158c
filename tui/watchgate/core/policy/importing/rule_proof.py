"""Imported rules as TOML, and proof of them: they load, and match the commands that they name.

What the fields hold comes from outside; every text is written as a TOML string, so that none of it
can become a key or a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from watchgate.core.base.config_text import toml_pair
from watchgate.core.base.text import safe_text
from watchgate.core.model.assessment import NO_RULE, Finding, severity
from watchgate.core.policy.importing.imported_rule import Imported, refused, with_note
from watchgate.core.policy.inputs.rule_file import CommandMatch, RuleData
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.judging.rule_examples import check_examples, matches_example, subject_of
from watchgate.core.policy.rules.load import PolicyError, load
from watchgate.core.policy.rules.policy import Policy

VERSION = "version = 1\n"


def fragment(rules: Iterable[Imported]) -> str:
    """Writes the rules, each below a comment with its source and what differs."""
    return "\n".join(_entry(each) for each in rules)


def rule_text(rule: RuleData) -> str:
    """Writes one `[[rule]]`; fields that hold their default are left out."""
    lines = [toml_pair([key], _plain(value)) for key, value in _given(rule).items()]
    return "\n".join(("[[rule]]", *lines, ""))


def _entry(each: Imported) -> str:
    comment = f"# {each.outcome}: {safe_text(each.source)}\n"
    if each.note:
        comment += f"#   {safe_text(each.note)}\n"
    return comment + (rule_text(each.rule) if each.rule is not None else "")


def _plain(value: Any) -> Any:
    """Returns the value with a table for each struct in it."""
    if isinstance(value, msgspec.Struct):
        value = _given(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _given(struct: msgspec.Struct) -> dict[str, Any]:
    """Returns the fields that do not hold their default."""
    return {
        field.name: value
        for field in msgspec.structs.fields(struct)
        if (value := getattr(struct, field.name)) != _default(field)
    }


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


def check_import(imported: Imported) -> Imported:
    """Returns the result, or a refusal in the loader's words where the rule fails to load."""
    if imported.rule is None:
        return imported
    try:
        loaded = load(VERSION + rule_text(imported.rule), "import", "user")
        policy = Policy.of((loaded,))
        check_examples(policy, loaded)
    except PolicyError as fault:
        why = str(fault).partition(f"rule {imported.rule.id}: ")[2] or str(fault)
        return refused(imported.source, imported.decision, f"cannot be said here: {why}")
    for line in _lines(imported.rule):
        example = line.removesuffix(" *")
        if "*" not in example and not matches_example(policy.rules[0], example):
            why = f"would never hold: {example!r} is judged by what it runs, or cannot be read"
            return refused(imported.source, imported.decision, why)
    return imported


def note_conflict(imported: Imported, policy: Policy) -> Imported:
    """Returns the result, with a note if `policy` still asks about what the rule allows.

    Any ask outweighs an allow. A command that is asked about only in some of its forms, with an
    argument or without, gets no note.
    """
    if imported.rule is None or imported.rule.decision != "allow":
        return imported
    notes = [
        f"a shipped rule still asks about `{example}` ({why.rule}: {why.reason})"
        for line in _lines(imported.rule)
        if (example := line.removesuffix(" *")) and "*" not in example
        if (why := _outweighed(example, policy, more=line != example)) is not None
    ]
    return with_note(imported, notes[0]) if notes else imported


def _outweighed(example: str, policy: Policy, *, more: bool) -> Finding | None:
    """Returns the gravest finding against a command, with `more` also given an argument."""
    findings = _findings_against(example, policy)
    if more:
        behind = {each.rule for each in _findings_against(f"{example} x", policy)}
        findings = [each for each in findings if each.rule in behind]
    return max(findings, key=lambda each: severity(each.risk), default=None)


def _findings_against(command: str, policy: Policy) -> list[Finding]:
    findings = assess(subject_of(command), policy, 0).findings
    # An allow outweighs what is ordinary work.
    return [
        each
        for each in findings
        if each.decision != "allow" and each.rule != NO_RULE and each.effect != "ordinary"
    ]


def _lines(rule: RuleData) -> Iterator[str]:
    """Yields the lines of words that a rule names."""
    command = rule.command
    for shape in (command,) if isinstance(command, CommandMatch) else command:
        yield from (shape.line,) if isinstance(shape.line, str) else shape.line


def limit_to_agent(imported: Imported, agent: str) -> Imported:
    """Returns the result with the rule limited to calls of one agent."""
    if imported.rule is None:
        return imported
    return msgspec.structs.replace(
        imported, rule=msgspec.structs.replace(imported.rule, agents=agent)
    )
