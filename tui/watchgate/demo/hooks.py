"""The demo's hooks: invented handlers that take their time and never change what is decided."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import anyio
import msgspec

from watchgate.core.events import Event
from watchgate.core.handlers import Handler
from watchgate.core.matching import CommandContains, Matcher, Tool
from watchgate.core.tool_input import command
from watchgate.core.verdicts import Defer, Failed, Report, Run
from watchgate.service.runners.callable import CallableRunner

ENV = ("HOME", "LANG", "PATH", "TERM", "TZ", "WATCHGATE_EVENT")
TESTS = "pytest"


class Played(msgspec.Struct, frozen=True):
    """The result of one run of a hook, and after how many milliseconds it comes."""

    ms: float
    report: Report


class Hook(msgspec.Struct, frozen=True):
    """One handler with what it does; `plays` depends on the event alone."""

    handler: Handler
    plays: Callable[[Event], Played]


def _quick(ms: float) -> Callable[[Event], Played]:
    return lambda _event: Played(ms, Report(verdict=Defer()))


def _format(event: Event) -> Played:
    """A formatter that is slow where there is much to format."""
    slow = TESTS in _command(event)
    output = "ruff 0.14.5: 3 files left unchanged\n" if slow else ""
    return Played(214.0 if slow else 18.0, _child(event, output))


def _guard(event: Event) -> Played:
    """An extension: its own process, asked over a pipe that others use as well."""
    run = Run(health="running", queue_ms=2.2 if TESTS in _command(event) else 0.0)
    return Played(26.1 if run.queue_ms else 3.4, Report(verdict=Defer(), run=run))


def _push(event: Event) -> Played:
    return Played(31.0, _child(event, "pushes to a branch of its own: left to the operator\n"))


def _notify(event: Event) -> Played:
    """A notifier that hangs when the tests are over."""
    late = TESTS in _command(event)
    return Played(5_000.0 if late else 12.0, _child(event, ""))


def _child(event: Event, stderr: str) -> Report:
    run = Run(exit_code=0, stdin_bytes=540 + len(_command(event)), stderr=stderr, env=ENV)
    return Report(verdict=Defer(), run=run)


def _command(event: Event) -> str:
    return (command(event.tool) or "") if event.tool is not None else ""


_PRE = frozenset({"tool.pre"})
_POST = frozenset({"tool.post", "tool.error"})
_BASH = Matcher((Tool(("Bash",)),))
_FORCED = Matcher((Tool(("Bash",)), CommandContains("push --force")))

HOOKS: Final = (
    Hook(Handler(id="redact", on=_PRE, priority=10), _quick(0.4)),
    Hook(
        Handler(
            id="./hooks/fmt.sh", on=_PRE, kind="command", priority=40, timeout_s=5, match=_BASH
        ),
        _format,
    ),
    Hook(Handler(id="acme-guard", on=_PRE, kind="extension", priority=50, timeout_s=5), _guard),
    Hook(
        Handler(
            id="no-force-push", on=_PRE, kind="command", priority=60, timeout_s=5, match=_FORCED
        ),
        _push,
    ),
    Hook(Handler(id="budget", on=_PRE, priority=70, disabled=True), _quick(1.0)),
    Hook(
        Handler(id="notify", on=_POST, role="observer", kind="command", timeout_s=0.2, match=_BASH),
        _notify,
    ),
)
HANDLERS: Final = tuple(hook.handler for hook in HOOKS)
_PLAYS: Final = {hook.handler.id: hook.plays for hook in HOOKS}


def played(handler: Handler, event: Event, limit_s: float) -> tuple[float, Report]:
    """Return the seconds a hook takes for an event, at most its limit, and its report."""
    run = _PLAYS[handler.id](event)
    if run.ms / 1000 < limit_s:
        return run.ms / 1000, run.report
    return limit_s, Report(verdict=Failed("timeout", f"no answer in {limit_s:g} s"))


def live(speed: float) -> list[tuple[Handler, CallableRunner]]:
    """The same hooks for a core that runs `speed` times as fast as the real time."""
    return [(hook.handler, CallableRunner(_acting(hook, speed))) for hook in HOOKS]


def _acting(hook: Hook, speed: float) -> Callable[[Event], Awaitable[Report]]:
    async def act(event: Event) -> Report:
        run = hook.plays(event)
        await anyio.sleep(run.ms / 1000 / speed)
        return run.report

    return act
