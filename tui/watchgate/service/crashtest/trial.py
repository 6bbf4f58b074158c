"""Runs of an agent with one hook each: a scripted model asks for a call, its traces are judged."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from watchgate.service.crashtest.agents.base import REASON, Agent, base_environment
from watchgate.service.crashtest.model.conversation import Shell, Turn
from watchgate.service.crashtest.model.server import Model, running_model
from watchgate.service.crashtest.odd import SCRIPT, TRACE, OddHook, filled
from watchgate.service.crashtest.outcome import Outcome, Result, Seen, judged
from watchgate.service.crashtest.place import Place
from watchgate.service.crashtest.throwaway import throwaway
from watchgate.service.runners.child import ChildEnd, run_child
from watchgate.service.runners.spawn import ChildSpec

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


def bare(agent: Agent) -> Result:
    """Runs the agent without any hook."""
    return _trial(agent, NO_HOOK, "no hook at all", None, _RUN_S)


def hooked(agent: Agent, odd: OddHook, timeout_s: int) -> Result:
    """Runs the agent with this hook; `timeout_s` is the limit of one that hangs."""
    limit_s = timeout_s if odd.hangs else _PATIENT_S

    def put(place: Place) -> bool | None:
        place.write(place.top / SCRIPT, filled(odd.script, place.top, agent.deny, REASON))
        agent.hook(place, filled(odd.command, place.top, agent.deny, REASON), limit_s)
        return odd.traced or None

    waits_s = timeout_s + _RUN_S / 2 if odd.hangs else _RUN_S
    return _trial(agent, odd.id, odd.label, put, waits_s)


def ours(agent: Agent) -> Result:
    """Runs the agent with Watchgate's own hook as it is installed, and no core to answer it."""

    def put(place: Place) -> None:
        argv = (sys.executable, "-P", "-m", "watchgate", "install", agent.name)
        environment = base_environment(place, agent.program.parent) | {
            "WATCHGATE_RUNTIME_DIR": str(place.runtime),
            "WATCHGATE_STATE_DIR": str(place.state),
            "WATCHGATE_CONFIG": str(place.config),
        }
        end = run_child(ChildSpec(argv=argv, cwd=str(place.work), env=environment), _INSTALL_S)
        if end.exit_code != 0:
            output = (end.stderr or end.stdout).decode(errors="replace").strip()
            raise NotInstalledError(f"the hook could not be installed: {output or how(end)}")

    about = "Watchgate's own hook, with no core running"
    try:
        return _trial(agent, OURS, about, put, _RUN_S)
    except NotInstalledError as fault:
        return _result(agent, OURS, about, "unknown", str(fault))


def _trial(
    agent: Agent,
    hook: str,
    about: str,
    put: Callable[[Place], bool | None] | None,
    limit_s: float,
) -> Result:
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
    outcome, why = judged(evidence, limit_s)
    # Where it happened differs each time and says nothing.
    reply_text = (evidence.reply_text or "").replace(str(place.top), "/place")[:_REPLY_CHARS]
    return _result(agent, hook, about, outcome, why.replace(str(place.top), "/place"), reply_text)


def _evidence(place: Place, model: Model, end: ChildEnd, *, traced: bool) -> Seen:
    return Seen(
        ran=(place.work / _RAN).exists(),
        hook_ran=(place.top / TRACE).exists() if traced else None,
        calls=model.calls,
        reply_text="\n".join(result.text for result in model.results) if model.results else None,
        ended="" if end.why == "timeout" else how(end),
        fault=model.faults[0] if model.faults else "",
    )


def how(end: ChildEnd) -> str:
    """Returns in words how a program ended, with the last line that it printed."""
    if end.why == "spawn":
        return f"did not start ({end.detail})"
    status = end.signal or f"status {end.exit_code}"
    lines = (end.stderr or end.stdout).decode(errors="replace").strip().splitlines()
    last_line = f": {lines[-1][:_REPLY_CHARS]}" if lines and end.exit_code != 0 else ""
    return f"ended with {status}{last_line}"


def _result(
    agent: Agent, hook: str, about: str, outcome: Outcome, why: str, reply_text: str = ""
) -> Result:
    """Builds the result of a run.

    Args:
        agent: The driver of the agent.
        hook: The hook's id.
        about: The hook in words.
        outcome: The outcome by the evidence.
        why: The missing evidence of an unknown outcome.
        reply_text: What the model was told of its call.
    """
    return Result(
        agent=agent.name,
        version=agent.version,
        hook=hook,
        about=about,
        outcome=outcome,
        why=why,
        agent_output=reply_text,
    )
