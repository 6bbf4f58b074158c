"""Which running agents are not gated, and which sessions have lost their agent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

import msgspec

from watchgate.core.coverage import WORDS, Cause, Surroundings, Traits
from watchgate.core.drafts import gone
from watchgate.core.recent import Recent
from watchgate.core.records import Draft, UngatedData
from watchgate.core.session_views import PROCESS
from watchgate.core.sessions import SessionState
from watchgate.core.views import SessionView
from watchgate.service.coverage.processes import AgentProcess, Installed

GRACE_S = 20.0
"""An agent may take so long from its start to its first event."""

Key = tuple[str, str]
_GONE = "its process has ended, and no event told that the session has"
_NONE_LEFT = "no process of its agent is left in its folder, and no event told that it has ended"
_HEARD_NOW = "the process is known by its session now"
_IN_ORDER_NOW = "its hooks are installed and trusted now"
SESSIONS_KEPT = 500
_HEARD_NOTHING = "no hook of it was ever heard"


class Machine(msgspec.Struct, frozen=True):
    """The clocks of the machine: UTC µs now, ticks per second, and since its start seconds."""

    wall_us: int
    up_s: float
    ticks: int = os.sysconf("SC_CLK_TCK")

    def age_s(self, process: AgentProcess) -> float:
        """How long a process has run."""
        return self.up_s - process.start / self.ticks

    def began_us(self, process: AgentProcess) -> int:
        """When it was started."""
        return self.wall_us - round(self.age_s(process) * 1_000_000)


class Watch:
    """Compares running agents with the sessions that were heard; holds no clock and no file.

    `learn` takes what is found out about a session, `hooks` tells how an agent's stand now, and
    `driven` whether a proxy told of a session: of its agent no process in the folder tells.
    `traits` tells of an agent by its name.
    """

    def __init__(
        self,
        learn: Callable[[str, str, Surroundings], None],
        hooks: Callable[[str], Installed],
        driven: Callable[[Key], bool],
        traits: Callable[[str], Traits],
    ) -> None:
        self._traits = traits
        self._learn = learn
        self._hooks = hooks
        self._driven = driven
        self._told: dict[tuple[int, int], AgentProcess] = {}
        self._of: Recent[Key, tuple[int, int]] = Recent(SESSIONS_KEPT)
        self._seen_with: Recent[Key, str] = Recent(SESSIONS_KEPT)
        # What asks may also be a wrapper that ends with each call; those are no agents.
        self._running: frozenset[tuple[int, int]] = frozenset()

    def asked(self, agent: str, session: str, process: tuple[int, int]) -> None:
        """A hook of a session asked, run by this process (pid and start)."""
        self._of.renew((agent, session), process)

    def heard(self, agent: str, cwd: str, at_us: int) -> list[Draft]:
        """The records that follow from an event of an agent that works in this folder.

        A process there of which nothing was known is known by that session now.
        """
        known = [key for key, each in self._told.items() if (each.agent, each.cwd) == (agent, cwd)]
        return [gone(agent, _name(self._told.pop(key)), _HEARD_NOW, at_us) for key in known]

    def compare(
        self, found: list[AgentProcess], sessions: Mapping[Key, SessionView], at: Machine
    ) -> list[Draft]:
        """The records that follow from the agents that run now."""
        drafts: list[Draft] = []
        running = {(each.pid, each.start): each for each in found}
        programs = {(each.agent, each.pid) for each in found}
        for process in found:
            if (process.agent, process.parent) in programs:
                continue  # what its launcher has started
            drafts += self._one(process, sessions, at)
        for key, process in list(self._told.items()):
            if key not in running:
                del self._told[key]
                drafts.append(gone(process.agent, _name(process), _GONE, at.wall_us))
        for session, ran_by in list(self._of.items()):
            view = sessions.get(session)
            if view is None or view.state is SessionState.GONE:
                del self._of[session]
            elif ran_by in self._running and ran_by not in running:
                del self._of[session]
                drafts.append(gone(*session, _GONE, at.wall_us))
        self._running = frozenset(running)
        told = {(draft.agent, draft.session) for draft in drafts}
        here = {(each.agent, each.cwd) for each in found}
        return drafts + [
            gone(*session, _NONE_LEFT, at.wall_us)
            for session in self._left(here, sessions, at)
            if session not in told
        ]

    def narrow(self, found: Iterable[tuple[AgentProcess, str]], at: Machine) -> list[Draft]:
        """The records of processes whose limits keep their hooks from running."""
        return [
            self._narrow(process, limits, session, at)
            for process, limits in found
            for session in self._sessions_of(process) or [_name(process)]
        ]

    def _sessions_of(self, process: AgentProcess) -> list[str]:
        """The sessions whose hooks this process ran."""
        own = (process.pid, process.start)
        return [session for (_agent, session), by in self._of.items() if by == own]

    def _narrow(self, process: AgentProcess, limits: str, session: str, at: Machine) -> Draft:
        why = f"{WORDS['limits']} ({limits}); start it again with larger limits"
        what = f"{process.agent} {_name(process)} in {process.cwd}"
        data = UngatedData(what=what, cause="limits", why=why, cwd=process.cwd)
        return Draft(
            kind="policy.ungated",
            at=at.wall_us,
            data=data,
            agent=process.agent,
            session=session,
        )

    def _left(
        self, here: set[tuple[str, str]], sessions: Mapping[Key, SessionView], at: Machine
    ) -> list[Key]:
        """The quiet sessions that were seen with a process of their agent and have none now."""
        left = []
        for session, cwd in list(self._seen_with.items()):
            view = sessions.get(session)
            if view is None or view.state is SessionState.GONE:
                del self._seen_with[session]
                continue
            quiet = at.wall_us - view.seen_at > GRACE_S * 1_000_000
            if quiet and (view.agent, cwd) not in here and not self._driven(session):
                del self._seen_with[session]
                left.append(session)
        return left

    def _one(
        self, process: AgentProcess, sessions: Mapping[Key, SessionView], at: Machine
    ) -> list[Draft]:
        key = (process.pid, process.start)
        mine = self._heard(process, sessions, at)
        hooks = self._hooks(process.agent)
        if mine:
            around = self._around(process, hooks, at)
            for session in mine:
                self._learn(*session, around)
                self._seen_with.renew(session, process.cwd)
            return self._known_after_all(process, _HEARD_NOW, at)
        around = self._around(process, hooks, at)
        if _in_order(self._traits(process.agent), hooks, around):
            return self._known_after_all(process, _IN_ORDER_NOW, at)
        if key in self._told or at.age_s(process) < GRACE_S:
            return []
        self._told[key] = process
        return [_not_gated(process, hooks, around, at)]

    def _known_after_all(self, process: AgentProcess, why: str, at: Machine) -> list[Draft]:
        """Take back what was told of a process of which nothing was known."""
        if self._told.pop((process.pid, process.start), None) is None:
            return []
        return [gone(process.agent, _name(process), why, at.wall_us)]

    def _heard(
        self, process: AgentProcess, sessions: Mapping[Key, SessionView], at: Machine
    ) -> list[Key]:
        """The sessions of this process: those whose hooks it ran, else those of its folder."""
        own = [key for key, by in self._of.items() if by == (process.pid, process.start)]
        if own:
            return own
        since = at.began_us(process)
        return [
            key
            for key, view in sessions.items()
            if view.agent == process.agent
            and view.cwd == process.cwd
            and view.seen_at >= since
            and not view.session.startswith(PROCESS)
        ]

    def _around(self, process: AgentProcess, hooks: Installed, at: Machine) -> Surroundings:
        before = (
            not self._traits(process.agent).live
            and hooks.changed_s is not None
            and at.began_us(process) < hooks.changed_s * 1_000_000
        )
        return surroundings(hooks, process.hooks_off, began_before=before)


def surroundings(
    hooks: Installed, hooks_off: str = "", *, began_before: bool = False
) -> Surroundings:
    """The state of an agent's hooks, for the sessions of one process of it."""
    return Surroundings(
        hooks_off=hooks_off or ("disableAllHooks in its settings" if hooks.disabled else ""),
        began_before=began_before,
        installed=hooks.changed_s is not None,
        trusted=hooks.trusted,
    )


