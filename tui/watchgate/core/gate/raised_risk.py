"""Calls that are graver than the rules for them say, for what came before them in the session.

Exfiltration is a call that wants the network after untrusted text and a secret were read. Whoever
writes what an agent reads may tell it to fetch a secret and to carry it out. None of the
three calls shows that by itself. So each session has, of the calls that ran or were let run, the
newest that read something untrusted and the newest that read a secret after that; a call that wants
the network behind them is one level graver, and names both. Once a person has allowed such a call,
having been shown them, it takes a new secret.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.base.clock import Instant
from watchgate.core.model.assessment import Assessment, Finding, Risk
from watchgate.core.model.events import Event
from watchgate.core.policy.shell.commands import CARRIERS, FETCHERS, names
from watchgate.core.secrets.redact import redact
from watchgate.core.tools.summary import summary

RETRY: Final = "policy.retry"
FLOW: Final = "policy.flow"
RAISING: Final = frozenset((RETRY, FLOW))
"""The rules of findings that raise a call; no rule file has them."""

_SHOWN_CHARS = 60
_READ_CHARS = 16_384
_NEXT: dict[Risk, Risk] = {
    "low": "medium",
    "medium": "high",
    "unknown": "high",
    "high": "critical",
    "critical": "critical",
}


def raised_by(rule: str, reason: str, assessment: Assessment) -> Assessment:
    """Returns the assessment one level up, with a finding that says why; no grant answers it."""
    finding = Finding(rule, f"One level higher: {reason}", _NEXT[assessment.risk], always_ask=True)
    return msgspec.structs.replace(
        assessment, decision="ask", risk=finding.risk, findings=(*assessment.findings, finding)
    )


def why_raised(assessment: Assessment) -> str:
    """Returns the reason the risk is above that of the rules; empty where it is not."""
    return next((each.reason for each in assessment.findings if each.rule in RAISING), "")


def short_call(event: Event) -> str:
    """Returns a call in a few words, without its secrets, for a sentence about another one."""
    tool = event.tool
    text = summary(tool, event.cwd) if tool is not None else event.native
    # A secret that is cut is no longer known for one; behind so many characters none is shown.
    line = " ".join(redact(text[:_READ_CHARS]).split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[: _SHOWN_CHARS - 3]}..."


def age_text(age_s: float) -> str:
    """Returns an age in a few words."""
    return f"{age_s:.0f} s ago" if age_s < 60 else f"{age_s / 60:.0f} min ago"


_SESSIONS_MAX = 2_000
_FROM_ELSEWHERE: Final = frozenset(
    (
        "files.print-outside",
        "files.print-elsewhere",
        "files.read-outside",
        "files.read-elsewhere",
    )
)
# They may read one, as `cat "$file"` may, or put one somewhere.
_NO_SECRET: Final = frozenset(("secrets.any-file", "secrets.all-files", "secrets.change"))
_SENDS: Final = re.compile(
    r"(?:net|network)\.|remote\.(?:send|post|shell|publish)|git\.push|mcp\.send"
)
_FETCHING: Final = FETCHERS | CARRIERS | names("lynx w3m links gh glab")
_SENDING: Final = _FETCHING | names(
    """ssh rsync rclone telnet ftp tftp lftp mail mailx mutt sendmail dig nslookup host drill
    websocat grpcurl"""
)
_ONLY_HERE: Final = re.compile(
    r"(?:\w+://)?(?:[^/@]*@)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|$)"
)


class _ReadCall(msgspec.Struct, frozen=True):
    """A call that ran, in a few words, with its time."""

    at: Instant
    line: str


class _SessionReads(msgspec.Struct, frozen=True):
    """The newest untrusted call of a session, and the pair that ends with a secret."""

    untrusted: _ReadCall | None = None
    secret: tuple[_ReadCall, _ReadCall] | None = None


class ExfiltrationDetector:
    """The reads of untrusted text and of secrets, by agent and session."""

    def __init__(self) -> None:
        self._read: Recent[tuple[str, str], _SessionReads] = Recent(_SESSIONS_MAX)

    def note_run(self, event: Event, assessment: Assessment, now: Instant) -> None:
        """Notes a call that ran, or that was let run."""
        key = event.agent, event.session
        known = self._read.get(key, _SessionReads())
        if known.untrusted is not None and _reads_secret(assessment):
            pair = known.untrusted, _ReadCall(now, short_call(event))
            self._read.renew(key, msgspec.structs.replace(known, secret=pair))
        elif _reads_untrusted(event, assessment):
            step = _ReadCall(now, short_call(event))
            self._read.renew(key, msgspec.structs.replace(known, untrusted=step))

    def raised(self, event: Event, assessment: Assessment) -> Assessment:
        """Returns the assessment of a call, one level up where it could carry a secret out."""
        known = self._read.get((event.agent, event.session))
        if known is None or known.secret is None or not _wants_network(event, assessment):
            return assessment
        untrusted, secret = known.secret
        at_s = event.at.mono_s
        first, second = (age_text(max(0.0, at_s - each.at.mono_s)) for each in known.secret)
        reason = (
            f"the session read from elsewhere ({untrusted.line}, {first}), then a secret"
            f" ({secret.line}, {second}), and now wants the network"
        )
        return raised_by(FLOW, reason, assessment)

    def note_allowed(self, event: Event) -> None:
        """Notes that a person has allowed the network, knowing what was read."""
        key = event.agent, event.session
        if known := self._read.get(key):
            self._read[key] = msgspec.structs.replace(known, secret=None)

    def forget(self, agent: str, session: str) -> None:
        """Forgets a session that ended."""
        self._read.pop((agent, session), None)


def _reads_secret(assessment: Assessment) -> bool:
    rules = {each.rule for each in assessment.findings}
    return any(rule.startswith("secrets.") for rule in rules - _NO_SECRET)


def _reads_untrusted(event: Event, assessment: Assessment) -> bool:
    tool = event.tool
    if tool is None:
        return False
    if tool.cls in ("fetch", "mcp"):
        return True
    if any(each.rule in _FROM_ELSEWHERE for each in assessment.findings):
        return True
    return _runs_any(assessment, _FETCHING)


def _wants_network(event: Event, assessment: Assessment) -> bool:
    tool = event.tool
    if tool is None or assessment.decision == "deny":
        return False
    if tool.cls == "fetch":
        return True
    # What an allow rule covers, such as a look at an issue, tells nobody anything.
    if assessment.decision == "allow":
        return False
    if tool.cls != "shell":
        return any(_SENDS.match(each.rule) for each in assessment.findings)
    if _runs_any(assessment, _SENDING):
        return True
    local = any(map(_ONLY_HERE.match, _words(assessment)))
    return not local and any(_SENDS.match(each.rule) for each in assessment.findings)


def _runs_any(assessment: Assessment, programs: frozenset[str]) -> bool:
    """Returns whether a part runs one of these programs, and not only with this machine."""
    return any(
        posixpath.basename(segment.words[0]).lower() in programs
        and not any(map(_ONLY_HERE.match, segment.words[1:]))
        for segment in assessment.segments
        if segment.words
    )


def _words(assessment: Assessment) -> list[str]:
    return [word for segment in assessment.segments for word in segment.words[1:]]
