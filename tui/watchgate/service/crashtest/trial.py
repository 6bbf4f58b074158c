"""Runs of an agent with one hook each: a scripted model asks for a call, its traces are judged."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Final, Literal, NamedTuple

import msgspec

from watchgate.service.crashtest.agent_driver import REASON, AgentDriver, base_environment
from watchgate.service.crashtest.misbehaving_hooks import (
    SCRIPT_NAME,
    TRACE_NAME,
    OddHook,
    OddHooks,
    fill_in,
)
from watchgate.service.crashtest.model.conversation import Shell, Turn
from watchgate.service.crashtest.model.model_server import ScriptedModel, running_model
from watchgate.service.crashtest.throwaway import ThrowawayPlace, throwaway
from watchgate.service.runners.child import ChildEnd, run_child
from watchgate.service.runners.spawn import ChildSpec

TrialOutcome = Literal["blocked", "ran", "unknown"]

OUTCOME_WORDS: Final[dict[TrialOutcome, str]] = {
    "blocked": "blocked",
    "ran": "RAN: fails open",
    "unknown": "not known",
}


class TrialEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of one run.

    `ran` is whether the file is there that the call writes, `hook_ran` the same of the hook, None
    where a hook leaves no file. `calls` are those that the model made, `reply_text` what the agent
    said of the call to the model, None without a word; `ended` is how the agent ended, in words,
    empty while it still ran, and `fault` what kept the model from answering.
    """

    ran: bool
    hook_ran: bool | None
    calls: int
    reply_text: str | None
    ended: str
    fault: str = ""


class TrialResult(msgspec.Struct, frozen=True, kw_only=True):
    """One hook given to one version of an agent; `--json` prints it as it is.

    `why` says of an unknown outcome what is missing, `agent_output` what the model read of it.
    """

    agent: str
    version: str
    hook: str
    about: str
    outcome: TrialOutcome
    why: str = ""
    agent_output: str = msgspec.field(name="told", default="")


def judge_evidence(evidence: TrialEvidence, limit_s: float) -> tuple[TrialOutcome, str]:
    """Returns the outcome, and the missing evidence where it is unknown.

    A call is blocked only if it was made, did not run, and the agent told the model of it: an agent
    that broke down before has blocked nothing.
    """
    if evidence.fault:
        return "unknown", f"the scripted model could not answer: {evidence.fault}"
    if not evidence.calls:
        return "unknown", f"the agent never asked the model for work; it {evidence.ended or 'hung'}"
    if evidence.hook_ran is False:
        return "unknown", "the agent did not run the hook"
    if evidence.ran:
        return "ran", ""
    if evidence.reply_text is not None:
        return "blocked", ""
    if not evidence.ended:
        return "unknown", f"the call had not run, and still waited after {limit_s:g} s"
    return (
        "unknown",
        f"the call did not run, but the agent {evidence.ended} without a word about it",
    )


_RAN: Final = "ran"
"""The file that the call writes: it is there if and only if the call ran."""

NO_HOOK: Final = "none"
OURS: Final = "watchgate"
_TURN: Final = Turn("I will run a command.", (Shell(f"echo ran > {_RAN}"),))
_PATIENT_S: Final = 30
"""The limit of a hook that is not meant to reach it."""

_RUN_S: Final = 60.0
_INSTALL_S: Final = 30.0
_REPLY_CHARS: Final = 200


class NotInstalledError(Exception):
    """Watchgate's own hook could not be installed; the text says why."""


def run_bare(agent: AgentDriver) -> TrialResult:
    """Runs the agent without any hook."""
    return _trial(agent, NO_HOOK, "no hook at all", None, _RUN_S)


def run_hooked(agent: AgentDriver, odd: OddHook, timeout_s: int) -> TrialResult:
    """Runs the agent with this hook; `timeout_s` is the limit of one that hangs."""
    limit_s = timeout_s if odd.hangs else _PATIENT_S

    def put(place: ThrowawayPlace) -> bool | None:
        place.write(place.top / SCRIPT_NAME, fill_in(odd.script, place.top, agent.deny, REASON))
        agent.hook(place, fill_in(odd.command, place.top, agent.deny, REASON), limit_s)
        return odd.traced or None

    waits_s = timeout_s + _RUN_S / 2 if odd.hangs else _RUN_S
    return _trial(agent, odd.id, odd.label, put, waits_s)


def run_ours(agent: AgentDriver) -> TrialResult:
    """Runs the agent with Watchgate's own hook as it is installed, and no core to answer it."""

    def put(place: ThrowawayPlace) -> None:
        argv = (sys.executable, "-P", "-m", "watchgate", "install", agent.name)
        environment = base_environment(place, agent.program.parent) | {
            "WATCHGATE_RUNTIME_DIR": str(place.runtime),
            "WATCHGATE_STATE_DIR": str(place.state),
            "WATCHGATE_CONFIG": str(place.config),
        }
        end = run_child(ChildSpec(argv=argv, cwd=str(place.work), env=environment), _INSTALL_S)
        if end.exit_code != 0:
            output = (end.stderr or end.stdout).decode(errors="replace").strip()
            raise NotInstalledError(
                f"the hook could not be installed: {output or describe_end(end)}"
            )

    about = "Watchgate's own hook, with no core running"
    try:
        return _trial(agent, OURS, about, put, _RUN_S)
    except NotInstalledError as fault:
        return _result(agent, OURS, about, "unknown", str(fault))


