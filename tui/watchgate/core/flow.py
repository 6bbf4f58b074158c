"""Calls that reach for the network after untrusted text and a secret were read: a level graver.

Whoever writes what an agent reads may tell it to fetch a secret and to carry it out. None of the
three calls shows that by itself. So for each session are remembered, of the calls that ran or were
let run, the newest that read something untrusted and the newest that read a secret after that; a
call that wants the network behind them is raised, and names both. Once a person has allowed such a
call, having been shown them, it takes a new secret.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final

import msgspec

from watchgate.core.clock import Instant
from watchgate.core.events import Event
from watchgate.core.policy.assessment import Assessment
from watchgate.core.policy.filling import CARRIERS, FETCHERS
from watchgate.core.policy.shell.words import names
from watchgate.core.raising import FLOW, ago, call_line, raised_by
from watchgate.core.recent import Recent

_SESSIONS_KEPT = 2_000
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


class _Step(msgspec.Struct, frozen=True):
    """A call that ran, in a few words, and when."""

    at: Instant
    line: str


class _Read(msgspec.Struct, frozen=True):
    """The newest untrusted call of a session, and the pair that ends with a secret."""

    untrusted: _Step | None = None
    secret: tuple[_Step, _Step] | None = None


class Flow:
    """The grave reads of each session, by agent and session."""

    def __init__(self) -> None:
        self._read: Recent[tuple[str, str], _Read] = Recent(_SESSIONS_KEPT)

    def ran(self, event: Event, found: Assessment, now: Instant) -> None:
        """Remember a call that ran, or that was let run."""
        key = event.agent, event.session
        known = self._read.get(key, _Read())
        if known.untrusted is not None and _reads_secret(found):
            pair = known.untrusted, _Step(now, call_line(event))
            self._read.renew(key, msgspec.structs.replace(known, secret=pair))
        elif _reads_untrusted(event, found):
            step = _Step(now, call_line(event))
            self._read.renew(key, msgspec.structs.replace(known, untrusted=step))

    def raised(self, event: Event, found: Assessment) -> Assessment:
        """The assessment of a call, one level up where it would carry out what was read."""
        known = self._read.get((event.agent, event.session))
        if known is None or known.secret is None or not _wants_network(event, found):
            return found
        untrusted, secret = known.secret
        at_s = event.at.mono_s
        first, second = (ago(max(0.0, at_s - each.at.mono_s)) for each in known.secret)
        reason = (
            f"the session read from elsewhere ({untrusted.line}, {first}), then a secret"
            f" ({secret.line}, {second}), and now wants the network"
        )
        return raised_by(FLOW, reason, found)

    def allowed(self, event: Event) -> None:
        """Take it that a person has allowed the network, knowing what was read."""
        key = event.agent, event.session
        if known := self._read.get(key):
            self._read[key] = msgspec.structs.replace(known, secret=None)

    def over(self, agent: str, session: str) -> None:
        """Forget a session that ended."""
        self._read.pop((agent, session), None)


def _reads_secret(found: Assessment) -> bool:
    rules = {each.rule for each in found.findings}
    return any(rule.startswith("secrets.") for rule in rules - _NO_SECRET)


def _reads_untrusted(event: Event, found: Assessment) -> bool:
    tool = event.tool
    if tool is None:
        return False
    if tool.cls in ("fetch", "mcp"):
        return True
    if any(each.rule in _FROM_ELSEWHERE for each in found.findings):
        return True
    return _runs_any(found, _FETCHING)


def _wants_network(event: Event, found: Assessment) -> bool:
    tool = event.tool
    if tool is None or found.decision == "deny":
        return False
    if tool.cls == "fetch":
        return True
    # What an allow rule covers, such as a look at an issue, tells nobody anything.
    if found.decision == "allow":
        return False
    if tool.cls != "shell":
        return any(_SENDS.match(each.rule) for each in found.findings)
    if _runs_any(found, _SENDING):
        return True
    local = any(map(_ONLY_HERE.match, _words(found)))
    return not local and any(_SENDS.match(each.rule) for each in found.findings)


def _runs_any(found: Assessment, programs: frozenset[str]) -> bool:
    """Tell whether a part runs one of these programs, and not only with this machine."""
    return any(
        posixpath.basename(segment.words[0]).lower() in programs
        and not any(map(_ONLY_HERE.match, segment.words[1:]))
        for segment in found.segments
        if segment.words
    )


def _words(found: Assessment) -> list[str]:
    return [word for segment in found.segments for word in segment.words[1:]]
