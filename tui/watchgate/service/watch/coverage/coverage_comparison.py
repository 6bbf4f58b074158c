"""Compares the agents that run with the sessions that the gate knows: the heart of coverage.

Theory of operation
===================

A gate knows only what hooks report, so an agent without hooks looks like no agent at all.
Coverage finds out the rest from outside, from two sources that no agent can leave out: the
process table, and the transcripts on the disk.

Rule 1: no clock and no file is read here. `compare` gets the processes, the sessions and the
time, and returns the records that follow; its caller reads the machine every ten seconds.
Transcripts are followed apart from this, and give the calls that ran and no hook reported.

Rule 2: every process of an agent is in one of these states, and each change is one record.

- Launched by another process of the same agent: it is part of that one, and ignored.
- Known: it ran a hook of a session (`_of`), or else a session of its agent in its folder had an
  event since the process began. The state of its hooks is learned for that session.
- In order: no session is known, but its hooks are installed, trusted and not switched off. Some
  agents run no hook before their first prompt.
- Young: none of these, and it runs for less than `GRACE_S`. Nothing is recorded yet.
- Ungated (`_ungated`): none of these for longer. One `policy.ungated` with the likely cause;
  the process stands for a session whose name is `PROCESS` and its pid.

An ungated process that becomes known or in order, or that ends, gives one record: that session
is gone.

Rule 3: a session that left without an event of its end is gone as soon as the process that ran
its hooks has ended. Where no process is known, it is gone once it was quiet for `GRACE_S` and
no process of its agent is left in its folder. Sessions that a proxy drives are the proxy's.

A process is named by its pid and its start, in clock ticks since boot: pids are used again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.gate.gate_coverage import CAUSE_WORDS, AgentTraits, Cause, SessionProcess
from watchgate.core.gate.record_builders import gone
from watchgate.core.model.records import Draft, UngatedData
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.sessions import SessionState
from watchgate.core.state.session_views import PROCESS
from watchgate.service.watch.coverage.processes import AgentProcess, InstalledHooks

GRACE_S = 20.0
"""An agent may take so long from its start to its first event."""

Key = tuple[str, str]
_GONE = "its process has ended, and no event told that the session has"
_NONE_LEFT = "no process of its agent is left in its folder, and no event told that it has ended"
_KNOWN_NOW = "the process is known by its session now"
_IN_ORDER_NOW = "its hooks are installed and trusted now"
MAX_SESSIONS = 500
_NO_HOOK_RAN = "no hook of it was ever heard"


class MachineClocks(msgspec.Struct, frozen=True):
    """The machine's clocks: UTC µs now, seconds since boot, and clock ticks per second."""

    wall_us: int
    up_s: float
    ticks: int = os.sysconf("SC_CLK_TCK")

    def age_s(self, process: AgentProcess) -> float:
        """Returns the seconds that a process has run."""
        return self.up_s - process.start / self.ticks

    def began_us(self, process: AgentProcess) -> int:
        """Returns the start of a process, UTC µs."""
        return self.wall_us - round(self.age_s(process) * 1_000_000)


