"""Requests to the core that carry decisions out, and the core's answers as a line."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.core.model.outcomes import ENDINGS
from watchgate.core.model.standing_grant import GrantRule, Width
from watchgate.core.model.views import PendingView
from watchgate.link.protocol import Refusal, Request, Result, Scope
from watchgate.ui.approval.arming import Commit, Intent
from watchgate.ui.base.formats import ago, machine, short_id

MORE_TIME_S = 60

Answers = tuple[tuple[str, ...], ...]
Decision = Literal["allow", "deny", "handback", "answer"]


class DecisionTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The terms of a decision besides its key.

    `reason` is what the model will read, `answers` those to an agent's questions, `scope` how far
    an allow reaches, `width` how much it answers besides and `rules` what it adds then. An edited
    `input` comes with the `digest` of what was shown of it.
    """

    reason: str = ""
    answers: Answers = ()
    scope: Scope = "once"
    rules: tuple[GrantRule, ...] = ()
    width: Width | None = None
    input: dict[str, Any] | None = None
    digest: str = ""


PLAIN = DecisionTerms()
SCOPES: dict[Scope, str] = {
    "once": "once",
    "turn": "this turn",
    "session": "this session",
    "15m": "15 min",
    "always": "always",
}
"""The reach of an allow, in the words of the screen."""

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


def request(
    commit: Commit, view: PendingView, number: int, terms: DecisionTerms = PLAIN
) -> Request:
    """The control request that carries the decision out on these terms.

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
        digest=terms.digest or view.data.digest,
        decision=decision,
        reason=terms.reason or None,
        answers=terms.answers,
        scope=terms.scope,
        rules=terms.rules,
        width=terms.width,
        input=terms.input,
        stop=commit.intent == "deny_stop",
        shown_ms=commit.shown_ms,
        confirmed=commit.confirmed,
    )


def ended(word: str, by: str) -> str:
    """Returns the end of a request in words: `denied by operator alice on console 2`."""
    ending = ENDINGS.get(word)
    if ending is None:
        return safe_text(word)
    return ending.sentence + (safe_text(by) if ending.names_actor else "")


def answered(sent: Request, answer: Result | Refusal, now_us: int) -> str:
    """The core's answer to a decision, in one line for the operator."""
    name = short_id(sent.request or "")
    if isinstance(answer, Refusal):
        return f"{name}: {_refused(answer, now_us)}"
    if sent.decision is None:
        return f"{name}: {sent.seconds} s more"
    warning = answer.ok.get("warning")
    remark = f"; {safe_text(warning)}" if isinstance(warning, str) else ""
    return f"{name} {_DONE[sent.decision]}{_reach(sent)}{remark}"


def _reach(sent: Request) -> str:
    """Returns the words for an allow's reach beyond a plain one: edited, or with a scope."""
    if sent.input is not None:
        return " as edited"
    if sent.decision != "allow" or sent.scope == "once":
        return ""
    name = short_id(sent.request or "").removeprefix("#")
    return f", {SCOPES[sent.scope]}: watchgate grants revoke {name} ends that"


def _refused(refusal: Refusal, now_us: int) -> str:
    if refusal.word is None:
        return safe_text(refusal.message)
    outcome = ended(refusal.word, refusal.by or "somebody else")
    when = f", {_ago(now_us - refusal.at)}" if refusal.at is not None else ""
    prefix = "too late: " if refusal.refused == "too_late" else "already "
    return f"{prefix}{outcome}{when}"


def _ago(us: int) -> str:
    took = machine(us / 1000) if 0 <= us < 60_000_000 else ago(us / 1_000_000)
    return f"{took} ago"
