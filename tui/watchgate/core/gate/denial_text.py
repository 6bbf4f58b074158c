"""Texts that the model reads when a call is denied: what happened, by whom, and what not to do."""

from __future__ import annotations

from watchgate.core.model.records import Word
from watchgate.core.secrets.redact import redact

_EDITED_CHARS = 2_000
_READ_CHARS = 65_536
_STOP = "Do not try another way; stop and report"
_STOP_UNLESS = "Do not try another way than that; if it does not do, stop and report"


def denial(
    word: Word,
    *,
    request: str = "",
    reason: str = "",
    waited_s: float = 0.0,
    what: str = "call",
    hook: str = "",
    safer: str = "",
) -> str:
    """Returns one line for the agent.

    Args:
        word: the word for the end of the call.
        request: the id of the request, if there was one.
        reason: the operator's, the rule's or the hook's own text.
        waited_s: seconds that the request waited.
        what: the noun for what was denied.
        hook: the id of the handler that denied, if one did.
        safer: a safer way to the same end, as the rule that denied suggests it.
    """
    tag = f" #{request[:4]}" if request else ""
    if word == "denied-by-operator":
        if reason:
            return f"An operator denied this call: {reason}"
        return f"An operator denied this call. {_STOP}{tag}, or ask what to do instead."
    if word == "denied-by-rule":
        who = f"The hook {hook}" if hook else "A rule"
        denial_text = f"{who} denied this {what}: {reason.rstrip('. ') or 'no reason given'}."
        if safer:
            return f"{denial_text} Safer: {safer.rstrip('. ')}. {_STOP_UNLESS}."
        return f"{denial_text} {_STOP}."
    if word == "denied-failure" and hook:
        cause = f"This {what} is denied because a hook could not judge it: {reason.rstrip('. ')}"
        return f"{cause}. This is not a refusal by a person. {_STOP}{tag}."
    if word == "denied-by-timeout":
        what = reason or f"Nobody answered in {waited_s:.0f} s"
        return f"{what}. This is not a refusal by a person. {_STOP}{tag}."
    if word == "denied-paused":
        # Here the reason is what the agent has to know first.
        return f"Watchgate denied this {what} without asking: {reason}. {_STOP}{tag}."
    cause = {
        "denied-no-approver": "No operator is attached to Watchgate, and it is set to deny then",
        "denied-no-journal": "Watchgate cannot write its journal, so nothing can be allowed",
        "denied-core-stopped": "Watchgate was stopped while this call waited",
        "denied-failure": f"Watchgate failed while it decided on this {what}",
    }.get(word, "Watchgate denied this call")
    detail = f" ({reason})" if reason else ""
    return f"{cause}{detail}. This is not a refusal by a person. {_STOP}{tag}."


def edit_notice(line: str) -> str:
    """Returns the model's text for a call that an operator edited before it ran.

    `line` is the call that ran; its secrets are the operator's and stay covered.
    """
    # A secret that is cut is no longer known for one.
    shown = redact(line[:_READ_CHARS])
    shown = shown if len(shown) <= _EDITED_CHARS else f"{shown[:_EDITED_CHARS]}..."
    return (
        "An operator edited this call before it ran. What you asked for did not run; the result is"
        f" that of: {shown}"
    )


def unasked_prompt_reason(handler: str | None, question: str) -> str:
    """Returns the reason told for a prompt held back since a handler wants it decided on."""
    return (
        f"Handler {handler} wants an operator to decide ({question}), and only a tool call can be"
        " put to one: the prompt was not sent. Let the handler block prompts or pass them."
    )


def rewritten_prompt_reason(handler: str | None, agent: str) -> str:
    """Returns the reason told for a prompt held back since a handler rewrote it."""
    return (
        f"Handler {handler} rewrote the prompt, and {agent} cannot be told another one: it was not"
        " sent. Send it as it should read, or let the handler block instead."
    )
