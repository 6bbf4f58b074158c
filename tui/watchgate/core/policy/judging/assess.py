"""Assessment of one call by the policy: a decision, a risk, and why.

Assessment of calls of all tools but the shell: by paths, addresses and the summary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from watchgate.core.base.patterns.allowance import AllowanceSpent, check, one_text
from watchgate.core.base.text import Span
from watchgate.core.model.assessment import NO_RULE, Assessment, Finding, Segment
from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.inputs.subject import NOBODY, Subject
from watchgate.core.policy.inputs.text_guards import MAX_CHARS, mixed_scripts, text_findings
from watchgate.core.policy.judging import folders
from watchgate.core.policy.judging.call_paths import places_named
from watchgate.core.policy.judging.carried_code import carried
from watchgate.core.policy.judging.shell_calls import Holds, assess_shell, combine_findings
from watchgate.core.policy.matching.name_patterns import kinds_of
from watchgate.core.policy.matching.path_patterns import PathPatterns, forms_of
from watchgate.core.policy.matching.rule_scope import addresses_fit
from watchgate.core.policy.matching.sentence_templates import Fill, Slot, listed
from watchgate.core.policy.rules.compiled_rule import Rule
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.tools import tool_input
from watchgate.core.tools.summary import shown_path, summary

_WHOLE_PATCH = "*** Delete File"
_MAX_TEXTS = 1_000
_UNKNOWN = ("mcp", "other")
_OPAQUE = ("call.opaque", "shell.opaque")
# What a shell would be asked about where no rule says anything; of these tools another rule does.
_UNRULED = (NO_RULE, "policy.redirect", "policy.env")


def assess_other(
    subject: Subject, policy: Policy, holding: Callable[[Subject], Holds]
) -> Assessment:
    """Assesses a call that is no shell command; spans are in its summary.

    `holding` makes the test of whether a rule's scope takes in a call.
    """
    call = _OtherCall(subject)
    holds = holding(subject)
    findings: list[Finding] = []
    known = False
    allows: list[Finding] = []
    for _, rule, _ in policy.of_calls.of("", subject.tool):
        if rule.opaque is True or not holds(rule):
            continue
        check()
        if rule.loosens:
            if call.allowed(rule):
                (findings if rule.effect else allows).append(rule.finding(None, 1))
                known = known or bool(rule.effect)
        elif (hit := call.hit(rule)) is not None:
            findings.append(rule.finding(hit or None, 1, rule.sentence(None, call.fill_of(rule))))
            # A project's own rule does not make a call known: it could else only loosen.
            known = known or rule.tier != "project"
    guarded = list(text_findings(call.text))
    findings += guarded
    findings += mixed_scripts(call.names(), 1)
    tool = subject.tool
    if tool.cls in _UNKNOWN:
        carries = list(_carried(subject, policy, holding, call.shown))
        findings += carries
        guarded += [finding for finding in carries if finding.rule == "call.opaque"]
    if tool.cls == "edit" and not call.paths:
        reason = "Does not say which file it writes"
        guarded.append(Finding("call.opaque", reason, "unknown"))
        findings.append(guarded[-1])
    if not known and not guarded and not allows:
        reason = "No rule knows this MCP tool" if tool.cls == "mcp" else "No rule knows this call"
        default = policy.defaults.decision
        findings.append(Finding(NO_RULE, reason, "medium", None, 1, default))
    findings += policy.faults
    opaque = any(finding.rule in _OPAQUE for finding in findings)
    assessment = combine_findings(findings, allows, (), opaque=opaque)
    segment = Segment(
        number=1,
        span=(0, len(call.shown)),
        risk=assessment.risk,
        rules=tuple(dict.fromkeys(finding.rule for finding in findings)),
        allowed_by=allows[0].rule if allows else "",
    )
    return Assessment(assessment.decision, assessment.risk, assessment.findings, opaque, (segment,))


def _carried(
    subject: Subject, policy: Policy, holding: Callable[[Subject], Holds], shown: str
) -> Iterator[Finding]:
    """Yields the shell rules' findings about commands, code and statements in the input."""
    tool = subject.tool
    texts, is_all = carried(tool)
    if not is_all:
        reason = "Carries more commands or values than are looked at"
        yield Finding("call.opaque", reason, "unknown", None, 1)
    for given in texts:
        shell = Tool(tool.name, tool.native_name, "shell", {"command": given.command}, "")
        asked = msgspec.structs.replace(subject, tool=shell)
        judged = assess_shell(asked, policy, holding(asked))
        start = shown.find(given.text)
        whole = (start, start + len(given.text)) if start >= 0 else None
        for finding in judged.findings:
            unread = finding.rule == "shell.opaque" and not given.certain
            adds_nothing = finding.decision == "allow" or finding.rule in _UNRULED
            if unread or adds_nothing or finding in policy.faults:
                continue
            yield msgspec.structs.replace(finding, span=whole, segment=1)


