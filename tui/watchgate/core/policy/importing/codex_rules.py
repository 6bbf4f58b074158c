"""Import of Codex's rules files (`~/.codex/rules/*.rules`).

Source: codex-rs/execpolicy, README.md and parser.rs: Starlark calls `prefix_rule(pattern, decision,
justification, match, not_match)` with `decision` allow (also without one), prompt or forbidden;
`network_rule(host, protocol, decision, justification)`; `host_executable(name, paths)`. Only calls
with literal values are read: what a program would compute is refused.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Callable
from typing import Any

import msgspec

from watchgate.core.model.assessment import Decision
from watchgate.core.policy.importing.imported_rule import (
    UNNAMED,
    Imported,
    ImportFault,
    Unfit,
    accepted,
    refused,
    risk,
    rule_for,
    with_ids,
)
from watchgate.core.policy.inputs.rule_file import RuleData

_DECISIONS: dict[str, Decision] = {"allow": "allow", "prompt": "ask", "forbidden": "deny"}
_HOST_DECISIONS: dict[str, Decision] = {**_DECISIONS, "deny": "deny"}
_ONLY_CALLS = "only calls of prefix_rule with literal values are read; write it out"
_SHOWN_CHARS = 200

Given = dict[str, Any]


def read(text: str) -> tuple[Imported, ...]:
    """Reads every rule of a rules file; raises `ImportFault` when it is none."""
    try:
        lines = ast.parse(text).body
    except SyntaxError as fault:
        raise ImportFault(f"line {fault.lineno}: {fault.msg}; mend that line") from None
    except (ValueError, RecursionError, MemoryError):
        raise ImportFault("is no rules file: it holds NUL bytes or is nested too deeply") from None
    return with_ids("codex", (_one(each, text) for each in lines))


def _one(statement: ast.stmt, text: str) -> Imported:
    source = " ".join((ast.get_source_segment(text, statement) or "").split())
    shown = source if len(source) <= _SHOWN_CHARS else f"{source[:_SHOWN_CHARS]} ..."
    decision: Decision = "ask"
    try:
        name, given = _call(statement)
        decision = _decision_of(name, given)
        rule, note = _KINDS[name](given, decision)
    except Unfit as why:
        return refused(shown, decision, f"line {statement.lineno}: {why}")
    return accepted(shown, rule, note, _about(name, given))


def _about(name: str, given: Given) -> str:
    return str(given["host"] if name == "network_rule" else given["pattern"])


def _call(statement: ast.stmt) -> tuple[str, Given]:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise Unfit(_ONLY_CALLS)
    name = call.func.id
    if name not in _KINDS:
        raise Unfit(f"{name} is not known; known are {', '.join(_KINDS)}")
    parameters = _PARAMETERS[name]
    if len(call.args) > len(parameters):
        raise Unfit(f"{name} takes {', '.join(parameters)}, and nothing else")
    given: Given = {}
    try:
        for key, value in zip(parameters, call.args, strict=False):
            given[key] = ast.literal_eval(value)
        for each in call.keywords:
            if each.arg not in parameters or each.arg in given:
                raise Unfit(f"{each.arg or '**'} is not known here, or given twice")
            given[each.arg] = ast.literal_eval(each.value)
    except (ValueError, TypeError, RecursionError):
        raise Unfit(_ONLY_CALLS) from None
    return name, given


def _decision_of(name: str, given: Given) -> Decision:
    words = _HOST_DECISIONS if name == "network_rule" else _DECISIONS
    decision = given.get("decision", "allow")
    if not isinstance(decision, str) or decision not in words:
        raise Unfit(f"its decision is none of {', '.join(words)}")
    return words[decision]


def _prefix(given: Given, decision: Decision) -> tuple[RuleData, str]:
    pattern = given.get("pattern")
    words = [_alternatives(each) for each in pattern] if isinstance(pattern, list) else []
    if not words:
        raise Unfit("has no pattern; write the first words of the command")
    note = ""
    if any("*" in each for alternatives in words for each in alternatives):
        if decision == "allow":
            raise Unfit("holds a *, which is a letter there and stands for anything here")
        note = "its * is a letter there and stands for anything here"
    rule, differs = rule_for(words, decision, more=True, reason=_reason(given, decision, words))
    examples = {key: _examples(given.get(key, [])) for key in ("match", "not_match")}
    return (
        msgspec.structs.replace(rule, **examples),
        "; ".join(filter(None, (note, differs))),
    )


def _network(given: Given, decision: Decision) -> tuple[RuleData, str]:
    host = given.get("host")
    if not isinstance(host, str) or not host or "@" in host:
        raise Unfit("names no host; write one")
    if decision == "allow":
        raise Unfit(
            "opens Codex's sandbox to a host; nothing here is closed to it, so it opens none"
        )
    reason = _reason(given, decision, [[host]])
    rule = RuleData(id=UNNAMED, decision=decision, risk=risk(decision), reason=reason, hosts=host)
    return rule, "sees the addresses that a call names; what a program does later it does not see"


def _executable(_given: Given, _decision: Decision) -> tuple[RuleData, str]:
    raise Unfit("says where a program lies; here an allow fits programs found by their name only")


def _alternatives(word: Any) -> list[str]:
    alternatives = [word] if isinstance(word, str) else word
    if (
        not isinstance(alternatives, list)
        or not alternatives
        or not all(isinstance(e, str) and e for e in alternatives)
    ):
        raise Unfit("its pattern holds something that is neither a text nor a list of texts")
    return alternatives


def _examples(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list):
        raise Unfit('its examples are no list; write match = ["git status"]')
    texts: list[str] = []
    for each in given:
        if isinstance(each, str):
            texts.append(each)
        elif isinstance(each, list) and all(isinstance(word, str) for word in each):
            texts.append(shlex.join(each))
        else:
            raise Unfit("has an example that is neither a text nor a list of texts")
    return tuple(texts)


def _reason(given: Given, decision: Decision, words: list[list[str]]) -> str:
    own = given.get("justification")
    if isinstance(own, str) and own.strip():
        return own.strip()
    names_it = " ".join("|".join(each) for each in words)
    verb = {"allow": "allow", "ask": "ask about", "deny": "forbid"}[decision]
    return f"Your Codex rules {verb} this: {names_it}"


_KINDS: dict[str, Callable[[Given, Decision], tuple[RuleData, str]]] = {
    "prefix_rule": _prefix,
    "network_rule": _network,
    "host_executable": _executable,
}
_PARAMETERS = {
    "prefix_rule": ("pattern", "decision", "match", "not_match", "justification"),
    "network_rule": ("host", "protocol", "decision", "justification"),
    "host_executable": ("name", "paths"),
}
