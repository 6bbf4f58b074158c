"""Attempts to decide or to switch the gate by what is no proven person: counted, and in words."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.core.model.actor import Actor
from watchgate.core.secrets.redact import redact

KIND: Final = "policy.refused"
ALARM: Final = "NO PERSON"
ALARM_AFTER: Final = 3
"""So many refusals of one terminal are an alarm, except of a locked console: it asks for a PIN."""

MAX_KINDS: Final = 100
"""So many different attempts are told apart; what comes beyond them is counted as one."""

FORGOTTEN_S: Final = 3_600.0
"""Seconds for which attempts are counted before counting begins anew."""

NAME_CHARS: Final = 24
NAMES: Final = 4
SUMMARY_CHARS: Final = 80
WHAT_CHARS: Final = 240
DETAIL_CHARS: Final = 160
_READ_CHARS: Final = 1_000

_DOING: Final = {
    "extend": "give a call more time",
    "propose": "propose a rule",
    "revoke": "revoke a grant",
    "policy": "change the policy in force",
    "purge": "purge records",
    "off": "switch the gate off",
    "on": "switch the gate on",
    "stop": "end the core",
    "unlock": "unlock a terminal",
    "pin": "change the PIN",
    "token": "register a program",
}
_DECIDING: Final = {
    "allow": "allow a call",
    "deny": "deny a call",
    "handback": "hand a call back to its agent",
    "answer": "answer for a person",
}

Place = tuple[int, str]
"""The pid and start of the process that leads the terminal, or else of the one that asks."""

Deed = tuple[str, str, str]
"""A verb, the decision and the request that it is about, each empty where there is none."""


class AttemptData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`policy.refused`: a process that is no proven person tried what only a person may.

    `what` names the process and the deed, `detail` why it was refused, `summary` the call that it
    was about. `standing` is that of the process, and `refused` the code it was answered with;
    `count` says how often this was tried so far. Equal attempts are recorded at few counts.
    """

    what: str
    verb: str
    refused: str
    standing: str
    detail: str = ""
    decision: str = ""
    tool: str = ""
    summary: str = ""
    count: int = 1
    alarm: Literal["NO PERSON", ""] = ""
    actor: Actor | None = None


class CountedAttempt(msgspec.Struct, frozen=True):
    """An attempt that is to be recorded: which one of its like it is."""

    count: int
    alarm: bool


class Attempts:
    """Counts what was refused, so that nobody floods the journal or hides among repetitions."""

    def __init__(self) -> None:
        self._counts: dict[tuple[Place, Deed] | None, int] = {}
        self._since_s = 0.0

    def refused(
        self,
        place: Place,
        deed: Deed,
        standing: str,
        *,
        console: bool,
        alarmed: bool,
        now_s: float,
    ) -> CountedAttempt | None:
        """Counts one; None where it need not be recorded.

        Args:
            place: Where it came from.
            deed: What it was.
            standing: How the process stands.
            console: Whether it attached as a console, which asks a person for the PIN.
            alarmed: Whether an alarm of an attempt is on the screens already.
            now_s: Seconds of a clock that only goes on.
        """
        if now_s - self._since_s >= FORGOTTEN_S:
            self._counts.clear()
            self._since_s = now_s
        key: tuple[Place, Deed] | None = (place, deed)
        if key not in self._counts and len(self._counts) >= MAX_KINDS:
            key = None
        count = self._counts[key] = self._counts.get(key, 0) + 1
        times = sum(each for of, each in self._counts.items() if of is not None and of[0] == place)
        # A tmux that was opened after the agent is adrift, too, and a console there asks for a PIN.
        at_once = standing == "below" or (standing == "adrift" and not console)
        never = standing == "locked" and console
        alarm = at_once or (times >= ALARM_AFTER and not never)
        if _is_recorded(count) or (alarm and not alarmed):
            return CountedAttempt(count, alarm)
        return None


def _is_recorded(count: int) -> bool:
    return count == ALARM_AFTER or str(count).rstrip("0") == "1"


def doing(verb: str, decision: str) -> str:
    """The deed as one that was tried."""
    words = _DECIDING.get(decision, "decide") if verb == "decide" else _DOING.get(verb)
    return f"tried to {words or f'use {verb}'}"


def who(actor: Actor) -> str:
    """The process and those that started it, in words; the system's first process is left out."""
    name = _short(actor.name, NAME_CHARS) or "a process"
    above = [_short(each.comm, NAME_CHARS) for each in actor.chain[1:] if each.pid != 1]
    names = above[:NAMES]
    if not names:
        return f"{name} (pid {actor.pid})"
    *before, last = names
    below = f"{', '.join(before)} and {last}" if before else last
    return f"{name} (pid {actor.pid}), started below {below},"


def summary_of(text: str) -> str:
    """The beginning of a call's own words, without secrets."""
    return _short(redact(text[:_READ_CHARS]), SUMMARY_CHARS)


def sentence(data: AttemptData) -> str:
    """The whole of an attempt, for a banner; empty parts are left out."""
    call = f" ({summary_of(data.summary)})" if data.summary else ""
    ending = _short(data.detail, DETAIL_CHARS) or "refused"
    times = f" (attempt {data.count:,})" if data.count > 1 else ""
    what = _short(data.what, WHAT_CHARS) or f"a process {doing(data.verb, data.decision)}"
    return f"{what}{call}: {ending}{times}"


def _short(text: str, chars: int) -> str:
    safe = safe_text(text[: 4 * chars])
    return safe if len(safe) <= chars else f"{safe[: chars - 1]}…"
