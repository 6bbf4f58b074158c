"""Rules and grants of a person's own that would have answered calls which were held.

A proposal never answers what is high, critical or unknown, nor a call of which a part is only known
when it runs. A rule is proposed where no rule knows a command, a grant where a rule asks about it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from watchgate.core.base.config_text import toml_value
from watchgate.core.gate.grant_rules import generalised, grantable, proposed
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.core.model.assessment import NO_RULE, Assessment, Finding
from watchgate.core.model.standing_grant import GrantRule
from watchgate.core.policy.rules.compiled_rule import Rule, compile_rule
from watchgate.core.policy.rules.load import load

MAX_PROPOSALS = 3
EXAMPLES = 3
_MAX_TRIED = 12
_NO_LETTERS = re.compile(r"[^a-z0-9]+")

Unasked = Literal["guard", "strict"]
"""A profile that holds medium calls: `guard` where nobody sits there, or `strict`."""


class Need(msgspec.Struct, frozen=True):
    """One command of a held call, as widely as a person would answer it.

    `kind` says what answers it: a `rule` that knows it, or a `grant`, which is for one `agent` in
    one `folder`.
    """

    kind: Literal["rule", "grant"]
    words: tuple[str, ...]
    more: bool
    agent: str = ""
    folder: str = ""

    @property
    def text(self) -> str:
        """The command as a person reads it: `npm run build *`."""
        return GrantRule(words=self.words, more=self.more).text

    @property
    def toml(self) -> str:
        """The rule that makes the command known, for `policy.toml`; empty for a grant."""
        if self.kind != "rule":
            return ""
        letters = _NO_LETTERS.sub("-", " ".join(self.words).lower())[:40].strip("-")
        name = toml_value(f"mine.{letters or 'command'}")
        program = toml_value(self.words[0].rpartition("/")[2])
        return (
            f'[[rule]]\nid = {name}\ndecision = "ask"\neffect = "ordinary"\n'
            f"reason = {toml_value(f'Ordinary work of mine: {self.text}')}\n"
            f'command = {{ program = {program}, line = {toml_value(self.text)}, flags = "*" }}\n'
        )


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """One answer, with what it would have let through: how many calls, and some of them.

    `examples` are texts from outside, with their secrets replaced. A grant is for one `agent` in
    one `folder`.
    """

    profile: Unasked
    agent: str = ""
    folder: str = ""
    kind: Literal["rule", "grant"]
    text: str
    toml: str
    calls: int
    examples: tuple[str, ...]


class HeldCall(msgspec.Struct, frozen=True):
    """A different call that a profile holds: its needs, how often it came, and how it is shown.

    `is_held_with` judges it again with more rules.
    """

    needs: frozenset[Need]
    count: int
    text: str
    is_held_with: Callable[[Sequence[Rule]], bool]


def needs_of(asked: TranscriptCall, assessment: Assessment, profile: Unasked) -> tuple[Need, ...]:
    """Returns the answers that a held call needs to go on; () where none may be given."""
    if grantable(assessment):
        return ()
    holding = [each for each in assessment.findings if _holds(each, profile)]
    if not holding or any(each.segment is None for each in holding):
        return ()
    if asked.tool.cls != "shell" or any(each.rule != NO_RULE for each in holding):
        return _grants(asked, assessment)
    numbers = {each.segment for each in holding}
    unknown = [s for s in assessment.segments if NO_RULE in s.rules and s.number in numbers]
    if any(each.dynamic or not each.words for each in unknown):
        return ()
    return tuple({_need(each.words, asked): None for each in unknown})


def choose_proposals(held: Iterable[HeldCall], profile: Unasked) -> tuple[Proposal, ...]:
    """Chooses the answers that would take most of the held calls away, the best first."""
    left = [call for call in held if call.needs]
    chosen: list[Need] = []
    chosen_proposals: list[Proposal] = []
    tried = 0
    while len(chosen_proposals) < MAX_PROPOSALS and tried < _MAX_TRIED:
        counts: Counter[Need] = Counter()
        for call in left:
            missing = call.needs.difference(chosen)
            if len(missing) == 1:
                counts.update(dict.fromkeys(missing, call.count))
        if not counts:
            break
        tried += 1
        best = max(counts, key=lambda need: (counts[need], need.text, need.folder))
        answered = _answered(left, [*chosen, best])
        if not answered:
            left = [call for call in left if best not in call.needs]
            continue
        chosen.append(best)
        left = [call for call in left if call not in answered]
        chosen_proposals.append(
            Proposal(
                profile=profile,
                kind=best.kind,
                agent=best.agent,
                folder=best.folder,
                text=best.text,
                toml=best.toml,
                calls=sum(call.count for call in answered),
                examples=tuple(dict.fromkeys(call.text for call in answered))[:EXAMPLES],
            )
        )
    return tuple(chosen_proposals)


def _answered(calls: Sequence[HeldCall], answers: Sequence[Need]) -> list[HeldCall]:
    """Returns the calls that would no longer be held with these answers."""
    rules = [_rule(need) for need in answers if need.kind == "rule"]
    return [
        call
        for call in calls
        if call.needs.issubset(answers)
        and (all(need.kind == "grant" for need in call.needs) or not call.is_held_with(rules))
    ]


def _holds(finding: Finding, profile: Unasked) -> bool:
    if finding.decision == "allow" or finding.effect == "ordinary":
        return False
    return profile == "strict" or finding.rule == NO_RULE or finding.effect == "lasting"


def _grants(asked: TranscriptCall, assessment: Assessment) -> tuple[Need, ...]:
    try:
        rules = proposed(asked.tool, assessment)
    except ValueError:
        return ()
    return tuple(_grant(rule.words, rule.more, asked) for rule in rules)


def _need(words: tuple[str, ...], asked: TranscriptCall) -> Need:
    head, more = generalised(words)
    # In a rule a star stands for anything, so that one of the command itself would be wider.
    if any("*" in word for word in head):
        return _grant(words, more=False, asked=asked)
    return Need("rule", head, more)


def _grant(words: tuple[str, ...], more: bool, asked: TranscriptCall) -> Need:
    return Need("grant", words, more, asked.agent, asked.cwd)


def _rule(need: Need) -> Rule:
    data = load(f"version = 1\n{need.toml}", "proposed", "user").file.rule[0]
    return compile_rule(data, {}, "user", "proposed")
