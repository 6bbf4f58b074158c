"""Folds of the records about one request: opened, looked up, extended, decided, not delivered."""

from __future__ import annotations

from collections import deque
from typing import Any, Final, Protocol

import msgspec

from watchgate.core.base import decoding
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.events import Lane
from watchgate.core.model.outcomes import ENDINGS, counter_of
from watchgate.core.model.records import EscalatedData, FactsData, Record, RequestData
from watchgate.core.model.views import PendingView, Settled
from watchgate.core.state.asked_call import of_request
from watchgate.core.state.call_rows import CallRows, call_key, end_by_word, hold
from watchgate.core.state.session_views import SessionViews, session_key

_ALLOWED: Final = {"+": "allowed_by_operator", "=": "allowed_by_grant"}


class RequestState(Protocol):
    """The part of a state that records about requests change."""

    calls: CallRows
    pending: dict[str, PendingView]
    session_views: SessionViews
    settled: deque[Settled]

    def count(self, name: str, by: int = 1) -> None:
        """Counts something in the totals of the day."""


def requested(state: RequestState, record: Record) -> None:
    """Opens a request, on its call and its session."""
    key = session_key(record)
    data = decoding.convert(record.data, RequestData)
    view = PendingView(
        id=record.request or "",
        at=record.at,
        agent=key[0],
        session=key[1],
        label=state.session_views.views[key].label,
        call=record.call or "",
        data=data,
    )
    state.pending[view.id] = view
    state.session_views.ask(key, 1)
    state.session_views.edit(key, pid=data.agent_pid, env=data.env)
    hold(state.calls, record, data)


def facts(state: RequestState, record: Record) -> None:
    """Adds the facts that were looked up to the request."""
    view = state.pending.get(record.request or "")
    if view is not None:
        data = decoding.convert(record.data, FactsData)
        state.pending[view.id] = msgspec.structs.replace(view, facts=data.facts, cut=data.cut)


def escalated(state: RequestState, record: Record) -> None:
    """Adds a person or place that the open request was escalated to."""
    view = state.pending.get(record.request or "")
    if view is not None:
        recipients = (*view.escalated, decoding.convert(record.data, EscalatedData))
        state.pending[view.id] = msgspec.structs.replace(view, escalated=recipients)


def extended(state: RequestState, record: Record) -> None:
    """Moves the deadline of an open request."""
    view = state.pending.get(record.request or "")
    if view is not None:
        data = msgspec.structs.replace(view.data, deadline_at=record.data["deadline_at"])
        state.pending[view.id] = msgspec.structs.replace(view, data=data)


def decided(state: RequestState, record: Record) -> None:
    """Closes a request with how it ended, and ends or frees its call."""
    view = state.pending.pop(record.request or "", None)
    if view is not None:
        _close(state.session_views, view, record.data)
    word = record.data["word"]
    state.count(counter_of(word, str(record.data.get("by", ""))))
    row = state.calls.get(call_key(record))
    end_by_word(state.calls, record, word)
    if word == "withdrawn":
        state.session_views.edit(session_key(record), left_at=record.at)
        if view is None or view.data.lane != Lane.RELAY:
            state.calls.edit(call_key(record), gated=False)  # if it runs, it did not wait
    if view is not None:
        state.settled.append(_settled(view, record, row))


def undelivered(state: RequestState, record: Record) -> None:
    """Counts a decision that never reached the agent as what the agent was answered instead."""
    word = record.data["word"]
    row = state.calls.get(call_key(record))
    if row is not None and row.glyph in _ALLOWED:
        state.count(_ALLOWED[row.glyph], -1)
        state.count(ENDINGS[word].counter)
    for place, each in enumerate(state.settled):
        if each.request == record.request:
            state.settled[place] = msgspec.structs.replace(each, word=word)
    end_by_word(state.calls, record, word)


def _close(sessions: SessionViews, view: PendingView, data: dict[str, Any]) -> None:
    """Notes a request's end in its session; a call handed back may be asked about by its agent."""
    key = (view.agent, view.session)
    sessions.ask(key, -1)
    decision = ENDINGS[data["word"]].decision
    if view.data.asks == "approval" and decision in ("allow", "deny", "handback"):
        sessions.answered(key, data["waited_s"], allowed=decision == "allow")
    asks = view.data.own_rules.handed_back == "asks" and not view.data.runs_unasked
    if asks and data["word"].startswith("handed-back"):
        sessions.asks_there(key, view.call)
    else:
        sessions.asked_no_more(key, view.call)


def _settled(view: PendingView, record: Record, row: CallRow | None) -> Settled:
    data = record.data
    return Settled(
        request=view.id,
        at=record.at,
        word=data["word"],
        by=data["by"],
        label=view.label,
        tool=view.data.tool.name,
        summary=view.data.summary,
        waited_s=data["waited_s"],
        agent=view.agent,
        session=view.session,
        call=view.call,
        risk=view.data.risk,
        scope=data.get("scope", "once"),
        reason=data.get("reason", ""),
        asked=row.asked if row is not None else of_request(view.data),
    )
