"""What a core says when a console asks: rules for good, edited calls and history, as it makes them.

The core's own functions answer, over what the test's core recorded; nothing is made up here.
"""

from __future__ import annotations

from collections import deque
from functools import cache
from typing import Any

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.filters.filter_fields import history_test
from watchgate.core.filters.filter_parser import FilterError, parse
from watchgate.core.gate.grant_book import grant_answers
from watchgate.core.gate.grant_rules import grant_candidate
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.gate.request_builder import edit_preview, edited_request
from watchgate.core.history.call_history import fold_history
from watchgate.core.model.events import Event, Lane, ToolCall
from watchgate.core.model.records import Record, RequestData
from watchgate.core.model.requests import ApprovalRequest as Held
from watchgate.core.model.standing_grant import GrantRule
from watchgate.core.model.views import PendingView
from watchgate.link.protocol import Refusal, Request, Result
from watchgate.service.policies.policy_files import shipped

KEPT = 1_500
"""Records that the history is folded from: every look at it folds them anew."""


class RandomAnswers:
    """Answers what only asks; remembers the rules and the edits that it told of each request."""

    def __init__(self) -> None:
        self.records: deque[Record] = deque(maxlen=KEPT)
        self.rules: dict[str, tuple[GrantRule, ...]] = {}
        self.edits: dict[str, dict[str, Any]] = {}

    def answer(self, request: Request, view: PendingView | None) -> Result | Refusal:
        """The answer to `propose`, `preview` and `search`, as a core gives it."""
        try:
            if request.verb == "search":
                ok = self._search(request)
            elif view is None:
                raise Refused("unknown_id", "there is no such request")
            else:
                does = self._propose if request.verb == "propose" else self._preview
                ok = does(request, view)
        except Refused as why:
            return Refusal(id=request.id, refused=why.code, message=str(why))
        except (ValueError, FilterError) as fault:
            return Refusal(id=request.id, refused="bad_request", message=str(fault))
        return Result(id=request.id, ok=ok)

    def _propose(self, request: Request, view: PendingView) -> dict[str, Any]:
        grant = grant_candidate(_held(view), request.rules)
        self.rules[view.id] = grant.rules
        past = [each for each in self.records if each.kind == "approval.requested"]
        told = [_past(each) for each in past if _covered(grant, each)]
        rules = [{**msgspec.to_builtins(rule), "text": rule.text} for rule in grant.rules]
        return {"rules": rules, "folder": grant.folder, "answers": grant.answers, "past": told[:50],
                "past_count": len(told)}  # fmt: skip

    def _preview(self, request: Request, view: PendingView) -> dict[str, Any]:
        told = edit_preview(edited_request(_held(view), request.input or {}, _gate(), "edited"))
        self.edits[view.id] = told
        return told

    def _search(self, request: Request) -> dict[str, Any]:
        now_us = self.records[-1].at if self.records else 0
        wanted = parse(request.filter or "", now_us=now_us)
        if request.what != "calls":
            first, last = request.from_seq or 1, request.to_seq or 2**60
            return {"records": [r for r in self.records if first <= r.seq <= last][::-1]}
        newest = self.records[-1].seq if self.records else 0
        about = {"records": len(self.records), "newest": newest}
        rows, keeps = fold_history(self.records, KEPT)[::-1], history_test(wanted)
        if request.from_seq is not None:
            rows = [row for row in rows if row.last >= (request.from_seq or 0)]
            gone = [row.first for row in rows if not keeps(row)]
            kept = [row for row in rows if keeps(row)]
            return {"calls": kept, "gone": gone, "reset": False, **about}
        fitting = [row for row in rows if row.first < (request.before or 2**60) and keeps(row)]
        page = fitting[: request.limit]
        after = page[-1].first if len(fitting) > len(page) else None
        return {"calls": page, "next": after, "looked_at": len(self.records), **about}


def _held(view: PendingView) -> Held:
    """The request as the core holds it."""
    at = Instant(view.at, 0.0)
    event = Event(
        kind="tool.pre",
        native=view.data.native,
        agent=view.agent,
        session=view.session,
        lane=Lane.GATE,
        at=at,
        body=ToolCall(view.data.tool),
        cwd=view.data.cwd,
    )
    return Held(id=view.id, call=view.call, subject=event, data=view.data, opened=at,
                deadline_s=view.data.timeout_s, waiters=[])  # fmt: skip


def _covered(grant: Any, record: Record) -> bool:
    data = msgspec.convert(record.data, RequestData)
    return grant_answers(grant, record.agent or "", data.cwd, data.tool, data)


def _past(record: Record) -> dict[str, Any]:
    return {"at": record.at, "summary": record.data["summary"], "agent": record.agent,
            "session": record.session, "request": record.request}  # fmt: skip


@cache
def _gate() -> PolicyGate:
    return PolicyGate("guard", lambda _cwd: shipped(), home="/home/ana", own=())