class _OtherCall:
    """A call with what rules look at in it."""

    def __init__(self, subject: Subject) -> None:
        tool, cwd = subject.tool, subject.cwd
        self.subject = subject
        here = Place(session=cwd, home=subject.home, cwd=cwd, own=subject.own, links=subject.links)
        self.place = folders.cached_place(here, cwd)
        self.shown = summary(tool, cwd)
        # What an unknown tool is given has rules of its own; in its line it is only shown.
        self.text = tool.name if tool.cls in _UNKNOWN else self.shown
        self.paths = tool_input.paths(tool)
        self.looked_at = self.paths
        if tool.cls == "read":
            self.looked_at = places_named(tool, self.paths) or (".",)
        self._written = {led: path for path in self.looked_at for led in self.place.leads_to(path)}
        self.looked_at = (*self.looked_at, *self._written)
        # What a tool of unknown making does with a field, its name does not tell.
        self.texts = tuple(_texts(tool.input)) if tool.cls in _UNKNOWN else ()
        self._forms: dict[str, tuple[str, ...]] = {}
        self._deletes = tool.cls == "edit" and _WHOLE_PATCH in tool_input.patch(tool)

    def names(self) -> Iterator[tuple[str, Span | None]]:
        """Yields the paths and addresses of the call, each with its span in the summary."""
        for path in self.paths:
            yield path, self._shown_at(shown_path(path, self.subject.cwd))
        for address in tool_input.urls(self.subject.tool):
            yield address, self._shown_at(address)

    def _shown_at(self, name: str) -> Span | None:
        start = self.shown.find(name)
        return (start, start + len(name)) if start >= 0 else None

    def hit(self, rule: Rule) -> Span | tuple[()] | None:
        """Returns the span of the summary that a rule matches; () if not shown, None if none."""
        span: Span | tuple[()] = ()
        if rule.env is not None:
            return None
        if rule.paths is not None:
            path = self._touched(rule.paths)
            if path is None:
                return None
            name = shown_path(self._written.get(path, path), self.subject.cwd)
            start = self.shown.find(name)
            span = (start, start + len(name)) if start >= 0 else ()
        if rule.hosts is not None:
            if not addresses_fit(rule.hosts, self.subject, every=False):
                return None
            address = tool_input.url(self.subject.tool) or ""
            span = span or (0, len(address))
        if rule.of_text:
            text_span = rule.text_hit(self.text, self.subject.own)
            if text_span is not None:
                span = text_span
            elif not any(rule.text_hit(text, self.subject.own) for text in self.texts):
                return None
        return span

    def fill_of(self, rule: Rule) -> Fill:
        """Returns the filler of a matching rule's placeholders: hosts, or the path touched."""

        def fill(slot: Slot) -> str:
            if slot.kind == "host":
                return listed([kinds_of(each)[0] for each in tool_input.urls(self.subject.tool)])
            path = self._touched(rule.paths) if slot.kind == "paths" and rule.paths else None
            if path is None:
                return ""
            return listed([shown_path(self._written.get(path, path), self.subject.cwd)])

        return fill

    def allowed(self, rule: Rule) -> bool:
        """Returns whether an allow rule covers all that the call touches."""
        if rule.hosts is not None and not addresses_fit(rule.hosts, self.subject, every=True):
            return False
        wanted = rule.paths
        if wanted is None:
            return True
        return (
            bool(self.looked_at)
            and self._is(wanted)
            and all(self._fits(wanted, path) for path in self.looked_at)
        )

    def _touched(self, wanted: PathPatterns) -> str | None:
        if not self._is(wanted):
            return None
        return next((path for path in self.looked_at if self._fits(wanted, path)), None)

    def _is(self, wanted: PathPatterns) -> bool:
        """Returns whether the call touches paths in that way; an unknown class may touch in any."""
        match self.subject.tool.cls:
            case "read":
                return wanted.access in ("any", "read")
            case "edit":
                return wanted.access in ("any", "write") or (
                    wanted.access == "delete" and self._deletes
                )
            case _:
                return True

    def _fits(self, wanted: PathPatterns, path: str) -> bool:
        place = self.place
        if wanted.own and self.subject.tool.cls != "read" and place.holds_own(path):
            return True
        forms = self._forms.get(path)
        if forms is None:
            forms = self._forms[path] = forms_of(place, path)
        return wanted.fit(place, path, forms)


