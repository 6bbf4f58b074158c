"""Dispatch policies: everything in which one hook system's dispatch differs from another's."""

from __future__ import annotations

from typing import Literal

import msgspec

VerdictTag = Literal["allow", "block", "modify", "confirm", "inject", "abort", "defer", "failed"]


class DispatchPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that the one loop reads; the names and values are those of the presets' table.

    `stop_on` are the verdicts that end the chain at once. `no_match` is the decision when no gate
    had an opinion. `total_timeout_s` bounds the whole chain; an operator's wait is not part of it.
    """

    name: str
    order: Literal["registration", "priority"] = "priority"
    stop_on: frozenset[VerdictTag] = frozenset({"block", "abort"})
    fold: Literal["first_decision", "deny_overrides"] = "deny_overrides"
    payload_view: Literal["original", "threaded"] = "threaded"
    modify_without_payload: Literal["block", "ignore"] = "block"
    no_match: Literal["none", "allow"] = "none"
    inject_cap: int = 16_384
    total_timeout_s: float = 30.0


CONSOLE = DispatchPolicy(name="console")
