"""A core for random tests: it makes requests, settles them, and tells what every console knows."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from tests.ui.asked import CHECKS, STORE, plan, question
from tests.ui.cost_picture import spending
from tests.ui.open_requests import asked
from tests.ui.picture import NOW_US, critical_request, high_request
from tests.ui.random_answers import RandomAnswers
from tests.ui.trace_picture import AFTER, BEFORE, REFUSED
from watchgate.core.model.records import Record
from watchgate.core.model.views import PendingView
from watchgate.core.state.restore import restore
from watchgate.core.state.state import State
from watchgate.link.protocol import Refusal, Request, Result, Snapshot

SESSIONS = (("claude", "api-fix-session"), ("codex", "docs-session"), ("gemini", "ci-session"))
EVERY = ("allow", "deny", "handback", "edit", "stop")
SCOPES = ("once", "turn", "session", "15m", "always")
TEXTS = ("npm run build", "rm -rf build", "echo 漢字 🎉 e\u0301", "ls \u202eevil\u200b", "x" * 900)
WORDS = ("denied-by-operator", "allowed-by-operator", "withdrawn", "answered-elsewhere")
KINDS = ("medium", "medium", "medium", "high", "critical", "question", "plan")
ID_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"


class RandomCore:
    """What the core holds (`state`), and records of what happens to it, the newest `seq` last."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self._began = snapshot = spending()
        self.asks = RandomAnswers()
        self.seq = snapshot.seq
        self.at = NOW_US
        self.state = _restored(snapshot)
        self.made = 0

    def snapshot(self, now_us: int) -> Snapshot:
        """What a console that attaches now is told."""
        state = self.state
        return msgspec.structs.replace(
            self._began,
            seq=self.seq,
            now=now_us,
            sessions=tuple(state.sessions.values()),
            pending=tuple(state.pending.values()),
            totals=state.totals,
            settled=tuple(state.settled),
            rows=tuple(state.rows),
            usage=state.usage.snapshot(),
            traces=tuple(state.traces.ring),
        )

    def requested(self, kind: str = "") -> list[Record]:
        """An agent asks: a call that is held, and the request about it, of some kind or of any."""
        view = self._view(kind or self.rng.choice(KINDS))
        call = {
            "native": "PreToolUse", "lane": "gate", "gate": "held", "risk": view.data.risk,
            "tool": msgspec.to_builtins(view.data.tool), "summary": view.data.summary,
            "rule": view.data.rule, "reason": view.data.reason,
        }  # fmt: skip
        held = self._record("tool.pre", view, call, request=None)
        return [held, self._record("approval.requested", view, msgspec.to_builtins(view.data))]

    def settled(self, request: str, word: str) -> list[Record]:
        """Somebody, or nobody in time, answered."""
        data = {"word": word, "by": "operator ana (console 2)", "waited_s": 3.0}
        return [self._record("approval.decided", self.state.pending[request], data)]

    def extended(self, request: str) -> list[Record]:
        """Somebody took more time."""
        view = self.state.pending[request]
        deadline = (view.data.deadline_at or self.at) + 60_000_000
        return [self._record("approval.extended", view, {"deadline_at": deadline})]

    def calls(self, count: int) -> list[Record]:
        """So many calls that nobody is asked about."""
        records = []
        for _ in range(count):
            agent, session = self.rng.choice(SESSIONS)
            self.made += 1
            call = f"made-{self.made}"
            tool = msgspec.to_builtins(msgspec.structs.replace(asked().data.tool, name="Read"))
            data = {
                "native": "PreToolUse", "lane": "gate-read", "gate": "handback", "risk": "low",
                "tool": tool, "summary": self.rng.choice(TEXTS), "rule": "builtin.read",
            }  # fmt: skip
            records.append(self._about("tool.pre", agent, session, data, call=call))
        return records

    def used(self) -> list[Record]:
        """An agent tells what a session cost."""
        agent, session = self.rng.choice(SESSIONS)
        data = {
            "native": "usage", "model": self.rng.choice(("claude-sonnet-4-5", "gpt-5-codex")),
            "input": self.rng.randint(0, 9_000), "output": self.rng.randint(0, 900),
            "total_cost_usd": self.rng.choice((None, 0.5, 2.25)),
            "context_used": self.rng.randint(0, 200_000), "context_size": 200_000,
        }  # fmt: skip
        return [self._about("usage", agent, session, data)]

    def traced(self) -> list[Record]:
        """Hooks were asked about a call that is there, or about one that nobody has seen."""
        rows = self.state.rows.tail(5)
        row = self.rng.choice(rows) if rows and self.rng.random() < 0.8 else None
        agent, session = (row.agent, row.session) if row else self.rng.choice(SESSIONS)
        data = msgspec.to_builtins(self.rng.choice((BEFORE, AFTER, REFUSED)))
        call = row.call if row else f"unseen-{self.made}"
        return [self._about("hook.trace", agent, session, data, call=call)]

    def answer(self, request: Request) -> Result | Refusal:
        """What the core says to a console; a decision settles the request at once."""
        if request.verb in ("propose", "preview", "search"):
            return self.asks.answer(request, self.state.pending.get(request.request or ""))
        if request.verb != "decide":
            return Result(id=request.id)
        if request.request not in self.state.pending:
            return Refusal(
                id=request.id, refused="already_settled", message="it was settled already"
            )
        return Result(id=request.id)

    def _view(self, kind: str) -> PendingView:
        rng = self.rng
        self.made += 1
        id_ = "".join(rng.choice(ID_LETTERS) for _ in range(26))
        if kind == "medium":
            scopes = SCOPES[: rng.choice((1, 4, 5, 5))]
            command = f"npm run build {rng.choice(TEXTS)}"
            view = asked(command, scopes=scopes, offered=rng.choice((EVERY, EVERY[:4])))
        elif kind in ("question", "plan"):
            view = (plan() if kind == "plan" else question(STORE, CHECKS)).pending[0]
        else:
            view = high_request() if kind == "high" else critical_request()
        wait_s = rng.choice((5, 20, 60, 300))
        data = msgspec.structs.replace(
            view.data, deadline_at=self.at + wait_s * 1_000_000, timeout_s=float(wait_s)
        )
        return msgspec.structs.replace(
            view, id=id_, call=f"asked-{self.made}", at=self.at, data=data
        )

    def _record(
        self, kind: str, view: PendingView, data: dict[str, object], request: str | None = ""
    ) -> Record:
        id_ = view.id if request == "" else request
        return self._about(kind, view.agent, view.session, data, call=view.call, request=id_)

    def _about(
        self, kind: str, agent: str, session: str, data: dict[str, Any], **about: Any
    ) -> Record:
        record = Record(
            v=1,
            seq=self._next(),
            core="core",
            at=self.at,
            kind=kind,
            agent=agent,
            session=session,
            data=data,
            **about,
        )
        return self._fold(record)

    def _fold(self, record: Record) -> Record:
        skipped = self.state.skipped
        self.state.apply(record)
        self.asks.records.append(record)
        assert self.state.skipped == skipped, f"a record that no console can read: {record.kind}"
        return record

    def _next(self) -> int:
        self.seq += 1
        return self.seq


def _restored(snapshot: Snapshot) -> State:
    return restore(
        seq=snapshot.seq,
        core=snapshot.core,
        at=snapshot.now,
        gate=snapshot.gate,
        sessions=snapshot.sessions,
        pending=snapshot.pending,
        grants=snapshot.grants,
        totals=snapshot.totals,
        settled=snapshot.settled,
        rows=snapshot.rows,
        traces=snapshot.traces,
        usage=snapshot.usage,
    )
