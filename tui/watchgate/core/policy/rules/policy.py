"""The policy in force: the rules of all tiers, compiled and indexed by program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from operator import itemgetter

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.model.assessment import Finding
from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.rule_file import Defaults
from watchgate.core.policy.matching import command_view
from watchgate.core.policy.matching.command_shape import Shape
from watchgate.core.policy.matching.name_patterns import PatternError, Sets
from watchgate.core.policy.rules.compiled_rule import Rule, compile_rule
from watchgate.core.policy.rules.load import Loaded, PolicyError

IndexedShape = tuple[int, Rule, Shape | None]
"""The bits of what a command must have, a rule, and a shape of its program."""

_PROTECTED = ("own.", "terminal.", "text.")
# Names of programs come from agents, so not all of them are kept.
_MAX_KNOWN = 2_000


class Index:
    """Rules about commands, found by the names of program and tool, in the order of their files.

    `known` holds what was looked up lately.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Sorts the shapes of the rules by the programs that they name."""
        self.rules = tuple(rules)
        self.known: Recent[tuple[str, int, str, str, str], tuple[IndexedShape, ...]] = Recent(
            _MAX_KNOWN
        )
        # Each with its place among all, so that the order of the files can be had back.
        self._of_program: dict[str, list[tuple[int, IndexedShape]]] = {}
        self._of_several: list[tuple[int, IndexedShape]] = []
        for place, entry in enumerate(_shapes(self.rules)):
            _, _, shape = entry
            if shape is None or not shape.program or shape.program.search is not None:
                self._of_several.append((place, entry))
            else:
                for name in shape.program.whole:
                    self._of_program.setdefault(name, []).append((place, entry))

    def of(
        self, program: str, tool: Tool, has: int = command_view.ALL_BITS
    ) -> tuple[IndexedShape, ...]:
        """Returns the rules that may match a program that this tool runs, in a command with `has`.

        `has` are the bits of what the command has.
        """
        key = program, has, tool.cls, tool.name, tool.native_name
        entries = self.known.get(key)
        if entries is None:
            entries = self.known[key] = tuple(self._look_up(program, tool, has))
        return entries

    def _look_up(self, program: str, tool: Tool, has: int) -> Iterator[IndexedShape]:
        named = self._of_program.get(program, ())
        for _, entry in merge(named, self._of_several, key=itemgetter(0)):
            needed, rule, shape = entry
            if needed & ~has or not rule.scope.of_tool(tool):
                continue
            if shape is None or shape.is_of(program):
                yield entry


def _shapes(rules: Iterable[Rule]) -> Iterator[IndexedShape]:
    """Yields each shape of each rule, and each rule without one, with the bits it needs."""
    for rule in rules:
        if not rule.shapes:
            yield rule.needs, rule, None
        for shape in rule.shapes:
            yield rule.needs | shape.needs, rule, shape


class Policy(msgspec.Struct, frozen=True):
    """All rules in force, the ids of those that were `disabled`, and findings for every call.

    `faults` are findings about files that could not be used; `sets` are the shipped ones. `ends`
    says that a rule holds only until some time. `working` are the rules of ordinary work.
    """

    rules: tuple[Rule, ...]
    defaults: Defaults
    asking: Index
    allowing: Index
    working: Index
    of_text: Index
    of_calls: Index
    disabled: tuple[str, ...] = ()
    sets: dict[str, tuple[str, ...]] = {}
    faults: tuple[Finding, ...] = ()
    ends: bool = False

    @classmethod
    def of(cls, files: Iterable[Loaded], faults: Sequence[Finding] = ()) -> Policy:
        """Compiles the policy of these files; raises `PolicyError`."""
        loaded = tuple(files)
        off = _disabled(loaded)
        sets = _shipped_sets(loaded)
        rules: list[Rule] = []
        for file in loaded:
            rules += _compiled(
                file, sets, _taken(rules, off if file.tier != "shipped" else ()), off
            )
        made = cls.with_rules(rules, _defaults([file.file.defaults for file in loaded]), faults)
        return msgspec.structs.replace(made, disabled=tuple(sorted(off)), sets=sets)

    @classmethod
    def with_rules(
        cls, rules: Sequence[Rule], defaults: Defaults, faults: Sequence[Finding] = ()
    ) -> Policy:
        """Makes the policy of rules that are compiled already."""
        tightening = [rule for rule in rules if not rule.loosens]
        return cls(
            rules=tuple(rules),
            defaults=defaults,
            asking=Index(tuple(rule for rule in tightening if rule.of_commands)),
            allowing=Index(tuple(r for r in rules if r.decision == "allow" and r.shapes)),
            working=Index(tuple(r for r in rules if r.effect == "ordinary" and r.shapes)),
            of_text=Index(tuple(rule for rule in tightening if not rule.of_commands)),
            of_calls=Index(tuple(rule for rule in rules if not rule.shapes)),
            faults=tuple(faults),
            ends=any(rule.scope.until_us is not None for rule in rules),
        )

    def tightened(self, files: Sequence[Loaded], faults: Sequence[Finding] = ()) -> Policy:
        """Returns this policy with the files of a project added; raises `PolicyError`."""
        rules = list(self.rules)
        for file in files:
            taken = _taken(rules, self.disabled)
            rules += _compiled(file, self.sets, taken, frozenset())
        given = [self.defaults, *(file.file.defaults for file in files)]
        made = Policy.with_rules(rules, _defaults(given), (*self.faults, *faults))
        return msgspec.structs.replace(made, disabled=self.disabled, sets=self.sets)

    def rule(self, rule_id: str) -> Rule | None:
        """Returns the rule with this id."""
        return next((rule for rule in self.rules if rule.id == rule_id), None)


def _taken(rules: Iterable[Rule], disabled: Iterable[str]) -> dict[str, str]:
    """Maps each id that is in use to the place of its rule."""
    given = dict.fromkeys(disabled, "a shipped rule that is disabled")
    return {**given, **{rule.id: rule.place for rule in rules}}


def _compiled(
    file: Loaded, shipped_sets: Sets, taken: Mapping[str, str], off: frozenset[str]
) -> Iterator[Rule]:
    """Compiles the rules of a file; `taken` maps each id in use to the place of its rule."""
    sets = {**shipped_sets, **file.file.sets}
    for index, data in enumerate(file.file.rule):
        if data.id in taken:
            message = f"the id is taken by {taken[data.id]}; give this rule another one"
            raise file.error(index, message, "id")
        if data.id in off and file.tier == "shipped":
            continue
        try:
            rule = compile_rule(data, sets, file.tier, file.place(index))
        except PatternError as fault:
            raise file.error(index, str(fault)) from None
        yield rule


def _shipped_sets(files: Sequence[Loaded]) -> dict[str, tuple[str, ...]]:
    shipped = (file.file.sets for file in files if file.tier == "shipped")
    return {name: given for sets in shipped for name, given in sets.items()}


def _defaults(given: Sequence[Defaults]) -> Defaults:
    """Returns the strictest of the files' defaults."""
    return Defaults(
        decision="deny" if any(each.decision == "deny" for each in given) else "ask",
        opaque="deny" if any(each.opaque == "deny" for each in given) else "ask",
    )


def _disabled(files: Sequence[Loaded]) -> frozenset[str]:
    shipped = {rule.id: rule for file in files if file.tier == "shipped" for rule in file.file.rule}
    rule_ids: set[str] = set()
    for file in files:
        for rule_id in file.file.disable:
            rule = shipped.get(rule_id)
            fault = ""
            if rule is None:
                fault = "is no shipped rule; remove it, or mend the id"
            elif rule.risk == "critical" or rule_id.startswith(_PROTECTED):
                fault = "protects this system or the gate itself and stays; remove it"
            if fault:
                raise PolicyError(f"{file.source.place('disable')}: disable: {rule_id} {fault}")
            rule_ids.add(rule_id)
    return frozenset(rule_ids)
