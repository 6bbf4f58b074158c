"""Records as the lines that a person follows: one for each call once it is over, and its decision.

Records that only describe how the core and the hooks work have none.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from watchgate.core.filters.filter_fields import record_text
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import Record
from watchgate.core.model.views import PendingView, Settled
from watchgate.core.secrets.redact import redact
from watchgate.core.state.call_rows import call_key
from watchgate.core.state.state import State
from watchgate.core.tools.summary import in_columns

LABEL_CHARS: Final = 16
TEXT_CHARS: Final = 200
_CALL_KINDS: Final = frozenset(
    {"tool.pre", "tool.permission", "tool.post", "tool.error", "effect.refused"}
)
_OPEN: Final = ("pending", "running", "handed back")
_EVENTS: Final = {
    "session.start": "session begins",
    "session.end": "session ends",
    "prompt.submit": "is asked:",
    "notice": "says:",
    "turn.error": "turn failed",
    "turn.interrupt": "turn interrupted",
}
"""An agent's doings besides tool calls, in words."""

_OF_THE_CORE: Final = ("policy.", "grant.", "effect.", "console.")
_QUIET: Final = frozenset({
    "effect.confirmed", "effect.sent", "grant.used", "policy.checkpoint", "policy.inferred",
    "policy.budget",
})  # fmt: skip


class LiveLines:
    """Folds records into a `State`, and writes what changed for the person."""

    def __init__(self, state: State) -> None:
        self._state = state

    def line(self, record: Record) -> str:
        """The line of this record, which comes after those before it; empty where it has none."""
        state, kind = self._state, record.kind
        row = state.calls.get(call_key(record))
        pending = state.pending.get(record.request or "")
        state.apply(record)
        if kind == "approval.requested":
            asked = state.pending.get(record.request or "")
            text = _asks(asked) if asked is not None else ""
        elif kind == "approval.decided" and pending is not None and state.last is not None:
            text = _settled(state.last)
        elif kind in _CALL_KINDS:
            text = _over(row, state.calls.get(call_key(record)), record)
        else:
            text = _event(record)
        return self._placed(record, text) if text else ""

    def _placed(self, record: Record, text: str) -> str:
        at = datetime.fromtimestamp(record.at / 1_000_000, UTC).astimezone()
        view = self._state.session(record.agent, record.session)
        label = view.label if view is not None else "watchgate"
        return f"{at:%H:%M:%S}  {label[:LABEL_CHARS]:<{LABEL_CHARS}}  {redact(text)}"


def _asks(view: PendingView) -> str:
    from watchgate.ui.base.formats import person, short_id

    data = view.data
    silence = "denied" if data.silence == "deny" else "handed back"
    limit = f"; {silence} in {person(data.timeout_s)}" if data.timeout_s else ""
    what = f"? asks     {data.risk.upper()}  {_call(data.tool.name, data.summary)}"
    return f"{what}  ({data.reason}{limit}; {short_id(view.id)})"


def _settled(settled: Settled) -> str:
    from watchgate.core.model.outcomes import ENDINGS, ending_text
    from watchgate.ui.base.formats import person

    word = ending_text(settled.word, settled.by)
    reason = f": {settled.reason}" if settled.reason else ""
    what = f"{ENDINGS[settled.word].glyph} {word}  {_call(settled.tool, settled.summary)}"
    return f"{what}  (by {settled.by} after {person(settled.waited_s)}{reason})"


def _over(before: CallRow | None, row: CallRow | None, record: Record) -> str:
    """Says how an open call ended; denials that nobody was asked about are among them."""
    from watchgate.ui.base.formats import took

    if row is None or row.stage in _OPEN or (before is not None and before.stage not in _OPEN):
        return ""
    stage = f"{'#' if row.alarm else row.glyph or ' '} {row.stage}"
    risk = f"{row.risk.upper()}  " if row.risk in ("high", "critical") else ""
    time = took(row.took_ms) if record.kind in ("tool.post", "tool.error") else ""
    denied = record.data.get("gate") == "denied"
    why = record.data.get("reason") if denied else row.why if row.stage == "refused" else ""
    call = _call(row.tool, row.summary)
    return f"{stage:<10} {time:>6}  {risk}{call}{f'  ({why})' if why else ''}"


def _call(tool: str, line: str) -> str:
    """The tool and its call; the name of a tool is said once."""
    return ": ".join(in_columns(tool, line, len(tool)))


def _event(record: Record) -> str:
    kind, text = record.kind, record_text(record)
    if kind.startswith(_OF_THE_CORE):
        alarm = "# " if kind.startswith("effect.") else ""
        return f"{alarm}{text}" if text and kind not in _QUIET else ""
    name = _EVENTS.get(kind)
    if name is None or (name.endswith(":") and not text):
        return ""
    first = text.strip().partition("\n")[0][:TEXT_CHARS]
    return f"{name} {first}" if name.endswith(":") else name
