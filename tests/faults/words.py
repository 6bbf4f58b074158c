"""The words of the fault matrix: what an agent gets on its lane, when, and what a fault is."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from tests.faults.trial import Trial


class Gets(StrEnum):
    """What an agent gets. There is no word for an allow: no fault may end in one."""

    DENIED = "denied"
    HELD = "held for you"
    NO_OPINION = "no opinion"
    RECORDED = "goes on; recorded"
    UNREAD = "goes on; a record says that it could not be read"
    PERHAPS = "goes on; perhaps recorded"
    DROPPED = "goes on; not recorded"
    KILLED = "no answer: the agent decides"
    NOT_ASKED = "never waits"


class When(StrEnum):
    """When it gets that; every class but the first is shown by what else happened before."""

    AT_ONCE = "at once"
    DEADLINE = "at the hook's deadline"
    TIME_UP = "when the core's time is up"
    LIMIT = "at the limit that you gave it"
    DECIDED = "when you decide"
    AGENT = "when the agent ends the hook"


class Component(StrEnum):
    """What the fault is in."""

    CLIENT = "the hook"
    CORE = "the core"
    CONSOLE = "the console"
    JOURNAL = "the journal and its disk"
    HANDLER = "hooks, extensions and sinks of yours"
    PLACE = "the runtime directory"
    CLOCK = "the clock"


class Where(msgspec.Struct, frozen=True):
    """The core that a fault befalls; those with equal ones share a core as long as it lives.

    `flaw` is one of `tests.faults.flawed`, `mount` what is mounted before the core starts. One that
    is `alone` has a core and directories that no other fault gets.
    """

    config: str = ""
    flaw: str = ""
    mount: str = ""
    alone: bool = False


SHARED = Where()
Harm = Callable[["Trial"], AbstractContextManager[object]]
Strike = Callable[["Trial"], None]


def nothing(_trial: Trial) -> AbstractContextManager[object]:
    """No harm is done before anything is asked."""
    return nullcontext()


def healthy(trial: Trial) -> AbstractContextManager[object]:
    """A core runs, and no harm is done before anything is asked."""
    trial.world.start()
    return nullcontext()


def can_happen() -> str:
    """Nothing is needed for it."""
    return ""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One row: a fault, and what an agent gets on each lane.

    `because` is what the model reads with a denial. `harm` is in force while the agents ask;
    `strike` happens once all of them are held, and what is only observed comes after it.
    `when` is for what waits; what is held ends when somebody decides.
    `why_not` says why it cannot happen on this machine.
    """

    what: str
    of: Component
    gate: Gets = Gets.DENIED
    gate_read: Gets = Gets.NO_OPINION
    relay: Gets = Gets.NO_OPINION
    observe: Gets = Gets.RECORDED
    when: When = When.AT_ONCE
    observe_when: When = When.AT_ONCE
    because: str = ""
    where: Where = SHARED
    harm: Harm = nothing
    strike: Strike | None = None
    deadline_s: int = 0
    why_not: Callable[[], str] = can_happen

    @property
    def slug(self) -> str:
        """The row as one word, for names of tests and sessions."""
        return re.sub(r"\W+", "-", f"{self.of.name.lower()} {self.what}").strip("-")

    @property
    def cells(self) -> dict[str, tuple[Gets, When]]:
        """What the agent of each lane gets, and when."""
        waiting = {"gate": self.gate, "gate-read": self.gate_read, "relay": self.relay}
        cells = {
            lane: (gets, When.DECIDED if gets is Gets.HELD else self.when)
            for lane, gets in waiting.items()
        }
        return cells | {"observe": (self.observe, self.observe_when)}


def held(
    of: Component,
    what: str,
    harm: Harm = healthy,
    strike: Strike | None = None,
    *,
    where: Where = SHARED,
    why_not: Callable[[], str] = can_happen,
) -> Fault:
    """A fault that changes nothing for whoever waits."""
    return Fault(
        what=what,
        of=of,
        gate=Gets.HELD,
        gate_read=Gets.HELD,
        relay=Gets.HELD,
        where=where,
        harm=harm,
        strike=strike,
        why_not=why_not,
    )
