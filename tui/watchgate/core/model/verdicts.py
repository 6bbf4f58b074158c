"""Verdicts of handlers, outcomes of dispatches, and answers to agents."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

FailureCause = Literal[
    "spawn", "exit", "timeout", "parse", "protocol", "crash", "malformed", "oversized", "crowded"
]
Health = Literal[
    "loaded",
    "failed_validation",
    "failed_initialize",
    "running",
    "restarting",
    "degraded",
    "failed",
]


class Allow(msgspec.Struct, frozen=True, tag="allow"):
    """The call may run."""

    reason: str = ""


class Block(msgspec.Struct, frozen=True, tag="block"):
    """The call must not run."""

    reason: str


class Modify(msgspec.Struct, frozen=True, tag="modify"):
    """The call may run with this input instead; None means that the payload was missing."""

    input: dict[str, Any] | None
    reason: str = ""


class Confirm(msgspec.Struct, frozen=True, tag="confirm"):
    """An operator has to decide."""

    message: str


class Inject(msgspec.Struct, frozen=True, tag="inject"):
    """Text for the model; says nothing about the call."""

    text: str


class Abort(msgspec.Struct, frozen=True, tag="abort"):
    """The call must not run and the turn must end."""

    reason: str


class Defer(msgspec.Struct, frozen=True, tag="defer"):
    """No opinion: the agent goes on by its own rules."""

    reason: str = ""


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The handler gave no verdict; its failure policy decides what that means."""

    cause: FailureCause
    detail: str = ""


Verdict = Allow | Block | Modify | Confirm | Inject | Abort | Defer | Failed
VerdictTag = Literal["allow", "block", "modify", "confirm", "inject", "abort", "defer", "failed"]

Decision = Literal["allow", "deny", "confirm", "none"]
SkipReason = Literal["filter", "matcher", "after-stop", "breaker", "disabled", "deadline", "once"]


class Run(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The course of a handler's run, for its trace row; nothing here decides anything.

    `queue_ms` is the time between asking for the run and its start. `stdout` and `stderr` are the
    head and tail of what a child wrote, `env` the names (never the values) of its variables.
    """

    queue_ms: float = 0.0
    health: Health | None = None
    restarts: int = 0
    exit_code: int | None = None
    signal: str = ""
    stdin_bytes: int = 0
    stdout: str = ""
    stderr: str = ""
    env: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The report of a runner: exactly one verdict, and how the run went.

    `text` is for the model beside the verdict (a context, a message).
    """

    verdict: Verdict
    run: Run = Run()
    text: str = ""


class TraceRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The part of one registered handler in one dispatch; skipped ones say why.

    `ignored` says that the verdict had no say, and `detail` then begins with the reason. `start_ms`
    counts from the dispatch's start, `times` how often it ran (a rewrite runs gates once more),
    `kind` is how it is run: callable, command, extension, policy, operator.
    """

    handler: str
    role: str
    status: Literal["ran", "skipped", "running"]
    kind: str = "callable"
    why: SkipReason | None = None
    verdict: str | None = None
    detail: str = ""
    ignored: bool = False
    start_ms: float | None = None
    duration_ms: float | None = None
    limit_s: float | None = None
    times: int = 1
    run: Run = Run()


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The conclusion of a dispatch: one decision, who made it, and one trace row per handler.

    `effect` "view" means that the decision changes only what is shown: nothing was prevented.
    `failed` names the cause when a failure made the decision.
    """

    decision: Decision
    reason: str = ""
    decided_by: str | None = None
    input: dict[str, Any] | None = None
    rewritten_by: str | None = None
    injections: tuple[str, ...] = ()
    stop_turn: bool = False
    effect: Literal["gate", "view"] = "gate"
    failed: FailureCause | None = None
    trace: tuple[TraceRow, ...] = ()


class SayAllow(msgspec.Struct, frozen=True, tag="allow", omit_defaults=True):
    """Answer that tells the agent to run the call; an edited `input` replaces the call's own.

    `context` is for the model, where it can be.
    """

    input: dict[str, Any] | None = None
    context: str = ""


class SayDeny(msgspec.Struct, frozen=True, tag="deny", omit_defaults=True):
    """Answer that tells the agent not to run the call, with a reason that the model reads."""

    reason: str
    stop: bool = False


class SayNothing(msgspec.Struct, frozen=True, tag="handback", omit_defaults=True):
    """No opinion: the agent's own rules decide; `context` is for the model, where it can be."""

    context: str = ""


class SayAnswer(msgspec.Struct, frozen=True, tag="answer"):
    """Answer that tells the agent what a person chose: labels or words for each question."""

    answers: tuple[tuple[str, ...], ...]


Reply = SayAllow | SayDeny | SayNothing | SayAnswer
