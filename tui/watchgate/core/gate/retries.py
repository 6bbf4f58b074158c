"""Retries: a denied call that comes again in other words is one level graver, and says so.

Agents that are denied try another way to the same end. So what was denied in a session is
remembered for five minutes by the rules that spoke against it and by what it was about; a call that
must be asked about anyhow and shares either is raised by one level.

Agents that are denied also do what the denial advises: the same operation without what it was
denied for. Such a call stays what it is. Every part of the call has to be one that was denied:
another program, another folder, a word that only the run shows or a part that is as dangerous as
before goes round the denial.
"""

from __future__ import annotations

import posixpath
import re
from collections import deque

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.base.clock import Instant
from watchgate.core.gate.raised_risk import RAISING, RETRY, age_text, raised_by, short_call
from watchgate.core.model.assessment import NO_RULE, Assessment, Segment, severity
from watchgate.core.model.events import Event
from watchgate.core.tools.tool_input import paths, urls

REMEMBERED_S = 300.0
_DENIALS_PER_SESSION = 32
_SESSIONS_MAX = 2_000
# Words that say nothing about what a command is about.
_COMMON = frozenset((".", "..", "-", "--", "/", "*", "{}", ";", "+"))
# Programs whose first words are verbs, and say as little.
_VERB_FIRST = frozenset(
    """apt apt-get aws az brew bun cargo composer conda dnf docker gcloud gem gh git glab go gradle
    helm just kubectl make mvn npm npx pip pip3 pipx pnpm podman poetry pulumi python python3
    systemctl terraform tofu uv yarn""".split()
)
# Code that is understood; where it is denied, code that is not may do the same in other words.
_CODE, _OTHER_CODE = "code.read", "code.inline"
_CLASSLESS = frozenset((NO_RULE, *RAISING, "shell.opaque", _CODE))
_CHANGES_FOLDER = frozenset(("cd", "pushd", "popd"))
_KNOWN_AT_RUN_TIME = frozenset("$`*?[{~")
# A name that says of which thing; git's words for whatever is checked out do not.
_NAME = re.compile(r"^(?!(?:HEAD|@)(?:$|[:~^@])).*\w")
_WORD = re.compile(r"[\w-]+").fullmatch
_OPTION = re.compile(r"(?<!\S)--?\w[\w-]*")
_WORDS_COMPARED = 60
_TRIES = frozenset(("--dry-run", "--dryrun", "--dry_run", "--simulate", "--what-if"))


class _Denied(msgspec.Struct, frozen=True):
    """A denied call; `risk` is that of its own rules, whatever came before it."""

    at: Instant
    shown: str
    rules: frozenset[str]
    targets: frozenset[str]
    tool: str
    cwd: str
    places: tuple[str, ...]
    risk: int
    segments: tuple[Segment, ...]
    gravest: frozenset[str]
    advised: frozenset[str]


class RetryDetector:
    """The calls that were denied lately, by agent and session."""

    def __init__(self) -> None:
        self._denied: Recent[tuple[str, str], deque[_Denied]] = Recent(_SESSIONS_MAX)

    def note_denied(self, event: Event, assessment: Assessment, now: Instant) -> None:
        """Notes a call that an operator or a rule denied."""
        key = event.agent, event.session
        denials = self._denied.get(key)
        if denials is None:
            denials = self._denied[key] = deque(maxlen=_DENIALS_PER_SESSION)
        rules, targets = _about(event, assessment)
        if any(each.rule == _CODE for each in assessment.findings):
            rules |= {_OTHER_CODE}
        gravest = [each for each in assessment.findings if each.rule not in RAISING]
        risk = max((severity(each.risk) for each in gravest), default=severity(assessment.risk))
        reasons = frozenset(each.rule for each in gravest if severity(each.risk) == risk)
        tool = event.tool.name if event.tool is not None else ""
        segments = _short(assessment.segments)
        denials.append(
            _Denied(
                at=now,
                shown=short_call(event),
                rules=rules,
                targets=targets,
                tool=tool,
                cwd=event.cwd,
                places=tuple(_place(each, event.cwd) for each in targets) if segments else (),
                risk=risk,
                segments=segments,
                gravest=reasons,
                advised=_TRIES.union(*(_OPTION.findall(each.suggest) for each in gravest)),
            )
        )

    def raised(self, event: Event, assessment: Assessment) -> Assessment:
        """Returns the assessment of a call, one level up where it is a retry."""
        denials = self._denied.get((event.agent, event.session))
        if denials is None or assessment.decision != "ask":
            return assessment
        rules, targets = _about(event, assessment)
        for before in reversed(denials):
            age_s = event.at.mono_s - before.at.mono_s
            if age_s < 0:
                continue  # it was asked before that was denied, so it is no answer to it
            if age_s > REMEMBERED_S:
                break
            shared = before.targets & targets
            if not (before.rules & rules or shared):
                continue
            if not _is_safer(event, assessment, before, shared):
                return raised_by(RETRY, f"denied {age_text(age_s)} as {before.shown}", assessment)
        return assessment

    def forget(self, agent: str, session: str) -> None:
        """Forgets a session that ended."""
        self._denied.pop((agent, session), None)


