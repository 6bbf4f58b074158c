"""The keys of the filter language: the field that each compares, and its possible values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, get_args

import msgspec

from watchgate.core.model.events import Kind, Lane
from watchgate.core.model.outcomes import ENDINGS
from watchgate.core.model.records import Gate

TEXT: Final = "text"
DURATIONS: Final = ("took", "waited")
RISK_RANK: Final = {"low": 0, "medium": 1, "high": 2, "critical": 3, "unknown": 2}
"""Risks in their order; one that is not known counts as high."""


class FilterKey(msgspec.Struct, frozen=True):
    """One key: the field that it looks at, an example, and its values where they are known.

    A key that is `ordered` can be compared with `>`, `>=`, `<` and `<=`; one that is `timed` takes
    a moment. The values of one that names an id may be `shortened`.
    """

    name: str
    means: str
    example: str
    values: tuple[str, ...] = ()
    ordered: bool = False
    timed: bool = False
    shortened: bool = False


KINDS: Final[tuple[str, ...]] = (
    *(kind for kind in get_args(Kind) if kind != "unknown"),
    *(f"approval.{what}" for what in ("requested", "facts", "extended", "escalated", "timeout")),
    "approval.decided",
    *(f"effect.{what}" for what in ("sent", "undelivered", "confirmed", "contradicted", "ungated")),
    "effect.refused",
    *(f"grant.{what}" for what in ("given", "kept", "used", "revoked", "expired")),
    *(f"policy.{what}" for what in ("started", "stopped", "on", "off", "changed", "reloaded")),
    *(f"policy.{what}" for what in ("broken", "fault", "journal", "ungated", "inferred", "paused")),
    *(f"policy.{what}" for what in ("checkpoint", "purged", "tampered", "intact", "budget")),
    *("policy.refused", "policy.profile"),
    "usage.counted",
    *("console.attached", "console.detached", "hook.trace", "unknown"),
)
"""Every kind of record."""

STAGES: Final[tuple[str, ...]] = (
    *("pending", "running", "done", "failed", "denied", "allowed", "timed out", "handed back"),
    *(
        "withdrawn",
        "ran ungated",
        "DENIED BUT RAN",
        "RAN ALTERED",
        "no result",
        "refused",
        "no core",
        "host lost",
    ),
)
"""The words of the table for where a call stands, and `allowed` for whatever was let through."""

OUTCOMES: Final = ("ran", "elsewhere", "by rule", "answered")
"""The words that the history adds for how a call was decided."""

WORDS: Final[tuple[str, ...]] = (*ENDINGS, *get_args(Gate))
"""The words of records."""


def plain(key: str, value: str) -> str:
    """Returns a value as it is compared: without case, and in a state with hyphens for blanks."""
    folded = value.casefold()
    return folded.replace(" ", "-") if key == "state" else folded


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    """Returns the words in their order, of those that are compared alike only the first."""
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(plain("state", word), word)
    return tuple(first.values())


STATES: Final = _distinct((*STAGES, *OUTCOMES, *WORDS))
"""Every state that there is, those of the table first."""

LANES: Final = tuple(str(lane) for lane in Lane)

KEYS: Final = {
    key.name: key
    for key in (
        FilterKey("agent", "whose call it is", "agent:codex"),
        FilterKey(
            "session", "the session, by the name on the screen or by its id", "session:api-fix"
        ),
        FilterKey("host", "the machine, where the console shows several", "host:build1"),
        FilterKey("tool", "the tool", "tool:Bash"),
        FilterKey("kind", "what kind of record it is", "kind:hook.trace", KINDS),
        FilterKey("lane", "how the agent asked", "lane:gate", LANES),
        FilterKey("risk", "the risk", "risk>=high", tuple(RISK_RANK), ordered=True),
        FilterKey("state", "where the call stands, or how it was decided", "state:denied", STATES),
        FilterKey("rule", "the rule that spoke", "rule:git.force-push"),
        FilterKey("by", "who decided: operator, a name, rule, grant, nobody", "by:operator"),
        FilterKey(
            "request", "the request, by the beginning of its id", "request:a41f", shortened=True
        ),
        FilterKey(
            "call", "the call, by the beginning of the agent's id", "call:toolu_01", shortened=True
        ),
        FilterKey("took", "how long it took the machine: ms, s, m or h", "took>5s", ordered=True),
        FilterKey(
            "waited", "how long it waited for a person: ms, s, m or h", "waited>1m", ordered=True
        ),
        FilterKey("since", "not before then", "since:7d", timed=True),
        FilterKey("until", "not after then", "until:12:04", timed=True),
    )
}
ORDERED: Final = tuple(key.name for key in KEYS.values() if key.ordered)
