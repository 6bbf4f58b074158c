"""The effect of one handler's verdict under a policy, and the decision of all verdicts together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import DispatchPolicy
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Decision,
    Defer,
    Failed,
    FailureCause,
    Inject,
    Modify,
    Verdict,
    VerdictTag,
)

POLICY: Final = "policy"
"""The name of the policy where a handler is named: no handler can have this id."""


class JudgedVerdict(msgspec.Struct, frozen=True):
    """A verdict after the policy's rules for it.

    `ignored` says why it does not count, `ends` that the chain is over, and `failed` is the cause
    when a failure became the verdict.
    """

    verdict: Verdict
    ignored: str = ""
    ends: bool = False
    failed: FailureCause | None = None


def verdict_tag(verdict: Verdict) -> VerdictTag:
    """Returns the word for a kind of verdict."""
    return _TAGS[type(verdict)]


def verdict_text(verdict: Verdict) -> str:
    """Returns a verdict's own text; for a text for the model only its length."""
    match verdict:
        case Confirm(message=text):
            return text
        case Failed(cause=cause, detail=detail):
            return f"{cause}: {detail}" if detail else cause
        case Inject(text=text):
            return f"{len(text)} characters for the model"
        case _:
            return verdict.reason


def judge_verdict(
    policy: DispatchPolicy, handler: Handler, kind: str, verdict: Verdict
) -> JudgedVerdict:
    """Applies the policy to the verdict of a handler on an event of this kind."""
    if isinstance(verdict, Modify) and verdict.input is None:
        if policy.modify_without_payload == "ignore":
            return JudgedVerdict(verdict, "a rewrite without an input")
        verdict = Failed("malformed", "a rewrite without an input")
    if handler.role != "gate":
        return JudgedVerdict(verdict, f"it is registered as {handler.role}")
    if isinstance(verdict, Failed):
        return _failure(policy, handler, verdict)
    allowed = policy.allowed.get(kind, policy.takes)
    if allowed is not None and verdict_tag(verdict) not in allowed:
        return _disallowed(policy, handler, kind, verdict)
    if isinstance(verdict, Inject) and not policy.injects:
        return JudgedVerdict(verdict, f"{policy.name} takes no text for the model")
    if isinstance(verdict, Confirm) and policy.confirm == "block":
        verdict = Block(f"requires confirmation, and nobody is asked here: {verdict.message}")
    ends = verdict_tag(verdict) in policy.stop_on or policy.select == "first_match"
    return JudgedVerdict(verdict, ends=ends)


def _failure(policy: DispatchPolicy, handler: Handler, verdict: Failed) -> JudgedVerdict:
    listed = policy.continue_on_failure is not None
    if handler.on_failure is not None:
        closed = handler.on_failure == "closed"
    elif handler.continue_on_failure is not None:
        closed = not handler.continue_on_failure
    elif listed:
        closed = not policy.continue_on_failure
    else:
        closed = policy.failure.get(verdict.cause, "closed") == "closed"
    if not closed:
        ends = policy.after_open_failure == "end"
        return JudgedVerdict(verdict, "it failed, and fails open", ends=ends)
    block = Block(f"{handler.id} failed ({verdict.cause}): {verdict.detail}")
    stops = "block" in policy.stop_on or listed or policy.select == "first_match"
    return JudgedVerdict(block, ends=stops, failed=verdict.cause)


def _disallowed(
    policy: DispatchPolicy, handler: Handler, kind: str, verdict: Verdict
) -> JudgedVerdict:
    why = f"{verdict_tag(verdict)} is not allowed at {kind}"
    if policy.on_disallowed == "ignore":
        return JudgedVerdict(verdict, why)
    return JudgedVerdict(Block(f"{handler.id}: {why}"), ends="block" in policy.stop_on)


def fold_decision(
    policy: DispatchPolicy, opinions: Sequence[tuple[str, Verdict]]
) -> tuple[Decision, str | None, Verdict | None]:
    """Folds opinions, in the chain's order, to the decision, its author and his verdict.

    Without one it is the policy's `no_match`; a rewrite alone has an author and no verdict.
    """
    decisive = [(author, verdict) for author, verdict in opinions if type(verdict) in _DECISIONS]
    if policy.fold == "deny_overrides":
        decisive.sort(key=lambda each: _WEIGHTS[_DECISIONS[type(each[1])]])
    if decisive:
        author, verdict = decisive[0]
        return _DECISIONS[type(verdict)], author, verdict
    return policy.no_match, rewriter_of(policy, opinions), None


def rewriter_of(policy: DispatchPolicy, opinions: Sequence[tuple[str, Verdict]]) -> str | None:
    """Returns the handler whose rewrite counts where several handlers got the original input."""
    authors = [author for author, verdict in opinions if isinstance(verdict, Modify)]
    return authors[0 if policy.modify == "first_wins" else -1] if authors else None


def rewritten_input(
    policy: DispatchPolicy, opinions: Sequence[tuple[str, Verdict]]
) -> dict[str, Any] | None:
    """Returns the input that counts where several handlers rewrote the original input."""
    inputs = [verdict.input for _, verdict in opinions if isinstance(verdict, Modify)]
    if not inputs:
        return None
    return inputs[0 if policy.modify == "first_wins" else -1]


def cap_injections(policy: DispatchPolicy, texts: Sequence[str]) -> tuple[str, ...]:
    """Returns the texts for the model, each and all of them within the policy's limits."""
    texts_within: list[str] = []
    room = policy.inject_cap
    for text in texts:
        cut = text[: policy.inject_each_cap]
        if len(cut) > room:
            break
        texts_within.append(cut)
        room -= len(cut)
    return tuple(texts_within)


_TAGS: Final[Mapping[type[object], VerdictTag]] = {
    Allow: "allow",
    Block: "block",
    Modify: "modify",
    Confirm: "confirm",
    Inject: "inject",
    Abort: "abort",
    Defer: "defer",
    Failed: "failed",
}
_DECISIONS: Final[Mapping[type[object], Decision]] = {
    Block: "deny",
    Abort: "deny",
    Confirm: "confirm",
    Allow: "allow",
    Defer: "none",
}
_WEIGHTS: Final[Mapping[Decision, int]] = {"deny": 0, "confirm": 1, "allow": 2, "none": 3}
