"""One recorded call as a line of the history."""

from __future__ import annotations

import msgspec

from watchgate.core.views import AsAsked


class HistoryRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One recorded call: when it began (`at`, UTC µs), whose it is, and what became of it.

    `glyph` and `outcome` are its end in short, `by` who or what brought that about (`decider` in
    the record's own words), `word` the decision's own (empty without one) after `waited_s`.
    `state` are the words that a filter finds it by. `first` and `last` number its first and last
    record. `tool` and `summary` are empty where the journal does not keep them; `asked` is what the
    agent had asked for, where something else ran. `took_ms` is the machine's time alone.
    """

    at: int
    agent: str
    session: str
    label: str
    call: str
    tool: str
    risk: str
    glyph: str
    outcome: str
    first: int
    last: int
    by: str = ""
    summary: str = ""
    alarm: bool = False
    request: str | None = None
    word: str = ""
    rule: str = ""
    reason: str = ""
    waited_s: float = 0.0
    took_ms: int | None = None
    asked: AsAsked | None = None
    why: str = ""
    cwd: str = ""
    lane: str = ""
    decider: str = ""
    state: tuple[str, ...] = ()
