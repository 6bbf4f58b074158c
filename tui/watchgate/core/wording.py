"""What the model reads when a call is denied: what happened, who said so, and what not to do."""

from __future__ import annotations

from watchgate.core.records import Word

_STOP = "Do not try another way; stop and report"


def denial(word: Word, *, request: str = "", reason: str = "", waited_s: float = 0.0) -> str:
    """One line for the agent; `reason` is the operator's or the rule's own words."""
    tag = f" #{request[:4]}" if request else ""
    if word == "denied-by-operator":
        if reason:
            return f"An operator denied this call: {reason}"
        return f"An operator denied this call. {_STOP}{tag}, or ask what to do instead."
    if word == "denied-by-rule":
        return f"A rule denied this call: {reason or 'no reason given'}. {_STOP}."
    if word == "denied-by-timeout":
        what = reason or f"Nobody answered in {waited_s:.0f} s"
        return f"{what}. This is not a refusal by a person. {_STOP}{tag}."
    cause = {
        "denied-no-approver": "No operator is attached to Watchgate, and it is set to deny then",
        "denied-no-journal": "Watchgate cannot write its journal, so nothing can be allowed",
        "denied-core-stopped": "Watchgate was stopped while this call waited",
        "denied-failure": "Watchgate failed while it decided on this call",
    }.get(word, "Watchgate denied this call")
    detail = f" ({reason})" if reason else ""
    return f"{cause}{detail}. This is not a refusal by a person. {_STOP}{tag}."
