"""The state of each agent of a machine, and what is left to do, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, Literal

import msgspec

GUARD_ON: Final = "watchgate guard on"
"""The command that has the configuration, the hooks and the core hold calls alike."""

LIST_AGENTS = "watchgate install"
"""The command that lists the states of all agents, and changes nothing."""

Name = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_-]{1,64}\Z")]
"""An agent's name as a shell reads it: it becomes part of a command that a person copies."""


class AgentState(msgspec.Struct, frozen=True, kw_only=True):
    """One agent: found on this machine, installed (our hooks are in), trusted.

    `found` says that its program or its folder is there, `scopes` where hooks of ours are in
    (`user`, `project`), `up_to_date` that they are as this version and profile write them, and
    `holds` that they have a call wait for an answer: where they only watch it is false, and None
    where they tell neither. `profile` is the one in force: the running core's, else the file's.
    `trusted` is None where the agent has no step of trust, or keeps it to itself. `fault` says what
    keeps its hooks from running, and `mend` what ends that. `hookless` is an agent that needs no
    installation. `host` names its machine where several are watched.
    """

    agent: Name
    title: str
    is_present: bool = msgspec.field(name="found", default=False)
    installed: bool = False
    scopes: tuple[str, ...] = ()
    up_to_date: bool = False
    holds: bool | None = None
    profile: str = ""
    trusted: bool | None = None
    fault: str = ""
    mend: str = ""
    hookless: bool = False
    host: str = ""

    @property
    def ready(self) -> bool:
        """Tells whether its next call passes the gate, as far as can be known."""
        return self.installed and self.up_to_date and self.trusted is not False and not self.fault

    @property
    def ungated(self) -> str:
        """Returns the reason none of its calls is held, as far as known; empty where they are."""
        if self.hookless:
            return ""
        if not self.installed:
            return "no hooks"
        if self.holds is False:
            return "hooks only watch"
        if self.profile == "watch":
            return "profile watch holds no call"
        if self.fault:
            return "hooks cannot run"
        if self.holds is None:
            return "hooks are old"
        return "hooks not trusted" if self.trusted is False else ""

    @property
    def at_odds(self) -> bool:
        """Tells whether its hooks only watch where the profile holds calls, or reversed."""
        return self.holds is not None and self.holds == (self.profile == "watch")

    @property
    def wants_install(self) -> bool:
        """Tells whether installing would bring its hooks in, or up to date."""
        if self.hookless or self.fault or self.at_odds:
            return False
        return not self.up_to_date if self.installed else self.is_present

    @property
    def hooks(self) -> str:
        """Returns the state of its hooks, in a few words."""
        if not self.installed:
            return "no hooks"
        if self.fault:
            return "hooks cannot run"
        if self.holds is False:
            return "hooks only watch"
        if not self.up_to_date:
            return "hooks are old"
        return "hooks not trusted" if self.trusted is False else "hooks are in"

    @property
    def next(self) -> str:
        """Returns the next step until its calls are gated; empty for an agent that is not here."""
        if self.fault:
            return self.mend
        if self.at_odds:
            return GUARD_ON
        if self.wants_install:
            return f"watchgate install {self.agent}"
        if not self.installed:
            return ""
        if self.trusted is False:
            return f"start {self.agent} once and say yes to its hooks"
        return f"start {self.agent}: watchgate sees its next call"


WithoutCore = Literal["unknown", "denied", "watched", "unasked"]
"""The fate of acting calls while no core runs, which the installed hooks decide."""

WITHOUT_CORE: Final[dict[WithoutCore, str]] = {
    "unknown": "acting calls are denied where hooks gate",
    "denied": "acting calls are denied",
    "watched": "calls run unasked",
    "unasked": "nothing is asked",
}
"""The same in words."""


def without_core(states: Iterable[AgentState]) -> WithoutCore:
    """Returns the fate of these agents' calls while no core runs."""
    installed = [state for state in states if state.installed]
    if any(state.holds is not False for state in installed):
        return "denied"
    return "watched" if installed else "unasked"


def install_command(states: Iterable[AgentState]) -> str:
    """The one command that connects every agent of this machine that is not connected yet."""
    known = [state for state in states if not state.host]
    names = [state.agent for state in known if state.wants_install]
    if names:
        return f"watchgate install {' '.join(names)}"
    if any(state.at_odds for state in known):
        return GUARD_ON
    return LIST_AGENTS if any(state.installed for state in known) else "watchgate install claude"
