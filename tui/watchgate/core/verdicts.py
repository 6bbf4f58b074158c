"""What handlers say, what a dispatch concludes, and what an agent is told."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

FailureCause = Literal["spawn", "exit", "timeout", "parse", "protocol", "crash", "malformed"]


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

Decision = Literal["allow", "deny", "confirm", "none"]
SkipReason = Literal[
    "filter", "matcher", "permission", "after-stop", "breaker", "disabled", "deadline"
]


class TraceRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one registered handler did in one dispatch; skipped ones say why."""

    handler: str
    role: str
    status: Literal["ran", "skipped"]
    why: SkipReason | None = None
    verdict: str | None = None
    detail: str = ""
    ignored: bool = False
    duration_ms: float | None = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a dispatch concluded: one decision, who made it, and one trace row per handler."""

    decision: Decision
    reason: str = ""
    decided_by: str | None = None
    input: dict[str, Any] | None = None
    injections: tuple[str, ...] = ()
    stop_turn: bool = False
    trace: tuple[TraceRow, ...] = ()


class SayAllow(msgspec.Struct, frozen=True, tag="allow", omit_defaults=True):
    """Tell the agent to run the call; `input` replaces the call's own where it was edited."""

    input: dict[str, Any] | None = None


class SayDeny(msgspec.Struct, frozen=True, tag="deny", omit_defaults=True):
    """Tell the agent not to run the call, with a reason that the model reads."""

    reason: str
    stop: bool = False


class SayNothing(msgspec.Struct, frozen=True, tag="handback"):
    """No opinion: print nothing and let the agent's own rules decide."""


Reply = SayAllow | SayDeny | SayNothing
