"""From a committed key to a control request, and from the core's answer to a line."""

from __future__ import annotations

from typing import Literal

from watchgate.core.text import safe_text
from watchgate.core.views import PendingView
from watchgate.link.protocol import Refusal, Request, Result
from watchgate.ui.arming import Commit, Intent
from watchgate.ui.formats import ago, machine, short_id

MORE_TIME_S = 60

Answers = tuple[tuple[str, ...], ...]
Decision = Literal["allow", "deny", "handback", "answer"]

_DECISION: dict[Intent, Decision] = {
    "allow": "allow",
    "deny": "deny",
    "reply": "deny",
    "deny_stop": "deny",
    "handback": "handback",
}
_DONE: dict[Decision, str] = {
    "allow": "allowed",
    "deny": "denied",
    "handback": "handed back",
    "answer": "answered",
}
_ENDED = {
    "denied-by-timeout": "denied by timeout",
    "denied-no-approver": "denied, nobody could be asked",
    "denied-no-journal": "denied, the journal could not be written",
    "denied-core-stopped": "denied, the core stopped",
    "denied-failure": "denied after a failure",
    "withdrawn": "withdrawn by the agent",
    "handed-back": "handed back",
    "handed-back-by-timeout": "handed back by timeout",
}
_ENDED_BY = {
    "allowed-by-operator": "allowed by ",
    "answered-by-operator": "answered by ",
    "allowed-by-grant": "allowed by ",
    "denied-by-operator": "denied by ",
    "denied-by-rule": "denied by ",
    "answered-elsewhere": "answered by ",
    "handed-back-by-operator": "handed back by ",
}


def request(
    commit: Commit,
    view: PendingView,
    number: int,
    reason: str | None = None,
    answers: Answers = (),
) -> Request:
    """The control request that carries the decision out; `reason` is what the model will read.

    `answers` are those to an agent's questions, which an allow of them sends.

    Raises `ValueError` for a commit that is about another request, or that only opens something.
    """
    if commit.request != view.id:
        raise ValueError(f"decided {commit.request}, not {view.id}")
    if commit.intent == "more_time":
        return Request(id=number, verb="extend", request=view.id, seconds=MORE_TIME_S)
    decision = _DECISION.get(commit.intent)
    if decision == "allow" and view.data.asks == "question":
        decision = "answer"
    if decision is None:
        raise ValueError(f"{commit.intent} decides nothing by itself")
    return Request(
        id=number,
        verb="decide",
        request=view.id,
        digest=view.data.digest,
        decision=decision,
        reason=reason or None,
        answers=answers,
        stop=commit.intent == "deny_stop",
        shown_ms=commit.shown_ms,
        confirmed=commit.confirmed,
    )


def ended(word: str, by: str) -> str:
    """How a request ended, for a person: `denied by operator alice on console 2`."""
    if word in _ENDED_BY:
        return _ENDED_BY[word] + safe_text(by)
    return _ENDED.get(word) or safe_text(word)


def answered(sent: Request, answer: Result | Refusal, now_us: int) -> str:
    """The core's answer to a decision, in one line for the operator."""
    name = short_id(sent.request or "")
    if isinstance(answer, Refusal):
        return f"{name}: {_refused(answer, now_us)}"
    if sent.decision is None:
        return f"{name}: {sent.seconds} s more"
    return f"{name} {_DONE[sent.decision]}"


def _refused(refusal: Refusal, now_us: int) -> str:
    if refusal.word is None:
        return safe_text(refusal.message)
    how = ended(refusal.word, refusal.by or "somebody else")
    when = f", {_ago(now_us - refusal.at)}" if refusal.at is not None else ""
    prefix = "too late: " if refusal.refused == "too_late" else "already "
    return f"{prefix}{how}{when}"


def _ago(us: int) -> str:
    took = machine(us / 1000) if 0 <= us < 60_000_000 else ago(us / 1_000_000)
    return f"{took} ago"
