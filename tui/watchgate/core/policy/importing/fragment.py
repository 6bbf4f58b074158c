"""TOML text of imported rules, with a line on each rule of the other file.

What the fields hold comes from outside; every text is written as a TOML string, so that none of it
can become a key or a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from watchgate.core.policy.importing.imported import Imported
from watchgate.core.policy.rule_file import RuleData
from watchgate.core.text import safe_text
from watchgate.core.toml_text import toml_pair

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