def _texts(value: object) -> Iterator[str]:
    """Yields every text in an input, at any depth, each as long as anybody would read."""
    todo, left = [value], _MAX_TEXTS
    while todo and left:
        left -= 1
        match todo.pop():
            case str(text):
                yield text[:MAX_CHARS]
            case list(several):
                todo += several
            case dict(fields):
                todo += fields.values()


_SPENT = "Takes too long to be judged, so that nothing is known of it"
_TOO_DEEP = "Is nested too deep to be judged, so that nothing is known of it"


def assess(subject: Subject, policy: Policy, now_us: int) -> Assessment:
    """Assesses a call that is about to run by the policy.

    `now_us` are microseconds since 1970, for rules that end. A call that takes longer than one text
    may, or is nested deeper than a reader goes, is not understood. Grants of an operator and the
    profile come after it.
    """
    with one_text():
        try:
            return _assess(subject, policy, now_us)
        except (AllowanceSpent, RecursionError) as fault:
            why = _SPENT if isinstance(fault, AllowanceSpent) else _TOO_DEEP
            unknown = Finding("call.spent", why, "unknown", decision=policy.defaults.opaque)
            return combine_findings([unknown, *policy.faults], [], (), opaque=True)


def _assess(subject: Subject, policy: Policy, now_us: int) -> Assessment:
    def holding(asked: Subject) -> Holds:
        known: dict[str, bool] = {}

        def holds(rule: Rule) -> bool:
            """Returns whether the rule's scope takes in the call, worked out once for a text."""
            in_scope = known.get(rule.id)
            if in_scope is None:
                in_scope = known[rule.id] = rule.scope.holds(asked, now_us)
            return in_scope

        return holds

    if subject.tool.cls == "shell":
        assessment = assess_shell(subject, policy, holding(subject))
    else:
        assessment = assess_other(subject, policy, holding)
    unchecked = [link for link, target in subject.links if target == NOBODY]
    return _with_unchecked(assessment, unchecked) if unchecked else assessment


def _with_unchecked(assessment: Assessment, places: list[str]) -> Assessment:
    """Returns the assessment with a finding for places that nobody looked at."""
    reason = "Names more places than are looked at"
    if places != ["/"]:
        reason = (
            f"Names what lies on {', '.join(places)}, which may not answer, so that it is not known"
            " where that leads"
        )
    findings = [] if assessment.decision == "allow" else [*assessment.findings]
    findings.append(Finding("call.unseen", reason, "medium"))
    return combine_findings(findings, [], assessment.segments, opaque=assessment.opaque)
