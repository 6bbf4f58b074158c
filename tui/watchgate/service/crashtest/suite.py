"""Runs of an agent with one hook each: a scripted model asks for a call, its traces are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from watchgate.service.crashtest.agents.base import Agent
from watchgate.service.crashtest.odd import OddHook, OddHooks
from watchgate.service.crashtest.outcome import Outcome, Result
from watchgate.service.crashtest.trial import NO_HOOK, OURS, bare, hooked, ours


class Trial(NamedTuple):
    """A run still to be made; if its outcome is not the one it `must` have, no other run counts."""

    about: str
    run: Callable[[], Result]
    must: Outcome | None = None


def wanted(odd: OddHooks, only: str) -> tuple[OddHook, ...]:
    """Returns the hooks whose name or description contains this text, whatever its case."""
    text = only.casefold()
    return tuple(each for each in odd.hooks if text in f"{each.id} {each.label}".casefold())


def trials(agent: Agent, hooks: Iterable[OddHook], timeout_s: int) -> tuple[Trial, ...]:
    """Returns the two controls, these hooks, and Watchgate's own."""
    denies = agent.odd.denies
    return (
        Trial("no hook at all", partial(bare, agent), "ran"),
        Trial(denies.label, partial(hooked, agent, denies, timeout_s), "blocked"),
        *(Trial(each.label, partial(hooked, agent, each, timeout_s)) for each in hooks),
        Trial("Watchgate's own hook, with no core running", partial(ours, agent)),
    )


def undriven(result: Result) -> str:
    """Returns the reason that nothing is claimed of an agent whose control came out like this."""
    who = f"{result.agent} {result.version} could not be driven here, so nothing is claimed of it"
    if result.outcome == "unknown":
        return f"{who}: {result.why}"
    if result.hook == NO_HOOK:
        reply_text = f"; it was told: {result.agent_output}" if result.agent_output else ""
        return f"{who}: without any hook its call did not run{reply_text}"
    return f"{who}: a hook that denies did not stop its call, so its hooks may not be in force"


def conclusion(agent: Agent, results: Sequence[Result]) -> list[str]:
    """Returns where the agent fails open, and what follows from that, a sentence a line."""
    outcomes = {result.hook: result.outcome for result in results}
    odd = [each for each in agent.odd.hooks if each.id in outcomes]
    ran = [each for each in odd if outcomes[each.id] == "ran"]
    unknown = sum(outcomes[each.id] == "unknown" for each in odd)
    who = f"{agent.name} {agent.version}"
    rest = f"; {unknown} not known" if unknown else ""
    lines = [f"{who} fails open with {len(ran)} of {len(odd)} hooks{rest}."]
    for watchgate, alike in groupby(ran, key=lambda each: each.watchgate):
        lines += [f"- {each.label}: {each.ran}." for each in alike]
        lines.append(f"  Watchgate's hook: {watchgate}.")
    return [*lines, _OURS[outcomes.get(OURS, "unknown")]]


_OURS: dict[Outcome, str] = {
    "blocked": "Watchgate's own hook, with no core to ask: the call was blocked.",
    "ran": "WATCHGATE'S OWN HOOK LET THE CALL RUN: do not rely on it here, and report it.",
    "unknown": "Watchgate's own hook: what it does here is not known.",
}
