"""Reads the core's answer so that nothing but its own words can let a call run."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from watchgate.core import decoding
from watchgate.core.json_faults import JSON_FAULTS

Decision = Literal["allow", "deny", "handback"]

STOP = "This is not a refusal by a person. Do not try another way; stop and report."


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a call that was asked about.

    `handback` is no opinion: no rule and no person objects, and you go on by your own rules.
    `input` is what may run: an operator may have edited it. `reason` says why not, in words for a
    person or a model; `context` is a text for a model. `answered` is false where nobody answered
    and this side denied by itself.
    """

    decision: Decision
    input: dict[str, Any]
    reason: str = ""
    context: str = ""
    answered: bool = True

    @property
    def may_run(self) -> bool:
        """Return whether the call may run: it was allowed, or is none of the gate's."""
        return self.decision != "deny"


class Denied(Exception):
    """A call that must not run; `str()` is the reason, fit for a person or a model."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.reason)
        self.answer = answer


class _Reply(msgspec.Struct, frozen=True):
    id: str
    decision: Decision
    reason: str = ""
    input: dict[str, Any] | None = None
    context: str = ""


_decoder = decoding.decoder(_Reply)


def closed(args: dict[str, Any], why: str) -> Answer:
    """The denial that is said here, because nobody answered; `why` names cause and mend."""
    return Answer(decision="deny", input=args, reason=f"{why} {STOP}", answered=False)


def read(line: bytes, asked: str, args: dict[str, Any]) -> Answer:
    """The answer in a line of the core to what was `asked`; a denial where it is no such line."""
    try:
        reply = _decoder.decode(line)
    except JSON_FAULTS:
        return closed(args, "The core gave an answer of another form. Is it of this version?")
    if reply.id != asked:
        return closed(args, "The core answered something else. Is it of this version?")
    if reply.input is not None and reply.decision != "allow":
        return closed(args, "The core gave an answer of another form. Is it of this version?")
    return Answer(
        decision=reply.decision,
        input=args if reply.input is None else reply.input,
        reason=reply.reason,
        context=reply.context,
    )
