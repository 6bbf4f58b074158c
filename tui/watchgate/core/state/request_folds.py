"""Folds of the records about one request: opened, looked up, extended, decided, not delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from watchgate.core.base import decoding
from watchgate.core.model.events import Lane
from watchgate.core.model.outcomes import ENDINGS, counter_of
from watchgate.core.model.records import EscalatedData, FactsData, Record, RequestData
from watchgate.core.model.views import AsAsked, PendingView, Settled
from watchgate.core.state.asked_call import of_request, while_held
from watchgate.core.state.call_rows import ROW_CHARS, call_key, end_by_word
from watchgate.core.state.session_views import session_key

if TYPE_CHECKING:
    from collections import deque

    from watchgate.core.state.call_rows import CallRows
    from watchgate.core.state.session_views import SessionViews

_ALLOWED: Final = {"+": "allowed_by_operator", "=": "allowed_by_grant"}
_ANSWERED: Final = {
    "allowed-by-operator": True,
    "denied-by-operator": False,
    "handed-back-by-operator": False,
}


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
    row = state.calls.get(call_key(record))
    state.calls.edit(
        call_key(record),
        glyph="?",
        stage="pending",
        request=view.id,
        risk=data.risk,
        rule=state.calls.shared(str(data.rule)),
        took_ms=None,
        ended_at=None,
        **(while_held(row, record.data, ROW_CHARS) if row is not None else {}),
    )


def facts(state: RequestState, record: Record) -> None:
    """Adds the facts that were looked up to the request."""
    view = state.pending.get(record.request or "")
    if view is not None:
        facts_data = decoding.convert(record.data, FactsData)
        state.pending[view.id] = msgspec.structs.replace(
            view, facts=facts_data.facts, cut=facts_data.cut
        )


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
        state.session_views.ask((view.agent, view.session), -1)
    word = record.data["word"]
    if view is not None and view.data.asks == "approval" and word in _ANSWERED:
        key, waited_s = (view.agent, view.session), record.data["waited_s"]
        state.session_views.answered(key, waited_s, allowed=_ANSWERED[word])
    state.count(counter_of(word, str(record.data.get("by", ""))))
    if view is not None and _asks_there(view.data, word):
        state.session_views.asks_there((view.agent, view.session), view.call)
    elif view is not None:
        state.session_views.asked_no_more((view.agent, view.session), view.call)
    row = state.calls.get(call_key(record))
    end_by_word(state.calls, record, word)
    if word == "withdrawn":
        state.session_views.edit(session_key(record), left_at=record.at)
        if view is None or view.data.lane != Lane.RELAY:
            state.calls.edit(call_key(record), gated=False)  # if it runs, it did not wait
    if view is not None:
        asked = row.asked if row is not None else of_request(view.data)
        state.settled.append(_settled(view, record, asked))


def undelivered(state: RequestState, record: Record) -> None:
    """Counts a decision that never reached the agent as what the agent was answered instead."""
    word = record.data["word"]
    row = state.calls.get(call_key(record))
    allowed = _ALLOWED.get(row.glyph) if row is not None else None
    if allowed is not None:
        state.count(allowed, -1)
        state.count(ENDINGS[word].counter)
    for place, each in enumerate(state.settled):
        if each.request == record.request:
            state.settled[place] = msgspec.structs.replace(each, word=word)
    end_by_word(state.calls, record, word)


def _asks_there(data: RequestData, word: str) -> bool:
    """Returns whether the agent asks in its own terminal once its request ended so."""
    asks = data.own_rules.handed_back == "asks" and not data.runs_unasked
    return asks and word.startswith("handed-back")


def _settled(view: PendingView, record: Record, asked: AsAsked | None) -> Settled:
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
        asked=asked,
    )