def _in_order(traits: Traits, hooks: Installed, around: Surroundings) -> bool:
    """Whether nothing speaks against its hooks: some agents run none before their first prompt."""
    off = around.hooks_off or around.began_before or hooks.changed_s is None
    return not off and (hooks.trusted or not traits.must_trust)


def _name(process: AgentProcess) -> str:
    return f"{PROCESS}{process.pid}"


def _not_gated(process: AgentProcess, hooks: Installed, around: Surroundings, at: Machine) -> Draft:
    cause: Cause = "hooks-off" if around.hooks_off else "unknown"
    why = f"{_HEARD_NOTHING}: not trusted, or nothing was asked of it yet"
    if around.hooks_off:
        why = f"{_HEARD_NOTHING}: {WORDS[cause]} ({around.hooks_off})"
    elif hooks.changed_s is None:
        why = f"{_HEARD_NOTHING}: run watchgate install {process.agent}"
    elif around.began_before:
        cause = "began-before"
        why = f"{_HEARD_NOTHING}: {WORDS[cause]}"
    what = f"{process.agent} {_name(process)} in {process.cwd}"
    data = UngatedData(what=what, cause=cause, why=why, cwd=process.cwd)
    return Draft(
        kind="policy.ungated",
        at=at.wall_us,
        data=data,
        agent=process.agent,
        session=_name(process),
    )
