"""Copilot CLI's event logs: what a session's models used, live and once a run of it has ended.

Wire format: `session-state/<session>/events.jsonl` of Copilot CLI 1.0. While a run goes on only the
output of each answer is told. Its `session.shutdown` tells everything by model, for that run alone,
and takes the place of the answers before it. Its costs are premium requests and AI credits, not
money.

A run of a session has answers while it goes on, and totals at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from watchgate.agents.usage import FileFacts
from watchgate.agents.usage.reader_base import (
    CallBuffer,
    Count,
    Unusable,
    key_of,
    moment_us,
    parts_of,
    picked,
    text_of,
    unique,
)
from watchgate.core.base import decoding
from watchgate.core.usage.ledger import RecordKey
from watchgate.core.usage.usage_calls import UsageCall

MAX_REQUESTS: Final = 4_096
"""Into so many calls at most the totals of one model are spread."""


class _Requests(msgspec.Struct, gc=False):
    count: Count | None = None


class _ModelTokens(msgspec.Struct, gc=False):
    """Counts: `input` includes cache reads and writes, `output` the reasoning."""

    input: Count | None = msgspec.field(default=None, name="inputTokens")
    output: Count | None = msgspec.field(default=None, name="outputTokens")
    cache_read: Count | None = msgspec.field(default=None, name="cacheReadTokens")
    cache_write: Count | None = msgspec.field(default=None, name="cacheWriteTokens")
    reasoning: Count | None = msgspec.field(default=None, name="reasoningTokens")


class ModelTotals(msgspec.Struct):
    """The use of one model in a run, and its number of requests."""

    usage: _ModelTokens | None = None
    requests: _Requests | None = None

    @property
    def tokens(self) -> tuple[int, ...]:
        """Uncached input, answers, cache reads and writes, reasoning; empty where all is 0."""
        usage = self.usage or _ModelTokens()
        read, write, output = usage.cache_read or 0, usage.cache_write or 0, usage.output or 0
        fresh = usage.input or 0
        # A figure below its own parts excludes them.
        fresh -= read + write if fresh >= read + write else 0
        reasoning = min(usage.reasoning or 0, output)
        counts = (fresh, output - reasoning, read, write, reasoning)
        return counts if any(counts) else ()

    @property
    def parts(self) -> int:
        """The requests that there were, as far as they are told."""
        return min(max(1, (self.requests.count if self.requests else None) or 1), MAX_REQUESTS)


class CopilotRun:
    """The answers of a run that goes on."""

    def __init__(self) -> None:
        self._calls: dict[RecordKey, UsageCall] = {}

    def add(self, call: UsageCall) -> UsageCall:
        """Keeps an answer, in place of the one with the same key."""
        self._calls[key_of(call)] = call
        return call

    def calls(self) -> list[UsageCall]:
        """Returns the answers, the oldest first."""
        return list(self._calls.values())

    def without_model(self) -> list[UsageCall]:
        """Returns the answers of which no model was named so far."""
        return [call for call in self._calls.values() if not call.model]


def spread(
    used: dict[str, ModelTotals], run: CopilotRun, named: str, at_us: int, session: str
) -> Iterator[UsageCall]:
    """Yields a run's totals as the calls that they are of: evenly, and at the times of its answers.

    A price goes by the size of one request and a day by its time, so that the totals as one call
    would be priced too high and on the day of the end. The sums stay exactly what was reported.

    Args:
        used: the totals by model.
        run: the answers of the run.
        named: the name of the run, with which its calls' ids begin.
        at_us: the end of the run (UTC µs), for one without answers.
        session: the session that the run is of.
    """
    times = [call.at_us for call in run.calls()] or [at_us]
    for model, each in used.items():
        parts = each.parts
        for place in range(parts):
            share = [total * (place + 1) // parts - total * place // parts for total in each.tokens]
            call_id = f"{named} {model} {place}"
            call = UsageCall(
                id=call_id,
                at_us=times[place * len(times) // parts],
                session=session,
                model=model,
                input=share[0],
                output=share[1] + share[4],
                cache_read=share[2],
                cache_5m=share[3],
                reasoning=share[4],
                request=call_id,
            )
            if call.tokens:
                yield call


MESSAGE: Final = "assistant.message"
SHUTDOWN: Final = "session.shutdown"


class _ToolRequest(msgspec.Struct, gc=False):
    id: str | None = msgspec.field(default=None, name="toolCallId")


class _Context(msgspec.Struct, gc=False):
    cwd: str | None = None


class _Data(msgspec.Struct):
    session: str | None = msgspec.field(default=None, name="sessionId")
    context: _Context | None = None
    selected: str | None = msgspec.field(default=None, name="selectedModel")
    newer: str | None = msgspec.field(default=None, name="newModel")
    model: str | None = None
    message: str | None = msgspec.field(default=None, name="messageId")
    output: Count | None = msgspec.field(default=None, name="outputTokens")
    tools: list[_ToolRequest] | None = msgspec.field(default=None, name="toolRequests")
    interaction: str | None = msgspec.field(default=None, name="interactionId")
    above: str | None = msgspec.field(default=None, name="parentToolCallId")
    tokens: Count | None = msgspec.field(default=None, name="currentTokens")
    metrics: dict[str, ModelTotals] | None = msgspec.field(default=None, name="modelMetrics")


class _Event(msgspec.Struct):
    type: str | None = None
    id: str | None = None
    timestamp: str | None = None
    data: _Data | None = None


_EVENTS = decoding.decoder(_Event)
_NEEDED = ("messageId", "outputTokens", "model", "interactionId", "parentToolCallId")


class CopilotReader(CallBuffer):
    """Reads the events of one session."""

    def __init__(self, path: str) -> None:
        *folders, stem = parts_of(path)
        session = folders[-1] if stem == "events" and folders else stem
        super().__init__(FileFacts(session=session))
        self._run = CopilotRun()
        self._model = ""
        self._at_us = 0

    def read(self, chunk: bytes) -> None:
        """Takes some whole lines in."""
        for event in self.typed(_EVENTS, chunk, self._loose):
            if event.data is not None:
                self._at_us = moment_us(event.timestamp or "") or self._at_us
                self._event(event, event.data)

    def _event(self, event: _Event, data: _Data) -> None:
        match event.type:
            case "session.start" | "session.resume":
                self.facts.session = data.session or self.facts.session
                self.facts.cwd = (data.context.cwd if data.context else None) or self.facts.cwd
                self._model = data.selected or self._model
            case "session.model_change":
                self._model = data.newer or self._model
            case "tool.execution_complete":
                self._ran_with(data.model if not data.above else None)
            case "assistant.message":
                self._message(event, data)
            case "session.shutdown":
                self._shutdown(event, data)
            case _:
                return

    def _ran_with(self, model: str | None) -> None:
        """Notes the model that asked for a call of a tool, which an answer need not name."""
        if not model:
            return
        self._model = model
        for call in self._run.without_model():
            self.tell(self._run.add(msgspec.structs.replace(call, model=model)))

    def _message(self, event: _Event, data: _Data) -> None:
        if data.output is None:
            return
        named = data.message or event.id
        if not named:
            self.unreadable += 1
        elif data.output:
            call = UsageCall(
                id=named,
                at_us=self._at_us,
                session=self.facts.session,
                model=data.model or self._model,
                output=data.output,
                request=unique(named),
                side=bool(data.above),
                sub=data.above or "",
                is_lower_bound=True,
                turn=data.interaction or "",
                tools=tuple(each.id for each in data.tools or () if each.id),
            )
            self.tell(self._run.add(call))

    def _shutdown(self, event: _Event, data: _Data) -> None:
        """Reports the run's use in all; a run without figures leaves the answers as they are."""
        self.facts.context_used = data.tokens or self.facts.context_used
        used = {model: each for model, each in (data.metrics or {}).items() if each.tokens}
        run, self._run = self._run, CopilotRun()
        if not used:
            return
        for call in run.calls():
            self.drop(call)
        # Without an id, the time of its end names a run of this session.
        named = event.id or f"{self.facts.session} {self._at_us}"
        for call in spread(used, run, named, self._at_us, self.facts.session):
            self.tell(call)

    def _loose(self, value: Any) -> _Event | None:
        """Returns an event of another shape, with what matters of it."""
        kind = value.get("type") if isinstance(value, dict) else None
        data = value.get("data") if isinstance(value, dict) else None
        if not isinstance(data, dict):
            return None
        event = _Event(type=text_of(kind), id=text_of(value.get("id")))
        event.timestamp = text_of(value.get("timestamp"))
        try:
            if kind == MESSAGE and data.get("outputTokens") is not None:
                event.data = decoding.convert(picked(data, *_NEEDED), _Data)
            elif kind == SHUTDOWN and isinstance(metrics := data.get("modelMetrics"), dict):
                event.data = _Data(metrics=self._metrics(metrics))
            else:
                return None
        except msgspec.ValidationError as fault:
            raise Unusable(str(fault)) from fault
        return event

    def _metrics(self, fields: dict[str, Any]) -> dict[str, ModelTotals]:
        metrics = {}
        for model, used in fields.items():
            try:
                metrics[text_of(model)] = decoding.convert(used, ModelTotals)
            except msgspec.ValidationError:
                self.unreadable += 1
        return metrics
