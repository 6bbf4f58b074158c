"""One rule of the policy, compiled: its scope, its matchers and its sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec

from watchgate.core.base.text import Span
from watchgate.core.model.assessment import Decision, Effect, Finding, Risk
from watchgate.core.policy.inputs.rule_file import CommandMatch, RuleData, Tier
from watchgate.core.policy.matching import (
    command_shape,
    command_view,
    name_patterns,
    path_patterns,
    rule_scope,
    sentence_templates,
)
from watchgate.core.policy.matching.allow_match import covers
from watchgate.core.policy.matching.command_shape import Shape, words_behind
from watchgate.core.policy.matching.command_view import CommandView
from watchgate.core.policy.matching.name_patterns import Hosts, Patterns, Sets
from watchgate.core.policy.matching.path_patterns import PathPatterns
from watchgate.core.policy.matching.rule_scope import Scope
from watchgate.core.policy.shell.commands import Word

_RISKS: dict[Decision, Risk] = {"allow": "low", "ask": "medium", "deny": "high"}
_OWN = "@own"


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that is ready to be matched against calls.

    `data` is what the file says, `place` its file and line. `says` are sentences with
    what the call is about; a shape may have some of its own. `general` is as the file says.
    """

    data: RuleData
    id: str
    decision: Decision
    risk: Risk
    reason: str
    says: tuple[sentence_templates.Template, ...]
    suggest: str
    general: bool
    always_ask: bool
    effect: Effect | None
    tier: Tier
    place: str
    scope: Scope
    shapes: tuple[Shape, ...]
    raw: tuple[Callable[[str], Span | None], ...]
    raw_own: bool
    opaque: bool | None
    paths: PathPatterns | None
    hosts: Hosts | None
    env: Patterns | None

    @property
    def needs(self) -> int:
        """The bits of what a command must have, besides those of the shapes."""
        bits = 0
        if self.paths is not None:
            bits |= command_view.BITS_OF_ACCESS[self.paths.access]
        if self.hosts is not None:
            bits |= command_view.HAS_ADDRESS
        if self.env is not None and not self.loosens:
            bits |= command_view.HAS_VARIABLE
        return bits

    def rank(self, shape: Shape | None = None, *, names: bool = False) -> int:
        """Returns the rank of a finding among those of the same risk; 0 comes first.

        `names` says that its sentence names what the call is about.
        """
        if self.id.endswith(".unread"):
            return 3
        if self.general and not (names and shape is not None and shape.says):
            return 2
        return 0 if names else 1

    @property
    def loosens(self) -> bool:
        """Returns whether the rule makes calls be held less often, so that it must match surely."""
        return self.decision == "allow" or self.effect == "ordinary"

    @property
    def of_commands(self) -> bool:
        """Returns whether the rule looks at each command of a text, and not only at the text."""
        return bool(self.shapes or self.paths or self.hosts or self.env)

    @property
    def of_text(self) -> bool:
        """Returns whether the rule looks at the text itself."""
        return bool(self.raw) or self.raw_own

    def finding(
        self,
        span: Span | None,
        segment: int | None = None,
        reason: str = "",
        shape: Shape | None = None,
    ) -> Finding:
        """Makes the rule's finding about a part of the shown text; `reason` replaces its own.

        A `shape` of it may suggest another way.
        """
        suggest = shape.suggest if shape is not None else None
        return Finding(
            rule=self.id,
            reason=reason or self.reason,
            risk=self.risk,
            span=span,
            segment=segment,
            decision=self.decision,
            suggest=self.suggest if suggest is None else suggest,
            always_ask=self.always_ask,
            effect=self.effect,
        )

    def sentence(self, shape: Shape | None, fill: sentence_templates.Fill) -> str:
        """Fills one of the rule's sentences with what the call is about; empty if none can be."""
        own = shape.says if shape is not None else ()
        return sentence_templates.sentence((*own, *self.says), fill) if own or self.says else ""

    def words_in(self, view: CommandView, shape: Shape | None) -> list[Word] | None:
        """Returns the words of a command that an ask or deny rule matches; None without a match.

        `shape` is one of its shapes, if there are any, that the command may have by its program,
        its `needs` and its `heads`.
        """
        words: list[Word] = []
        if shape is not None:
            hit = words_behind(shape, view)
            if hit is None:
                return None
            words += hit
        if self.paths is not None:
            touched = view.touching(self.paths)
            if not touched:
                return None
            words += touched
        if self.hosts is not None:
            named = [word for word, address in view.addresses if self.hosts.fit(address)]
            if not named:
                return None
            words += named
        if self.env is not None:
            assigned = [word for word, name in view.variables if self.env.fit(name)]
            if not assigned:
                return None
            words += assigned
        return words

    def covers(self, view: CommandView, shape: Shape) -> bool:
        """Returns whether a rule that loosens covers the command; `shape` as for `words_in`."""
        if self.paths is not None and not view.touches_only(self.paths):
            return False
        if self.hosts is not None:
            addresses = view.addresses
            if not addresses or not all(self.hosts.fit_only(address) for _, address in addresses):
                return False
        return covers(shape, view, ordinary=self.effect == "ordinary")

    def text_hit(self, text: str, own: Iterable[str]) -> Span | None:
        """Returns the part of a text that a raw expression or a path of our own files matches."""
        for search in self.raw:
            if hit := search(text):
                return hit
        if self.raw_own:
            folded = text.casefold()
            for path in own:
                if path.casefold() in folded:
                    place = re.search(re.escape(path), text, re.IGNORECASE)
                    return place.span() if place else (0, len(text))
        return None


def compile_rule(data: RuleData, sets: Sets, tier: Tier, place: str) -> Rule:
    """Compiles a rule of a policy file; raises `PatternError`."""
    given = data.command
    allows = data.decision == "allow" or data.effect == "ordinary"
    shapes = (given,) if isinstance(given, CommandMatch) else given
    raw = name_patterns.expanded(data.raw, sets, frozenset((_OWN,)))
    sources = [source for source in raw if source != _OWN]
    return Rule(
        data=data,
        id=data.id,
        decision=data.decision,
        risk=data.risk or _RISKS[data.decision],
        reason=data.reason,
        says=sentence_templates.compiled(name_patterns.each(data.says)),
        suggest=data.suggest,
        general=data.general,
        always_ask=data.always_ask,
        effect=data.effect,
        tier=tier,
        place=place,
        scope=rule_scope.scope(data, sets),
        shapes=tuple(command_shape.shape(each, sets, allows=allows) for each in shapes),
        raw=tuple(name_patterns.regex(source).span for source in sources),
        raw_own=_OWN in raw,
        opaque=data.opaque,
        paths=path_patterns.compiled(data.paths, sets, allows=allows) if data.paths else None,
        hosts=name_patterns.compiled_hosts(data.hosts, sets) if data.hosts else None,
        env=name_patterns.compiled(name_patterns.expanded(data.env, sets)) if data.env else None,
    )
