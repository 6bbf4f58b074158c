"""Runs of an agent with one hook each: a scripted model asks for a call, its traces are judged."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Outcome = Literal["blocked", "ran", "unknown"]

WORDS: Final[dict[Outcome, str]] = {
    "blocked": "blocked",
    "ran": "RAN: fails open",
    "unknown": "not known",
}


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence of one run.

    `ran` is whether the file is there that the call writes, `hook_ran` the same of the hook, None
    where a hook leaves no file. `calls` are those that the model made, `told` what the agent said
    of the call to the model, None without a word; `ended` is how the agent ended, in words, empty
    while it still ran, and `fault` what kept the model from answering.
    """

    ran: bool
    hook_ran: bool | None
    calls: int
    reply_text: str | None
    ended: str
    fault: str = ""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One hook given to one version of an agent; `--json` prints it as it is.

    `why` says of an unknown outcome what is missing, `told` what the model read of its call.
    """

    agent: str
    version: str
    hook: str
    about: str
    outcome: Outcome
    why: str = ""
    agent_output: str = msgspec.field(name="told", default="")


def judged(evidence: Seen, limit_s: float) -> tuple[Outcome, str]:
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