def _about(event: Event, assessment: Assessment) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the rules that speak against a call, and its targets: paths, hosts, names."""
    rules = frozenset(each.rule for each in assessment.findings) - _CLASSLESS
    tool = event.tool
    if tool is None:
        return rules, frozenset()
    named = {
        word.rstrip("/") or "/"
        for segment in assessment.segments
        if segment.words and not segment.allowed_by
        for word in _operands(segment.words)
    }
    return rules, frozenset((named | {*paths(tool), *urls(tool)}) - _COMMON)


def _operands(words: tuple[str, ...]) -> list[str]:
    operands = [word for word in words[1:] if len(word) > 1 and not word.startswith("-")]
    return operands[1:] if words[0] in _VERB_FIRST else operands


def _is_safer(
    event: Event, assessment: Assessment, before: _Denied, shared: frozenset[str]
) -> bool:
    """Returns whether a call is the denied one without what it was denied for.

    `shared` are the targets of both. What a tool writes to the same file is not compared by word.
    """
    words = sum(len(each.words) for each in assessment.segments)
    if (shared and not words) or words > _WORDS_COMPARED or not before.segments:
        return False
    grave = {each.rule for each in assessment.findings if severity(each.risk) >= before.risk}
    located = {rule for segment in assessment.segments for rule in segment.rules}
    if assessment.opaque or event.tool is None or event.tool.name != before.tool or grave - located:
        return False
    moves, moved = _moves(assessment.segments), _moves(before.segments)
    return moves <= moved and all(
        _is_part_safer(segment, grave, before, is_there=moves == moved)
        for segment in assessment.segments
        if not segment.allowed_by
    )


def _is_part_safer(segment: Segment, grave: set[str], before: _Denied, *, is_there: bool) -> bool:
    """Returns whether a command is a denied one, and less; `is_there`: in the same folder."""
    alike = [each for each in before.segments if _operation(each) == _operation(segment)]
    if segment.unworded and not all(each.unworded for each in alike):
        return False
    here = grave.intersection(segment.rules)
    if here and not all(here < before.gravest.intersection(each.rules) for each in alike):
        return False
    known = NO_RULE not in segment.rules and severity(segment.risk) <= severity("medium")
    return any(_is_as_advised(segment, each, before) for each in alike) or (
        known and is_there and any(_is_elsewhere(segment, each, before) for each in alike)
    )


def _is_as_advised(segment: Segment, denied: Segment, before: _Denied) -> bool:
    """Returns whether a command has the words that were denied, and only advised ones besides."""
    options = [_option(word) for word in segment.words if word not in denied.words]
    # Without the target that it had, a command takes what it comes upon.
    has_targets = {word for word in denied.words if not word.startswith("-")}.issubset(
        segment.words
    )
    return has_targets and before.advised.issuperset(options) and len(set(options)) == len(options)


def _is_elsewhere(segment: Segment, denied: Segment, before: _Denied) -> bool:
    """Returns whether a command plainly names other things than the denied one."""
    new = [word for word in segment.words if word not in denied.words]
    names = [word for word in new if not word.startswith("-")]
    vague = any(map(_is_vague, (*new, *denied.words[1:]))) or not all(map(_NAME.search, names))
    if vague or not names:
        return False
    targets = before.targets.intersection(_operands(denied.words))
    same_targets = before.targets.intersection(segment.words) - set(names)
    # Behind a verb stands what it works with too, as a remote does; elsewhere each is a target.
    if same_targets and not (
        denied.words[0] in _VERB_FIRST and same_targets < targets and all(map(_WORD, same_targets))
    ):
        return False
    here = tuple(_place(name, before.cwd) for name in names)
    within = any(place.startswith(here) for place in before.places)
    return not within and not any(name.startswith(before.places) for name in here)


def _is_vague(word: str) -> bool:
    return word in _COMMON or bool(_KNOWN_AT_RUN_TIME.intersection(word))


def _option(word: str) -> str:
    return word.partition("=")[0]


def _moves(segments: tuple[Segment, ...]) -> set[tuple[str, ...]]:
    return {each.words for each in segments if each.words[:1] and each.words[0] in _CHANGES_FOLDER}


def _operation(segment: Segment) -> tuple[str, ...]:
    """Returns the program of a command, and its verb where the program has verbs."""
    words = segment.words
    if not words or words[0] not in _VERB_FIRST:
        return words[:1]
    return (words[0], *[word for word in words[1:] if not word.startswith("-")][:1])


def _place(name: str, cwd: str) -> str:
    """Returns a name as the folder that it would be, so that what lies in it begins with it."""
    return posixpath.normpath(posixpath.join(cwd, name)) + "/"


def _short(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """Returns the parts of a denied call, or none where they are too many to be compared."""
    return segments if sum(len(each.words) for each in segments) <= _WORDS_COMPARED else ()
