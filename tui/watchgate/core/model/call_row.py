"""One call as a list shows it: what was asked, what became of it, and how it was changed."""

from __future__ import annotations

from typing import Final

import msgspec

_CHANGED: Final = {"operator": "edited", "handler": "rewritten", "agent": "altered"}


class AsAsked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A call as its agent asked for it, of which another one took the place.

    `summary` and `risk` are its line and risk; `by` is who changed it: an operator, a handler, or
    the agent itself after the decision.
    """

    summary: str
    risk: str = "unknown"
    by: str = "operator"

    @property
    def verb(self) -> str:
        """The word for the call that took its place: edited, rewritten, altered."""
        return _CHANGED.get(self.by, "changed")


class CallRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One tool call as a line of the live table.

    `glyph` is the gate's decision (`?` pending, `+` allowed by an operator, `=` by rule or grant,
    `x` denied, `T` timed out, `-` withdrawn, `~` answered elsewhere, `b` handed back, empty: no
    opinion), `stage` the word for where the call stands, `at` and `ended_at` UTC µs. `hidden_by` is
    the handler that a dispatch preset lets hide the call from view, which prevents nothing, and
    `shown_by` the one that it lets show the call as `shown`, which changes nothing that ran. `sub`
    is the sub-agent that calls and `sub_type` its kind; `gated` says that a gate was asked, and
    `why` in words why a call ran without. `word` is how the gate's part ended, once it has;
    `lane` is the one it first came by, `rule` the policy's that spoke. `speaks_for` counts the
    calls of its session that ran ungated for the same cause, where this is the first of them.
    `seq` numbers the record that told of the call first: calls may come in the same microsecond.

    `summary` and `risk` are those of what ran or would run, `asked` is what the agent had asked for
    where that is something else. `took_ms` is the machine's time alone and `waited_ms` how long a
    person was waited for; `freed_at` (UTC µs) is when that was over, 0 where the agent asked
    somebody itself, so that nobody knows.
    """

    at: int
    agent: str
    session: str
    call: str
    label: str
    tool: str
    risk: str
    glyph: str
    stage: str
    summary: str
    request: str | None = None
    took_ms: int | None = None
    ended_at: int | None = None
    alarm: bool = False
    hidden_by: str = ""
    shown: str = ""
    shown_by: str = ""
    sub: str = ""
    sub_type: str = ""
    gated: bool = False
    why: str = ""
    word: str = ""
    lane: str = ""
    rule: str = ""
    speaks_for: int = 0
    seq: int = 0
    asked: AsAsked | None = None
    waited_ms: int | None = None
    freed_at: int | None = None
