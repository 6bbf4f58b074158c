"""Copilot CLI's event logs: what a session's models used, live and once a run of it has ended.

Wire format: `session-state/<session>/events.jsonl` of Copilot CLI 1.0. While a run goes on only the
output of each answer is told. Its `session.shutdown` tells everything by model, for that run alone,
and takes the place of the answers before it. Its costs are premium requests and AI credits, not
money.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.usage.base import FileFacts
from watchgate.agents.usage.copilot_runs import Run, Used, spread
from watchgate.agents.usage.reading import Reading, parts_of, picked, unique
from watchgate.agents.usage.typed_lines import Count, Unusable, moment_us, text_of, typed_lines
from watchgate.core import decoding
from watchgate.core.ledger.call import UsageCall

MESSAGE: Final = "assistant.message"
SHUTDOWN: Final = "session.shutdown"


class _Tool(msgspec.Struct, gc=False):
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
    tools: list[_Tool] | None = msgspec.field(default=None, name="toolRequests")
    interaction: str | None = msgspec.field(default=None, name="interactionId")
    above: str | None = msgspec.field(default=None, name="parentToolCallId")
    tokens: Count | None = msgspec.field(default=None, name="currentTokens")
    metrics: dict[str, Used] | None = msgspec.field(default=None, name="modelMetrics")


class _Event(msgspec.Struct):
    type: str | None = None
    id: str | None = None
    timestamp: str | None = None
    data: _Data | None = None


_EVENTS = decoding.decoder(_Event)
_NEEDED = ("messageId", "outputTokens", "model", "interactionId", "parentToolCallId")


class CopilotReader(Reading):
    """Reads the events of one session."""

    def __init__(self, path: str) -> None:
        *folders, stem = parts_of(path)
        session = folders[-1] if stem == "events" and folders else stem
        super().__init__(FileFacts(session=session))
        self._run = Run()
        self._model = ""
        self._at_us = 0

    def read(self, chunk: bytes) -> None:
        """Takes some whole lines in."""
        events, bad = typed_lines(_EVENTS, chunk, self._loose)
        self.unreadable += bad
        for event in events:
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
        run, self._run = self._run, Run()
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

    def _metrics(self, fields: dict[str, Any]) -> dict[str, Used]:
        metrics = {}
        for model, used in fields.items():
            try:
                metrics[text_of(model)] = decoding.convert(used, Used)
            except msgspec.ValidationError:
                self.unreadable += 1
        return metrics
