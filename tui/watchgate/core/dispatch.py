"""The one dispatch loop, as a machine without I/O.

`start` says which handlers to run; the driver runs them and brings each verdict back with `feed`;
`expire` is called when `next_deadline` passes. The last of these returns the `Outcome`. Handlers
run one after the other in the policy's order, so the same verdicts always give the same outcome.
A rewrite re-runs the gates that had judged the input before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core.clock import Instant
from watchgate.core.events import Event, ToolCall
from watchgate.core.handlers import Handler
from watchgate.core.presets import DispatchPolicy
from watchgate.core.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Decision,
    Defer,
    Failed,
    Inject,
    Modify,
    Outcome,
    SkipReason,
    TraceRow,
    Verdict,
)


class Invoke(msgspec.Struct, frozen=True):
    """Run this handler on this event and bring its verdict back before the deadline (mono s)."""

    handler: Handler
    event: Event
    deadline_s: float


class Bus:
    """The registered handlers, by kind; a dispatch keeps the list that it started with."""

    def __init__(self, policy: DispatchPolicy, handlers: Iterable[Handler] = ()) -> None:
        self.policy = policy
        self._by_kind: dict[str, tuple[Handler, ...]] = {}
        for handler in handlers:
            self.register(handler)

    def register(self, handler: Handler) -> None:
        """Add a handler; dispatches already under way do not see it.

        Raises `ValueError` when its id is taken: verdicts are kept by id.
        """
        if any(handler.id == known.id for chain in self._by_kind.values() for known in chain):
            raise ValueError(f"there is a handler {handler.id} already")
        for kind in handler.on:
            chain = (*self._by_kind.get(kind, ()), handler)
            if self.policy.order == "priority":
                chain = tuple(sorted(chain, key=lambda h: h.priority))
            self._by_kind[kind] = chain

    def start(self, event: Event, now: Instant) -> tuple[Dispatch | None, Invoke | Outcome]:
        """Begin a dispatch; with no handler for the kind the outcome is there at once."""
        chain = self._by_kind.get(event.kind)
        if chain is None:
            return None, _NOBODY[self.policy.no_match]
        dispatch = Dispatch(self.policy, chain, event, now)
        return dispatch, dispatch.step(now)


class Dispatch:
    """One event on its way through its handlers."""

    def __init__(
        self, policy: DispatchPolicy, chain: tuple[Handler, ...], event: Event, now: Instant
    ) -> None:
        self.policy = policy
        self.event = event
        self.ends_s = now.mono_s + policy.total_timeout_s
        self._chain = chain
        self._queue = list(chain)
        self._running: Handler | None = None
        self._started: Instant = now
        self._rows: dict[str, TraceRow] = {}
        self._opinions: dict[str, Verdict] = {}
        self._injected: dict[str, str] = {}
        self._input: dict[str, Any] | None = None
        self._stopped: SkipReason | None = None

    def step(self, now: Instant) -> Invoke | Outcome:
        """The next handler to run, or the outcome when none is left."""
        while self._queue:
            handler = self._queue.pop(0)
            why = self._skip(handler, now)
            if why is not None:
                self._rows[handler.id] = TraceRow(
                    handler=handler.id, role=handler.role, status="skipped", why=why
                )
                continue
            self._running, self._started = handler, now
            return Invoke(handler, self.event, min(now.mono_s + handler.timeout_s, self.ends_s))
        return self._outcome()

    def feed(self, handler_id: str, verdict: Verdict, now: Instant) -> Invoke | Outcome:
        """Take the running handler's verdict; one for any other handler is a driver's mistake."""
        handler = self._running
        if handler is None or handler.id != handler_id:
            raise ValueError(f"{handler_id} is not running")
        self._running = None
        effective, ignored = self._judge(handler, verdict)
        self._rows[handler.id] = TraceRow(
            handler=handler.id,
            role=handler.role,
            status="ran",
            verdict=verdict.__struct_config__.tag or "",  # type: ignore[arg-type]
            detail=_words(verdict),
            ignored=ignored,
            duration_ms=round((now.mono_s - self._started.mono_s) * 1000, 3),
        )
        if not ignored:
            self._take(handler, effective)
        return self.step(now)

    def expire(self, now: Instant) -> Invoke | Outcome | None:
        """Fail the running handler when its deadline has passed; None when it has not."""
        handler = self._running
        if handler is None or now.mono_s < self.next_deadline():
            return None
        return self.feed(
            handler.id, Failed("timeout", f"no answer in {handler.timeout_s:g} s"), now
        )

    def next_deadline(self) -> float:
        """When the running handler has to have answered, in monotonic seconds."""
        if self._running is None:
            return self.ends_s
        return min(self._started.mono_s + self._running.timeout_s, self.ends_s)

    def _skip(self, handler: Handler, now: Instant) -> SkipReason | None:
        if not handler.match.matches(self.event):
            return "matcher"
        if self._stopped is not None and handler.role == "gate":
            return self._stopped
        if now.mono_s >= self.ends_s:
            failure = Failed("timeout", "the chain's total time was used up")
            verdict, ignored = self._judge(handler, failure)
            if not ignored:
                self._take(handler, verdict)
            return "deadline"
        return None

    def _judge(self, handler: Handler, verdict: Verdict) -> tuple[Verdict, bool]:
        """What a verdict amounts to, and whether it is ignored."""
        if isinstance(verdict, Modify) and verdict.input is None:
            if self.policy.modify_without_payload == "ignore":
                return verdict, True
            verdict = Failed("malformed", "a rewrite without an input")
        if isinstance(verdict, Failed):
            if not handler.fails_closed:
                return verdict, True
            return Block(f"{handler.id} failed ({verdict.cause}): {verdict.detail}"), False
        return verdict, handler.role != "gate" and not isinstance(verdict, Inject)

    def _take(self, handler: Handler, verdict: Verdict) -> None:
        if isinstance(verdict, Inject):
            self._injected[handler.id] = verdict.text
            return
        self._opinions[handler.id] = verdict
        if isinstance(verdict, Modify):
            self._rewrite(handler, verdict)
        if verdict.__struct_config__.tag in self.policy.stop_on:
            self._stopped = "after-stop"

    def _rewrite(self, author: Handler, verdict: Modify) -> None:
        self._input = verdict.input
        body = self.event.body
        if self.policy.payload_view != "threaded" or not isinstance(body, ToolCall):
            return
        tool = msgspec.structs.replace(body.tool, input=verdict.input, input_hash="")
        self.event = msgspec.structs.replace(self.event, body=ToolCall(tool))
        again = [
            handler
            for handler in self._chain
            if handler.role == "gate"
            and handler.id != author.id
            and handler.id in self._rows
            and self._rows[handler.id].status == "ran"
            and not isinstance(self._opinions.get(handler.id), Modify)
        ]
        for handler in again:
            self._opinions.pop(handler.id, None)
            self._injected.pop(handler.id, None)
        self._queue = again + self._queue

    def _outcome(self) -> Outcome:
        said = [
            (handler.id, verdict, _DECISIONS[type(verdict)])
            for handler in self._chain
            if type(verdict := self._opinions.get(handler.id)) in _DECISIONS
        ]
        if self.policy.fold == "deny_overrides":
            said.sort(key=lambda each: _WEIGHTS[each[2]])
        author, verdict, decision = said[0] if said else (None, None, self.policy.no_match)
        return Outcome(
            decision=decision,
            reason="" if verdict is None else _words(verdict),
            decided_by=author,
            input=None if decision == "deny" else self._input,
            injections=tuple(self._cap_injected()),
            stop_turn=isinstance(verdict, Abort),
            trace=tuple(self._rows[each.id] for each in self._chain),
        )

    def _cap_injected(self) -> list[str]:
        kept, room = [], self.policy.inject_cap
        for text in self._injected.values():
            if len(text) > room:
                break
            kept.append(text)
            room -= len(text)
        return kept


_DECISIONS: dict[type[object], Decision] = {
    Block: "deny",
    Abort: "deny",
    Confirm: "confirm",
    Allow: "allow",
    Defer: "none",
}
_WEIGHTS = {"deny": 0, "confirm": 1, "allow": 2, "none": 2}
_NOBODY = {"none": Outcome(decision="none"), "allow": Outcome(decision="allow")}


def _words(verdict: Verdict) -> str:
    if isinstance(verdict, Confirm):
        return verdict.message
    if isinstance(verdict, Failed):
        return f"{verdict.cause}: {verdict.detail}"
    if isinstance(verdict, Inject):
        return verdict.text
    return verdict.reason
