"""Assessment of shell calls: each command is matched against the rules; all must be allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from watchgate.core.base.patterns.allowance import check
from watchgate.core.base.text import Span
from watchgate.core.model.assessment import (
    NO_RULE,
    Assessment,
    Decision,
    Effect,
    Finding,
    Risk,
    Segment,
    severity,
)
from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.inputs.subject import NOTHING_FETCHED, Subject
from watchgate.core.policy.inputs.text_guards import (
    MAX_SCANNED_CHARS,
    mixed_scripts,
    own_process_findings,
    text_findings,
)
from watchgate.core.policy.judging import fetched_files
from watchgate.core.policy.judging.command_finder import commands_of
from watchgate.core.policy.judging.fetched_files import (
    filled_files,
    own_script,
    runs_own,
    runs_unread,
)
from watchgate.core.policy.judging.folders import Folders, place_started_in
from watchgate.core.policy.judging.sentences import Matched
from watchgate.core.policy.judging.written_files import written_paths
from watchgate.core.policy.matching.allow_match import blocking_rule, writes_inside
from watchgate.core.policy.matching.command_view import CommandView
from watchgate.core.policy.matching.staying import sets_within, with_known_values
from watchgate.core.policy.rules.compiled_rule import Rule
from watchgate.core.policy.rules.policy import Index, Policy
from watchgate.core.policy.shell.commands import Command, Word
from watchgate.core.tools import tool_input

# Rules look at the words of a command once more for each wrapper around it. What people write needs
# fewer words than one for so many characters of the text.
_CHARS_A_READ = 2
_MAX_READ_A_TEXT = 1_000
_LONG_CHARS = 500

_NOT_COVERED = {
    "policy.redirect": "Writes its output to a file, or reads what only the run shows",
    "policy.env": "Sets variables that may change what a program does",
}
_WRITES_INSIDE = "Writes its output to a file in the session's folder"
Holds = Callable[[Rule], bool]


def assess_shell(subject: Subject, policy: Policy, holds: Holds) -> Assessment:
    """Assesses a shell call; spans are positions in the command.

    `holds` decides whether a rule's scope takes in the call.
    """
    text = tool_input.command(subject.tool)
    if text is None:
        reason = "Does not say which command it runs"
        all_findings = (Finding("call.opaque", reason, "unknown"), *policy.faults)
        return Assessment("ask", "unknown", all_findings, opaque=True)
    scanned = text[:MAX_SCANNED_CHARS]
    parsed = commands_of(subject.tool, scanned)
    cut = len(text) > len(scanned)
    reader = _Reader(subject, policy, holds, scanned, opaque=parsed.opaque or cut)
    reader.read(parsed.commands)
    opaque = reader.opaque
    findings = reader.findings(opaque=opaque)
    findings += text_findings(text)
    if tool_input.sets_variables(subject.tool):
        findings.append(Finding("policy.env", _NOT_COVERED["policy.env"], "medium"))
    if opaque:
        reason = parsed.why or "Runs something that its text does not show"
        default = policy.defaults.opaque
        findings.append(Finding("shell.opaque", reason, "unknown", parsed.where, decision=default))
    findings += own_process_findings(subject, scanned, reader.segments)
    covered = all(segment.allowed_by for segment in reader.segments)
    if not findings and not (reader.allows and covered):
        default = policy.defaults.decision
        reason = "Runs no command that a rule could be about"
        findings.append(Finding(NO_RULE, reason, "medium", decision=default))
    findings += policy.faults
    return combine_findings(findings, reader.allows, tuple(reader.segments), opaque=opaque)


def combine_findings(
    findings: list[Finding],
    allows: list[Finding],
    segments: tuple[Segment, ...],
    *,
    opaque: bool = False,
) -> Assessment:
    """Makes one assessment of findings: deny before ask before allow.

    An allow needs that there is no other finding.
    """
    if not findings:
        all_findings = tuple(dict.fromkeys(allows))
        return Assessment("allow", _worst(all_findings), all_findings, opaque, segments)
    decision: Decision = "ask"
    if any(finding.decision == "deny" for finding in findings):
        decision = "deny"
    # The gravest first, those of one risk in their order.
    all_findings = tuple(
        sorted(dict.fromkeys(findings), key=lambda finding: -severity(finding.risk))
    )
    return Assessment(decision, _worst(all_findings), all_findings, opaque, segments)


def _worst(findings: Iterable[Finding]) -> Risk:
    return max((finding.risk for finding in findings), key=severity)


def _worst_is_grave(findings: Sequence[Finding]) -> bool:
    return any(finding.risk in ("high", "critical") for finding in findings)


class _Reader:
    """Matches the rules against commands in their order, within a budget of words.

    `opaque` says that a command was left out, or ran in a folder that is not followed.
    """

    def __init__(
        self, subject: Subject, policy: Policy, holds: Holds, text: str, *, opaque: bool
    ) -> None:
        """Prepares the reading of one shell call.

        Args:
            subject: The call, who makes it, and where.
            policy: The rules in force.
            holds: Decides whether a rule's scope takes in the call.
            text: The command.
            opaque: Some of it could not be read.
        """
        self.opaque = opaque
        self.segments: list[Segment] = []
        self.allows: list[Finding] = []
        self._subject = subject
        self._policy = policy
        self._holds = holds
        self._text = text
        # To look at the clock takes as long as to try a rule on a short text.
        self._is_long = len(text) > _LONG_CHARS
        self._budget = len(text) // _CHARS_A_READ + _MAX_READ_A_TEXT
        # The commands where they are meant to run, and in other folders where they may run.
        self._views: dict[int, CommandView] = {}
        self._views_in: dict[str, dict[int, CommandView]] = {}
        self._hits: list[Finding] = []
        # Of the findings of rules, where they stand among others of their risk.
        self._ranks: dict[Finding, int] = {}
        self._other: list[Finding] = []
        self._folders = Folders(Place("", "", ""))
        self._filled: frozenset[str] = frozenset()
        self._fetched = subject.fetched

    def read(self, commands: Sequence[Command]) -> None:
        """Judges every command."""
        start = self._start(tool_input.folder(self._subject.tool))
        changed = self._subject.changed
        if len(commands) > 1:
            # What one command writes, another may run.
            changed |= written_paths(commands, start)
            self._filled = filled_files(commands, start)
        self._fetched = fetched_files.fetched_after(commands, start, self._fetched)
        self._folders = Folders(replace(start, changed=changed) if changed else start)
        for command in commands:
            check()
            looked_at = (command, *command.piped_from, *command.built_from)
            self._budget -= sum(len(each.words) + len(each.redirects) for each in looked_at)
            if self._budget < 0:
                self.opaque = True
                return
            self._command(command)
            self._folders.after(command)
            self.opaque = self.opaque or self._folders.opaque

    def findings(self, *, opaque: bool) -> list[Finding]:
        """Returns the findings about the commands and about the text itself."""
        findings = [*self._hits, *self._other]
        for _, rule, _ in self._policy.of_text.of("", self._subject.tool):
            if self._is_long:
                check()
            if rule.opaque not in (None, opaque) or not self._holds(rule):
                continue
            span = rule.text_hit(self._text, self._subject.own)
            if span is not None or not rule.of_text:
                findings.append(rule.finding(span))
                self._ranks[findings[-1]] = rule.rank()
        return sorted(findings, key=lambda finding: self._ranks.get(finding, 1))

    def _command(self, command: Command) -> None:
        span = command.span
        places = self._folders.before(command)
        self._budget -= (len(places) - 1) * len(command.words)
        views = [self._see(command, place, first=place is places[0]) for place in places]
        matching = [hit for view in views for hit in self._matching(view)]
        hits = list(dict.fromkeys(finding for _, finding in matching))
        hits += mixed_scripts(_names(command), command.segment)
        if any(runs_unread(command, place, self._filled) for place in places):
            hits.append(
                Finding(fetched_files.RULE, fetched_files.REASON, "high", span, command.segment)
            )
        elif self._fetched != NOTHING_FETCHED:
            came = [
                e
                for place in places
                for e in fetched_files.fetched_run_findings(command, place, self._fetched, span)
            ]
            hits += came[:1]
        if any(runs_own(command, place) for place in places):
            hits.append(own_script(span, command.segment))
        # A project's own rule does not make a command known: it could else only loosen.
        known = any(rule.tier != "project" for rule, _ in matching)
        covered = "" if self._folders.lost else self._covered(views)
        # Of what is held for something graver, it is no news that it is ordinary besides.
        settled = covered or self._folders.lost or (known and _worst_is_grave(hits))
        work = None if settled else self._ordinary(views)
        if work is not None:
            known = True
            # Beside what is grave it says nothing that anybody has to read.
            if not any(severity(hit.risk) > severity(work.risk) for hit in hits):
                hits.append(work)
        self._hits += hits
        findings = list(hits)
        unclean = blocking_rule(views[0])
        if unclean == "policy.redirect" and all(map(writes_inside, views)):
            reason = _WRITES_INSIDE
            findings.append(self._say(unclean, reason, span, command.segment, effect="ordinary"))
        elif unclean:
            effect = _effect(unclean, views, known=work is not None or bool(covered))
            reason = _NOT_COVERED[unclean]
            findings.append(self._say(unclean, reason, span, command.segment, effect=effect))
        if not covered and not known and (command.words or not unclean):
            lost = "Runs in a folder that is not followed"
            reason = lost if self._folders.lost else "No rule knows this command"
            findings.append(self._say(NO_RULE, reason, span, command.segment))
        rules = tuple(dict.fromkeys(finding.rule for finding in findings))
        self.segments.append(
            Segment(
                number=command.segment,
                span=span,
                words=tuple(word.text for word in command.words),
                risk=_worst(findings) if findings else "low",
                rules=rules,
                allowed_by="" if unclean else covered,
                nested=command.nested,
                dynamic=any(word.dynamic for word in (*command.assignments, *command.words)),
                unworded=_is_unworded(command) or bool(unclean),
            )
        )

    def _see(self, command: Command, place: Place, *, first: bool) -> CommandView:
        known = self._views if first else self._views_in.setdefault(place.cwd, {})
        view = known[id(command)] = CommandView(command, place, known)
        return view

    def _covered(self, views: list[CommandView]) -> str:
        """Returns the id of the rule that allows the command in every folder it may run in."""
        rule_ids = [self._allowed_by(view) for view in views]
        return rule_ids[0] if all(rule_ids) else ""

    def _ordinary(self, views: list[CommandView]) -> Finding | None:
        """Returns the finding about a command that is ordinary work in all its folders, if any."""
        rules = [self._rule_over(with_known_values(view), self._policy.working) for view in views]
        if not all(rules) or rules[0] is None:
            return None
        command = views[0].command
        return rules[0].finding(command.span, command.segment)

    def _say(
        self, rule: str, reason: str, span: Span, segment: int, *, effect: Effect | None = None
    ) -> Finding:
        """Adds a finding of a built-in rule.

        Args:
            rule: The id of the built-in rule.
            reason: The sentence for a person.
            span: The part of the command that it is about.
            segment: The number of its part, from 1.
            effect: Whether it is ordinary or lasting, where nobody sits.
        """
        default = self._policy.defaults.decision
        finding = Finding(rule, reason, "medium", span, segment, default, effect=effect)
        self._other.append(finding)
        return finding

    def _matching(self, view: CommandView) -> Iterator[tuple[Rule, Finding]]:
        texts = view.known_texts
        last: Rule | None = None
        may_be = self._policy.asking.of(view.program, self._subject.tool, view.has)
        for _, rule, shape in may_be:
            if rule is last:
                continue
            if shape is not None and shape.heads is not None and shape.heads.isdisjoint(texts):
                continue
            if not (rule.scope.every_shell_call or self._holds(rule)):
                continue
            if self._is_long:
                check()
            words = rule.words_in(view, shape)
            if words is not None and self._fits_text(rule):
                last = rule
                reason = rule.sentence(shape, Matched(view, shape, words).fill)
                hit = rule.finding(_around(words, view), view.command.segment, reason, shape)
                self._ranks[hit] = rule.rank(shape, names=bool(reason))
                yield rule, hit

    def _fits_text(self, rule: Rule) -> bool:
        """Returns whether the whole text is as a rule for commands asks besides."""
        if rule.opaque not in (None, self.opaque):
            return False
        return not rule.of_text or rule.text_hit(self._text, self._subject.own) is not None

    def _allowed_by(self, view: CommandView) -> str:
        command = view.command
        if command.transparent:
            return "runs only what is in it"
        if not command.words:
            return _opens_or_sets(view)
        rule = self._rule_over(view, self._policy.allowing)
        if rule is None:
            return ""
        self.allows.append(rule.finding(command.span, command.segment))
        return rule.id

    def _rule_over(self, view: CommandView, rules: Index) -> Rule | None:
        """Returns the first of the loosening rules that covers the command."""
        if not view.command.words:
            return None
        texts = view.known_texts
        for _, rule, shape in rules.of(view.program, self._subject.tool):
            if shape is None or (shape.heads is not None and shape.heads.isdisjoint(texts)):
                continue
            if (rule.scope.every_shell_call or self._holds(rule)) and rule.covers(view, shape):
                return rule
        return None

    def _start(self, folder: str | None) -> Place:
        """Returns the folder in which the call itself wants to be run."""
        subject = self._subject
        cwd = subject.cwd
        place = Place(cwd, subject.home, cwd, subject.own, subject.links)
        start = place_started_in(place, folder)
        self.opaque = self.opaque or start is None
        return start or place


def _effect(unclean: str, views: list[CommandView], *, known: bool) -> Effect | None:
    """Returns the effect of setting variables for a command: they may decide what it runs."""
    if unclean != "policy.env" or not views[0].command.words:
        return None
    if not all(map(sets_within, views)):
        return "lasting"
    return "ordinary" if known else None


def _opens_or_sets(view: CommandView) -> str:
    """Describes a command without a program: variables, and files for a group or a loop."""
    place, redirects = view.place, view.command.redirects
    for target in (redirect.target for redirect in redirects if redirect.reads):
        if target.expands == "value" and target.text.startswith("<("):
            continue  # What prints it is judged by itself.
        if target.dynamic or not all(map(place.inside, place.forms(target.text))):
            return ""
    return "opens a file" if redirects else "sets a variable"


def _names(command: Command) -> Iterator[tuple[str, Span]]:
    """Yields the words, assignments and redirect targets of a command, each with its span."""
    targets = (redirect.target for redirect in command.redirects)
    for word in (*command.assignments, *command.words, *targets):
        yield word.text, word.span


def _is_unworded(command: Command) -> bool:
    reads = any(redirect.reads for redirect in command.redirects)
    return reads or bool(command.documents or command.piped_from or command.reads_input)


def _around(words: list[Word], view: CommandView) -> Span:
    if not words:
        return view.command.span
    return min(word.start for word in words), max(word.end for word in words)