def _trial(
    agent: AgentDriver,
    hook: str,
    about: str,
    put: Callable[[ThrowawayPlace], bool | None] | None,
    limit_s: float,
) -> TrialResult:
    """Runs the agent once in a throw-away place.

    Args:
        agent: The driver of the agent.
        hook: The hook's id, as the result names it.
        about: The hook in words.
        put: Installs the hook; returns whether the hook leaves a trace file. None for no hook.
        limit_s: Seconds after which the agent is ended.
    """
    with throwaway() as place, running_model() as model:
        agent.configure(place, model.url)
        traced = put(place) if put else None
        model.script = (_TURN,)
        argv = (str(agent.program), *agent.headless(place), *agent.untrusted)
        environment = agent.whole_environment(place, model.url)
        end = run_child(ChildSpec(argv=argv, cwd=str(place.work), env=environment), limit_s)
        evidence = _evidence(place, model, end, traced=bool(traced))
    outcome, why = judge_evidence(evidence, limit_s)
    # Where it happened differs each time and says nothing.
    reply_text = (evidence.reply_text or "").replace(str(place.top), "/place")[:_REPLY_CHARS]
    return _result(agent, hook, about, outcome, why.replace(str(place.top), "/place"), reply_text)


def _evidence(
    place: ThrowawayPlace, model: ScriptedModel, end: ChildEnd, *, traced: bool
) -> TrialEvidence:
    return TrialEvidence(
        ran=(place.work / _RAN).exists(),
        hook_ran=(place.top / TRACE_NAME).exists() if traced else None,
        calls=model.calls,
        reply_text="\n".join(result.text for result in model.results) if model.results else None,
        ended="" if end.why == "timeout" else describe_end(end),
        fault=model.faults[0] if model.faults else "",
    )


def describe_end(end: ChildEnd) -> str:
    """Returns in words how a program ended, with the last line that it printed."""
    if end.why == "spawn":
        return f"did not start ({end.detail})"
    status = end.signal or f"status {end.exit_code}"
    lines = (end.stderr or end.stdout).decode(errors="replace").strip().splitlines()
    last_line = f": {lines[-1][:_REPLY_CHARS]}" if lines and end.exit_code != 0 else ""
    return f"ended with {status}{last_line}"


def _result(
    agent: AgentDriver, hook: str, about: str, outcome: TrialOutcome, why: str, reply_text: str = ""
) -> TrialResult:
    """Builds the result of a run.

    Args:
        agent: The driver of the agent.
        hook: The hook's id.
        about: The hook in words.
        outcome: The outcome by the evidence.
        why: The missing evidence of an unknown outcome.
        reply_text: What the model was told of its call.
    """
    return TrialResult(
        agent=agent.name,
        version=agent.version,
        hook=hook,
        about=about,
        outcome=outcome,
        why=why,
        agent_output=reply_text,
    )


class Trial(NamedTuple):
    """A run still to be made; if its outcome is not the one it `must` have, no other run counts."""

    about: str
    run: Callable[[], TrialResult]
    must: TrialOutcome | None = None


def matching_hooks(odd: OddHooks, only: str) -> tuple[OddHook, ...]:
    """Returns the hooks whose name or description contains this text, whatever its case."""
    text = only.casefold()
    return tuple(each for each in odd.hooks if text in f"{each.id} {each.label}".casefold())


def trials(agent: AgentDriver, hooks: Iterable[OddHook], timeout_s: int) -> tuple[Trial, ...]:
    """Returns the two controls, these hooks, and Watchgate's own."""
    denies = agent.odd.denies
    return (
        Trial("no hook at all", partial(run_bare, agent), "ran"),
        Trial(denies.label, partial(run_hooked, agent, denies, timeout_s), "blocked"),
        *(Trial(each.label, partial(run_hooked, agent, each, timeout_s)) for each in hooks),
        Trial("Watchgate's own hook, with no core running", partial(run_ours, agent)),
    )


def why_undriven(result: TrialResult) -> str:
    """Returns the reason that nothing is claimed of an agent whose control came out like this."""
    who = f"{result.agent} {result.version} could not be driven here, so nothing is claimed of it"
    if result.outcome == "unknown":
        return f"{who}: {result.why}"
    if result.hook == NO_HOOK:
        reply_text = f"; it was told: {result.agent_output}" if result.agent_output else ""
        return f"{who}: without any hook its call did not run{reply_text}"
    return f"{who}: a hook that denies did not stop its call, so its hooks may not be in force"


def conclusion(agent: AgentDriver, results: Sequence[TrialResult]) -> list[str]:
    """Returns the lines that say with which hooks the agent fails open, and what follows."""
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


_OURS: dict[TrialOutcome, str] = {
    "blocked": "Watchgate's own hook, with no core to ask: the call was blocked.",
    "ran": "WATCHGATE'S OWN HOOK LET THE CALL RUN: do not rely on it here, and report it.",
    "unknown": "Watchgate's own hook: what it does here is not known.",
}