class CoverageComparison:
    """Compares running agents with the sessions that the gate knows; holds no clock and no file.

    `learn` takes what is found out about a session, `hooks` reads the state of an agent's hooks,
    and `driven` says whether a proxy reports a session: for its agent no process in the folder
    counts. `traits` gives an agent's traits by its name.
    """

    def __init__(
        self,
        learn: Callable[[str, str, SessionProcess], None],
        hooks: Callable[[str], InstalledHooks],
        driven: Callable[[Key], bool],
        traits: Callable[[str], AgentTraits],
    ) -> None:
        self._traits = traits
        self._learn = learn
        self._hooks = hooks
        self._driven = driven
        self._ungated: dict[tuple[int, int], AgentProcess] = {}
        self._of: Recent[Key, tuple[int, int]] = Recent(MAX_SESSIONS)
        self._folder_of: Recent[Key, str] = Recent(MAX_SESSIONS)
        # What asks may also be a wrapper that ends with each call; those are no agents.
        self._running: frozenset[tuple[int, int]] = frozenset()

    def note_process(self, agent: str, session: str, process: tuple[int, int]) -> None:
        """Notes the process (pid and start) that ran a hook of this session."""
        self._of.renew((agent, session), process)

    def on_event(self, agent: str, cwd: str, at_us: int) -> list[Draft]:
        """Returns the records that follow from an event of an agent in this folder.

        An ungated process there is known by that session now. `at_us` is UTC µs.
        """
        known = [
            key for key, each in self._ungated.items() if (each.agent, each.cwd) == (agent, cwd)
        ]
        return [gone(agent, _name(self._ungated.pop(key)), _KNOWN_NOW, at_us) for key in known]

    def compare(
        self, processes: list[AgentProcess], sessions: Mapping[Key, SessionView], at: MachineClocks
    ) -> list[Draft]:
        """Returns the records that follow from the agents that run now."""
        drafts: list[Draft] = []
        running = {(each.pid, each.start): each for each in processes}
        programs = {(each.agent, each.pid) for each in processes}
        for process in processes:
            if (process.agent, process.parent) in programs:
                continue  # what its launcher has started
            drafts += self._one(process, sessions, at)
        for key, process in list(self._ungated.items()):
            if key not in running:
                del self._ungated[key]
                drafts.append(gone(process.agent, _name(process), _GONE, at.wall_us))
        for session, ran_by in list(self._of.items()):
            view = sessions.get(session)
            if view is None or view.state is SessionState.GONE:
                del self._of[session]
            elif ran_by in self._running and ran_by not in running:
                del self._of[session]
                drafts.append(gone(*session, _GONE, at.wall_us))
        self._running = frozenset(running)
        reported = {(draft.agent, draft.session) for draft in drafts}
        here = {(each.agent, each.cwd) for each in processes}
        return drafts + [
            gone(*session, _NONE_LEFT, at.wall_us)
            for session in self._left(here, sessions, at)
            if session not in reported
        ]

    def narrow(self, narrow: Iterable[tuple[AgentProcess, str]], at: MachineClocks) -> list[Draft]:
        """Returns the records of processes whose limits keep their hooks from running."""
        return [
            self._narrow(process, limits, session, at)
            for process, limits in narrow
            for session in self._sessions_of(process) or [_name(process)]
        ]

    def _sessions_of(self, process: AgentProcess) -> list[str]:
        """Returns the sessions whose hooks this process ran."""
        own = (process.pid, process.start)
        return [session for (_agent, session), by in self._of.items() if by == own]

    def _narrow(self, process: AgentProcess, limits: str, session: str, at: MachineClocks) -> Draft:
        why = f"{CAUSE_WORDS['limits']} ({limits}); start it again with larger limits"
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
        self, here: set[tuple[str, str]], sessions: Mapping[Key, SessionView], at: MachineClocks
    ) -> list[Key]:
        """Returns the quiet sessions whose folder had a process of their agent and has none now."""
        left = []
        for session, cwd in list(self._folder_of.items()):
            view = sessions.get(session)
            if view is None or view.state is SessionState.GONE:
                del self._folder_of[session]
                continue
            quiet = at.wall_us - view.seen_at > GRACE_S * 1_000_000
            if quiet and (view.agent, cwd) not in here and not self._driven(session):
                del self._folder_of[session]
                left.append(session)
        return left

    def _one(
        self, process: AgentProcess, sessions: Mapping[Key, SessionView], at: MachineClocks
    ) -> list[Draft]:
        key = (process.pid, process.start)
        mine = self._sessions_of_process(process, sessions, at)
        hooks = self._hooks(process.agent)
        if mine:
            around = self._process_hook_state(process, hooks, at)
            for session in mine:
                self._learn(*session, around)
                self._folder_of.renew(session, process.cwd)
            return self._known_after_all(process, _KNOWN_NOW, at)
        around = self._process_hook_state(process, hooks, at)
        if _in_order(self._traits(process.agent), hooks, around):
            return self._known_after_all(process, _IN_ORDER_NOW, at)
        if key in self._ungated or at.age_s(process) < GRACE_S:
            return []
        self._ungated[key] = process
        return [_not_gated(process, hooks, around, at)]

    def _known_after_all(self, process: AgentProcess, why: str, at: MachineClocks) -> list[Draft]:
        """Returns the record that takes back an earlier report of this process, if any."""
        if self._ungated.pop((process.pid, process.start), None) is None:
            return []
        return [gone(process.agent, _name(process), why, at.wall_us)]

    def _sessions_of_process(
        self, process: AgentProcess, sessions: Mapping[Key, SessionView], at: MachineClocks
    ) -> list[Key]:
        """Returns the sessions whose hooks this process ran, else those of its folder."""
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

    def _process_hook_state(
        self, process: AgentProcess, hooks: InstalledHooks, at: MachineClocks
    ) -> SessionProcess:
        before = (
            not self._traits(process.agent).live
            and hooks.changed_s is not None
            and at.began_us(process) < hooks.changed_s * 1_000_000
        )
        return hook_state(hooks, process.hooks_off, began_before=before)


def hook_state(
    hooks: InstalledHooks, hooks_off: str = "", *, began_before: bool = False
) -> SessionProcess:
    """Builds the state of an agent's hooks, for the sessions of one of its processes."""
    return SessionProcess(
        hooks_off=hooks_off or ("disableAllHooks in its settings" if hooks.disabled else ""),
        began_before=began_before,
        installed=hooks.changed_s is not None,
        trusted=hooks.trusted,
    )


def _in_order(traits: AgentTraits, hooks: InstalledHooks, around: SessionProcess) -> bool:
    """Returns whether nothing speaks against an agent's hooks before it ran any."""
    off = around.hooks_off or around.began_before or hooks.changed_s is None
    return not off and (hooks.trusted or not traits.must_trust)


def _name(process: AgentProcess) -> str:
    return f"{PROCESS}{process.pid}"


def _not_gated(
    process: AgentProcess, hooks: InstalledHooks, around: SessionProcess, at: MachineClocks
) -> Draft:
    cause: Cause = "hooks-off" if around.hooks_off else "unknown"
    why = f"{_NO_HOOK_RAN}: not trusted, or nothing was asked of it yet"
    if around.hooks_off:
        why = f"{_NO_HOOK_RAN}: {CAUSE_WORDS[cause]} ({around.hooks_off})"
    elif hooks.changed_s is None:
        why = f"{_NO_HOOK_RAN}: run watchgate install {process.agent}"
    elif around.began_before:
        cause = "began-before"
        why = f"{_NO_HOOK_RAN}: {CAUSE_WORDS[cause]}"
    what = f"{process.agent} {_name(process)} in {process.cwd}"
    data = UngatedData(what=what, cause=cause, why=why, cwd=process.cwd)
    return Draft(
        kind="policy.ungated",
        at=at.wall_us,
        data=data,
        agent=process.agent,
        session=_name(process),
    )
