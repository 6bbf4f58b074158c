"""The one dispatch loop, as a machine without I/O.

`begin` says which handlers to run; the driver runs them and brings each report back with `feed`;
`expire` is called when `next_deadline` passes. Each returns the handlers to run next. `outcome` is
there as soon as the gates are through; observers run beside them, and the dispatch is `over` when
they have ended too. Verdicts are folded in the chain's order, so the same verdicts always give the
same outcome, whoever finishes first. A rewrite in a threaded chain re-runs the gates that had
judged the input before it.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.handler_matchers import Condition
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import DispatchPolicy
from watchgate.core.dispatch.verdict_rules import (
    JudgedVerdict,
    cap_injections,
    fold_decision,
    judge_verdict,
    rewriter_of,
    rewritten_input,
    verdict_tag,
    verdict_text,
)
from watchgate.core.model.events import Event, Text, ToolCall
from watchgate.core.model.verdicts import (
    Abort,
    Failed,
    FailureCause,
    Inject,
    Modify,
    Outcome,
    Report,
    Run,
    SkipReason,
    TraceRow,
    Verdict,
)
from watchgate.core.tools.tool_input import input_hash

DETAIL_CHARS = 500
CANCELLED = "nobody waits for it any more"
_NO_ANSWER = "no answer"
_COUNTS_LATE = frozenset({"block", "abort", "failed"})


class Invoke(msgspec.Struct, frozen=True):
    """An order to run this handler on this event and report before the deadline (monotonic s)."""

    handler: Handler
    event: Event
    deadline_s: float


class ChainEntry(msgspec.Struct, frozen=True):
    """A handler in a chain.

    `fits` says that its name conditions fit, `left` are the conditions that have to be tested yet.
    """

    handler: Handler
    fits: bool
    left: tuple[Condition, ...]


class HandlerRegistry(Protocol):
    """The part of the bus that a dispatch calls back."""

    def refuses(
        self, handler: Handler, event: Event, now: Instant, *, again: bool
    ) -> tuple[SkipReason, str] | None:
        """Returns the reason to skip the handler that is next in the chain; None when it runs."""
        ...

    def note_end(self, handler_id: str, now: Instant, *, timed_out: bool) -> None:
        """Notes that a handler has answered, or has timed out."""
        ...


class _Running(msgspec.Struct, frozen=True):
    handler: Handler
    since: Instant
    deadline_s: float


class Dispatch:
    """One event on its way through its handlers.

    Args:
        policy: the preset's dispatch policy.
        seats: the chain of the event's kind, in order.
        event: the event as its agent sent it.
        now: when the dispatch begins.
        limit_s: seconds that all gates may take, besides the policy's own limit.
        registry: tells which handlers are not run, and notes which answered.
    """

    def __init__(
        self,
        policy: DispatchPolicy,
        seats: tuple[ChainEntry, ...],
        event: Event,
        now: Instant,
        limit_s: float,
        registry: HandlerRegistry,
    ) -> None:
        self.policy = policy
        self.event = event
        self.kind = event.kind
        self.began = now
        self.ends_s = now.mono_s + min(policy.total_timeout_s, limit_s)
        self.outcome: Outcome | None = None
        self._seats = seats
        self._registry = registry
        self._queue = [seat for seat in seats if seat.handler.role == "gate"]
        self._running: dict[str, _Running] = {}
        self._rows: dict[str, TraceRow] = {}
        self._opinions: dict[str, Verdict] = {}
        self._failures: dict[str, FailureCause] = {}
        self._texts: dict[str, tuple[str, ...]] = {}
        self._threaded: dict[str, object] | None = None
        self._rewriter: str | None = None
        self._stopped = False

    @property
    def running(self) -> frozenset[str]:
        """Returns the ids of the handlers whose reports are awaited."""
        return frozenset(self._running)

    @property
    def over(self) -> bool:
        """Returns whether there is an outcome and no observer is awaited any more."""
        return self.outcome is not None and not self._running

    def begin(self, now: Instant) -> list[Invoke]:
        """Starts every observer and the first gate or gates; returns the handlers to run."""
        observers = (seat for seat in self._seats if seat.handler.role != "gate")
        return [call for seat in observers for call in self._try(seat, now)] + self._go_on(now)

    def feed(self, handler_id: str, report: Report, now: Instant) -> list[Invoke]:
        """Takes a handler's report; one that is not awaited any more changes nothing."""
        running = self._running.pop(handler_id, None)
        if running is None:
            return []
        handler, verdict = running.handler, report.verdict
        # What comes too late may still deny, and never let anything through.
        if now.mono_s > running.deadline_s and verdict_tag(verdict) not in _COUNTS_LATE:
            verdict = Failed("timeout")
        timed_out = isinstance(verdict, Failed) and verdict.cause == "timeout"
        if timed_out and (
            verdict_text(verdict) == "timeout" or _NO_ANSWER in verdict_text(verdict)
        ):
            limit_s = running.deadline_s - running.since.mono_s
            verdict = Failed("timeout", f"{_NO_ANSWER} in {limit_s:.3g} s")
        # What nobody waits for may queue for long, and rests no gate.
        if self.event.lane.waits or handler.role != "gate":
            self._registry.note_end(handler_id, now, timed_out=timed_out)
        judged = judge_verdict(self.policy, handler, self.kind, verdict)
        self._rows[handler_id] = self._ran(running, verdict, judged, report.run, now)
        if handler.role == "gate" and self.outcome is None:
            self._take(handler, judged, report)
            return self._go_on(now)
        return []

    def expire(self, now: Instant) -> list[Invoke]:
        """Fails every running handler whose deadline has passed; returns those to run next."""
        late = [key for key, each in self._running.items() if each.deadline_s <= now.mono_s]
        timeout = Report(verdict=Failed("timeout"))
        return [call for key in late for call in self.feed(key, timeout, now)]

    def hurry(self, ends_s: float) -> None:
        """Brings the gates' deadlines forward to this monotonic time, for one more client."""
        self.ends_s = min(self.ends_s, ends_s)
        for key, each in self._running.items():
            if each.handler.role == "gate" and each.deadline_s > self.ends_s:
                self._running[key] = msgspec.structs.replace(each, deadline_s=self.ends_s)

    def next_deadline(self) -> float | None:
        """Returns the monotonic time of the next call to `expire`; None when nothing runs."""
        return min((each.deadline_s for each in self._running.values()), default=None)

    def cancel(self, now: Instant) -> None:
        """Ends the dispatch: the client is gone, or the core ends.

        All handlers are stopped, and a gate's outcome is a denial.
        """
        for key, each in list(self._running.items()):
            verdict = Failed("crash", CANCELLED)
            judged = JudgedVerdict(verdict, CANCELLED)
            self._rows[key] = self._ran(each, verdict, judged, Run(), now)
        self._running.clear()
        self._queue = list(self._seats)
        self._skip_rest("after-stop", CANCELLED)
        if self.outcome is None:
            self.outcome = Outcome(
                decision="deny",
                reason=CANCELLED,
                failed="crash",
                effect=self.policy.effect(self.kind),
                trace=self.trace(),
            )

    def trace(self) -> tuple[TraceRow, ...]:
        """Returns a row for each handler, in order; `running` for those that are awaited."""
        return tuple(self._row(seat.handler) for seat in self._seats)

    def _row(self, handler: Handler) -> TraceRow:
        row = self._rows.get(handler.id)
        if row is not None and handler.id not in self._running:
            return row
        running = self._running.get(handler.id)
        start_ms = _ms(running.since.mono_s - self.began.mono_s) if running is not None else None
        return TraceRow(
            handler=handler.id,
            role=handler.role,
            kind=handler.kind,
            status="running",
            start_ms=start_ms,
        )

    def _go_on(self, now: Instant) -> list[Invoke]:
        """Starts gates as long as the policy lets one more run; concludes when none is left."""
        calls: list[Invoke] = []
        while self.outcome is None:
            if self._stopped:
                self._skip_rest("after-stop", "")
            awaited = sum(each.handler.role == "gate" for each in self._running.values())
            if self._queue and awaited < self.policy.parallel:
                calls += self._try(self._queue.pop(0), now)
            elif awaited:
                break
            elif not self._queue:
                self._conclude()
        return calls

    def _try(self, seat: ChainEntry, now: Instant) -> list[Invoke]:
        """Runs a handler, or notes in its row why it is not run."""
        handler = seat.handler
        if not (seat.fits and all(condition.holds(self.event) for condition in seat.left)):
            self._rows[handler.id] = skipped_row(handler, "matcher")
            return []
        if now.mono_s >= self.ends_s:
            return self._unasked(handler, "deadline", "the chain's total time was used up")
        refused = self._registry.refuses(handler, self.event, now, again=self._has_run(handler))
        if refused is not None:
            why, detail = refused
            if why == "breaker":
                return self._unasked(handler, why, detail)
            self._rows[handler.id] = skipped_row(handler, why, detail)
            return []
        own_s = handler.timeout_s or self.policy.handler_timeout_s
        deadline_s = min(now.mono_s + own_s, self.ends_s)
        self._running[handler.id] = _Running(handler, now, deadline_s)
        return [Invoke(handler, self.event, deadline_s)]

    def _has_run(self, handler: Handler) -> bool:
        row = self._rows.get(handler.id)
        return row is not None and row.status == "ran"

    def _unasked(self, handler: Handler, why: SkipReason, detail: str) -> list[Invoke]:
        """Treats a handler that cannot be run, though it should be, as if it had failed."""
        judged = judge_verdict(self.policy, handler, self.kind, Failed("timeout", detail))
        self._rows[handler.id] = skipped_row(handler, why, detail)
        if handler.role == "gate":
            self._take(handler, judged, Report(verdict=judged.verdict))
        return []

    def _ran(
        self, running: _Running, verdict: Verdict, judged: JudgedVerdict, run: Run, now: Instant
    ) -> TraceRow:
        """Returns the row of a handler that was run.

        Args:
            running: the handler, and when it was started.
            verdict: its own verdict, or the failure in place of one.
            judged: what the policy makes of that verdict.
            run: how its process ran.
            now: when it reported.
        """
        handler, before = running.handler, self._rows.get(running.handler.id)
        own = verdict_text(verdict)[:DETAIL_CHARS]
        detail = ": ".join(part for part in (judged.ignored, own) if part)
        return TraceRow(
            handler=handler.id,
            role=handler.role,
            kind=handler.kind,
            status="ran",
            verdict=verdict_tag(verdict),
            detail=detail,
            ignored=bool(judged.ignored),
            start_ms=_ms(running.since.mono_s - self.began.mono_s),
            duration_ms=_ms(now.mono_s - running.since.mono_s),
            limit_s=round(running.deadline_s - running.since.mono_s, 3),
            times=before.times + 1 if before is not None and before.status == "ran" else 1,
            run=run,
        )

    def _take(self, handler: Handler, judged: JudgedVerdict, report: Report) -> None:
        verdict = judged.verdict
        self._stopped = self._stopped or judged.ends
        texts = (report.text,) if report.text and self.policy.injects else ()
        if judged.ignored:
            return
        if isinstance(verdict, Inject):
            texts = (verdict.text, *texts)
        else:
            self._opinions[handler.id] = verdict
        self._texts[handler.id] = texts
        if judged.failed is not None:
            self._failures[handler.id] = judged.failed
        if isinstance(verdict, Modify) and self.policy.payload_view == "threaded":
            self._rewrite(handler, verdict)

    def _rewrite(self, author: Handler, verdict: Modify) -> None:
        self._threaded = verdict.input
        self._rewriter = author.id
        self.event = with_input(self.event, verdict)
        again = [seat for seat in self._seats if self._judged_before(seat.handler, author)]
        for seat in again:
            self._opinions.pop(seat.handler.id, None)
            self._texts.pop(seat.handler.id, None)
            self._failures.pop(seat.handler.id, None)
        queued = {seat.handler.id for seat in again}
        self._queue = again + [seat for seat in self._queue if seat.handler.id not in queued]

    def _judged_before(self, handler: Handler, author: Handler) -> bool:
        row = self._rows.get(handler.id)
        if handler.role != "gate" or handler.id == author.id or row is None:
            return False
        if isinstance(self._opinions.get(handler.id), Modify):
            return False
        # What did not fit the input as it was may fit it as it is now.
        return row.status == "ran" or row.why == "matcher"

    def _skip_rest(self, why: SkipReason, detail: str) -> None:
        for seat in self._queue:
            if seat.handler.id not in self._rows:
                self._rows[seat.handler.id] = skipped_row(seat.handler, why, detail)
        self._queue.clear()

    def _conclude(self) -> None:
        order = [seat.handler.id for seat in self._seats]
        opinions = [(key, self._opinions[key]) for key in order if key in self._opinions]
        decided, author, verdict = fold_decision(self.policy, opinions)
        if self.policy.payload_view == "threaded":
            changed = self._threaded
        else:
            changed = rewritten_input(self.policy, opinions)
        texts = [text for key in order for text in self._texts.get(key, ())]
        rewriter = self._rewriter or rewriter_of(self.policy, opinions)
        self.outcome = Outcome(
            decision=decided,
            reason="" if verdict is None else verdict_text(verdict),
            decided_by=author,
            input=None if decided == "deny" else changed,
            rewritten_by=None if decided == "deny" else rewriter,
            injections=cap_injections(self.policy, texts),
            stop_turn=isinstance(verdict, Abort),
            effect=self.policy.effect(self.kind),
            failed=self._failures.get(author or ""),
            trace=self.trace(),
        )


def skipped_row(handler: Handler, why: SkipReason, detail: str = "") -> TraceRow:
    """Returns the row of a handler that was not run."""
    return TraceRow(
        handler=handler.id,
        role=handler.role,
        kind=handler.kind,
        status="skipped",
        why=why,
        detail=detail,
    )


def with_input(event: Event, verdict: Modify) -> Event:
    """Returns the event after a rewrite: another call, with another hash, or another prompt."""
    body = event.body
    if verdict.input is None:
        return event
    if isinstance(body, Text) and isinstance(text := verdict.input.get("text"), str):
        return msgspec.structs.replace(event, body=Text(text))
    if not isinstance(body, ToolCall):
        return event
    made = input_hash(verdict.input, body.tool.cls)
    tool = msgspec.structs.replace(body.tool, input=verdict.input, input_hash=made)
    return msgspec.structs.replace(event, body=ToolCall(tool))


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
