"""A denied call that comes again in other words: it is one level graver, and says so.

Agents that are denied try another way to the same end. So what was denied in a session is
remembered for five minutes by the rules that spoke against it and by what it was about; a call that
must be asked about anyhow and shares either is raised by one level.
"""

from __future__ import annotations

from collections import deque

import msgspec

from watchgate.core.clock import Instant
from watchgate.core.events import Event
from watchgate.core.policy.assessment import NO_RULE, Assessment, Finding, Risk
from watchgate.core.recent import Recent
from watchgate.core.redact import redact
from watchgate.core.summary import summary
from watchgate.core.tool_input import paths, urls

RULE = "policy.retry"
REMEMBERED_S = 300.0
_KEPT_A_SESSION = 32
_SESSIONS_KEPT = 2_000
_SHOWN_CHARS = 60
_READ_CHARS = 16_384
_RAISED: dict[Risk, Risk] = {
    "low": "medium",
    "medium": "high",
    "unknown": "high",
    "high": "critical",
    "critical": "critical",
}
# Words that say nothing about what a command is about.
_COMMON = frozenset((".", "..", "-", "--", "/", "*", "{}", ";", "+"))
# Programs whose first words are verbs, and say as little.
_VERB_FIRST = frozenset(
    """apt apt-get aws az brew bun cargo composer conda dnf docker gcloud gem gh git glab go gradle
    helm just kubectl make mvn npm npx pip pip3 pipx pnpm podman poetry pulumi python python3
    systemctl terraform tofu uv yarn""".split()
)
_CLASSLESS = frozenset((NO_RULE, RULE, "shell.opaque"))


class _Denied(msgspec.Struct, frozen=True):
    at: Instant
    shown: str
    rules: frozenset[str]
    targets: frozenset[str]


class Retries:
    """What was denied lately, by agent and session."""

    def __init__(self) -> None:
        self._denied: Recent[tuple[str, str], deque[_Denied]] = Recent(_SESSIONS_KEPT)

    def denied(self, event: Event, found: Assessment, now: Instant) -> None:
        """Remember a call that an operator or a rule denied."""
        key = event.agent, event.session
        kept = self._denied.get(key)
        if kept is None:
            kept = self._denied[key] = deque(maxlen=_KEPT_A_SESSION)
        rules, targets = _about(event, found)
        kept.append(_Denied(now, _shown(event), rules, targets))

    def raised(self, event: Event, found: Assessment) -> Assessment:
        """The assessment of a call at the event's moment, one level up where it is a retry."""
        kept = self._denied.get((event.agent, event.session))
        if kept is None or found.decision != "ask":
            return found
        rules, targets = _about(event, found)
        for before in reversed(kept):
            age_s = event.at.mono_s - before.at.mono_s
            if age_s < 0:
                continue  # it was asked before that was denied, so it is no answer to it
            if age_s > REMEMBERED_S:
                break
            if before.rules & rules or before.targets & targets:
                reason = f"One level higher: denied {_ago(age_s)} as {before.shown}"
                finding = Finding(RULE, reason, _RAISED[found.risk], always_ask=True)
                return msgspec.structs.replace(
                    found, risk=finding.risk, findings=(*found.findings, finding)
                )
        return found

    def over(self, agent: str, session: str) -> None:
        """Forget a session that ended."""
        self._denied.pop((agent, session), None)


def why_raised(found: Assessment) -> str:
    """Why the risk is above what the rules say; empty where it is not."""
    return next((each.reason for each in found.findings if each.rule == RULE), "")


def _about(event: Event, found: Assessment) -> tuple[frozenset[str], frozenset[str]]:
    """The rules that speak against a call, and what it is about: paths, hosts, names."""
    rules = frozenset(each.rule for each in found.findings) - _CLASSLESS
    tool = event.tool
    if tool is None:
        return rules, frozenset()
    named = {
        word.rstrip("/") or "/"
        for segment in found.segments
        if segment.words and not segment.allowed_by
        for word in _operands(segment.words)
    }
    return rules, frozenset((named | {*paths(tool), *urls(tool)}) - _COMMON)


def _operands(words: tuple[str, ...]) -> list[str]:
    found = [word for word in words[1:] if len(word) > 1 and not word.startswith("-")]
    return found[1:] if words[0] in _VERB_FIRST else found


def _shown(event: Event) -> str:
    tool = event.tool
    text = summary(tool, event.cwd) if tool is not None else event.native
    # A secret that is cut is no longer known for one; behind so many characters none is shown.
    line = " ".join(redact(text[:_READ_CHARS]).split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[: _SHOWN_CHARS - 3]}..."


def _ago(age_s: float) -> str:
    return f"{age_s:.0f} s ago" if age_s < 60 else f"{age_s / 60:.0f} min ago"
