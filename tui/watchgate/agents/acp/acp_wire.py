"""The line protocol of `watchgate acp`: which messages pass and which requests are held."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.acp import CANCELLED, NAME, acp_events
from watchgate.agents.acp.memory import Chunks, Memory
from watchgate.agents.forms import form
from watchgate.agents.proxied import PASS, HeldRequest, HeldRequests, ObservedMessage, Side, Step
from watchgate.agents.proxied.outline import Top, id_of, outline, texts_at
from watchgate.agents.proxied.wrapped import WrappedMessage, table, unread_because, word, wrap
from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS

MAX_EARLY: Final = 50
_CANCEL: Final = "session/cancel"
_CANCEL_REQUEST: Final = "$/cancel_request"
_REQUEST_CANCELLED: Final = {"error": {"code": -32800, "message": "Request cancelled"}}
_INVALID: Final = {"error": {"code": -32600, "message": "watchgate: send one message a line"}}
_PERMISSION: Final = acp_events.PERMISSION.encode()


class _LineHead(msgspec.Struct, gc=False):
    """The fields of a message that decide its way; the id is kept as it was written."""

    id: msgspec.Raw = msgspec.Raw()
    method: str = ""


_DECODER = decoding.decoder(_LineHead)


class AcpWire:
    """One connection; `program` is the agent's command, `cwd` the folder it was started in."""

    agent: Final = NAME

    def __init__(self, program: str, cwd: str) -> None:
        self._program = program
        self._memory = Memory(cwd)
        self._holding = HeldRequests(_cancelled)
        self._chunks = Chunks()
        self._newest = ""
        self._early: list[tuple[dict[str, Any], Side, dict[str, Any]]] = []

    def step(self, line: bytes, side: Side) -> Step:
        """Returns the step for a whole line; one that is no message is recorded as it is."""
        try:
            return self._step(line, side)
        except RecursionError:
            # Read, but too deep to be written again with what is known around it.
            return self.unread(line, side, "nested too deeply")

    def unread(self, start: bytes, side: Side, why: str) -> Step:
        """Lets the line pass, unless it asks for a permission: that is cancelled, with all else."""
        tops = outline(start) if side == "agent" else []
        refused = any(_asks(top) for top in tops)
        refusals = tuple(_refusal(top, id) for top in tops if (id := id_of(top, "id"))) * refused
        record = {"unread": _shown(start), "why": unread_because(why, side, refused=refused)}
        return Step(
            passes=not refused,
            observed=self._record(record, side, {}, asks=True),
            agent_lines=refusals,
        )

    def _step(self, line: bytes, side: Side) -> Step:
        try:
            head = _DECODER.decode(line)
            message: dict[str, Any] = msgspec.json.decode(line)
        except JSON_FAULTS:
            return PASS if not line.strip() else self.unread(line, side, "no single message")
        id = bytes(head.id)
        if side == "editor" and head.method == _CANCEL:
            scope = word(table(message.get("params")).get("sessionId"))
            step = self._passed(message, side, {})
            return Step(observed=step.observed, ended=self._cancel(scope))
        if side == "agent" and head.method == _CANCEL_REQUEST:
            held = self._holding.of_id(_raw(table(message.get("params")).get("requestId")))
            if held is not None and self._holding.end(held):
                return Step(passes=False, ended=((held, _line(held.id, _REQUEST_CANCELLED)),))
        if side == "editor" and not head.method and self._holding.of_id(id) is not None:
            # It was never asked; passed on, this would decide in the place of who is.
            return Step(
                passes=False, observed=self._passed({"unasked": _shown(line)}, side, {}).observed
            )
        if side == "agent" and id and _is_held(head.method, message):
            return self._hold(message, head.method, id)
        named = side == "agent" and _PERMISSION in line and head.method != acp_events.PERMISSION
        if named and any(map(_asks, outline(line))):
            return self.unread(line, side, "its method given twice")
        return self._passed(message, side, self._memory.context(message, head.method, side, id))

    def settle(self, held: HeldRequest, answer: bytes) -> bytes | None:
        """Returns the response to a held request, in the words of the core's answer."""
        if not self._holding.end(held):
            return b""
        try:
            result = decoding.decode(answer, dict[str, msgspec.Raw])
        except JSON_FAULTS:
            return None
        if "result" not in result:
            return None
        self._memory.note_answer(held.id, msgspec.json.decode(result["result"]))
        return _line(held.id, result)

    def withdraw(self) -> tuple[tuple[HeldRequest, bytes], ...]:
        """Cancels all that is held."""
        return self._cancel(None)

    def _cancel(self, scope: str | None) -> tuple[tuple[HeldRequest, bytes], ...]:
        ended = self._holding.cancel(scope)
        for held, _ in ended:
            self._memory.note_answer(held.id, CANCELLED)
        return ended

    def rest(self) -> tuple[ObservedMessage, ...]:
        """Returns the last words of a message that were not recorded yet."""
        gathered = self._chunks.flush()
        return tuple(
            observed for message in gathered for observed in self._record(message, "agent", {})
        )

    def _hold(self, message: dict[str, Any], method: str, id: bytes) -> Step:
        params = table(message.get("params"))
        session = word(params.get("sessionId"))
        context: dict[str, Any] = {}
        if method == acp_events.PERMISSION:
            context["call"] = self._memory.permission(method, params, id)
        else:
            self._memory.note_held(method, session, id)
        *early, observed = (*self.rest(), *self._record(message, "agent", context, asks=True))
        held = self._holding.hold(observed, id, session, method)
        return Step(passes=False, observed=tuple(early), hold=held)

    def _passed(self, message: dict[str, Any], side: Side, context: dict[str, Any]) -> Step:
        if side == "agent" and self._chunks.take(message):
            return PASS
        observed = self._record(message, side, context)
        more = self.rest() if side == "agent" else ()
        if context.get("method") == "session/prompt":
            result = table(message.get("result"))
            if acp_events.usage_of(result) is not None:
                used = self._record(message, side, context | {"part": "usage"})
                return Step(observed=(*more, *used, *observed))
        return Step(observed=(*more, *observed))

    def _record(
        self,
        message: dict[str, Any],
        side: Side,
        context: dict[str, Any],
        *,
        asks: bool = False,
    ) -> tuple[ObservedMessage, ...]:
        """Returns the message as it is recorded, after those that waited for a session.

        What names none belongs to the newest one; what `asks` waits for nothing.
        """
        params = table(message.get("params"))
        self._newest = word(params.get("sessionId")) or word(context.get("session")) or self._newest
        self._early.append((message, side, context))
        if not (self._newest or asks or len(self._early) > MAX_EARLY):
            return ()
        early, self._early = self._early, []
        return tuple(self._wrapped(*each) for each in early)

    def _wrapped(
        self, message: dict[str, Any], side: Side, context: dict[str, Any]
    ) -> ObservedMessage:
        params = table(message.get("params"))
        named = word(params.get("sessionId")) or word(context.get("session"))
        session = named or self._newest
        mode = self._memory.mode(session)
        wrapped = WrappedMessage(
            side=side,
            agent=self._program,
            cwd=self._memory.folder(session),
            context={**context, "session": session, **({"mode": mode} if mode else {})},
            message=message,
        )
        return ObservedMessage(acp_events.native_of(wrapped), wrap(wrapped))


def _is_held(method: str, message: dict[str, Any]) -> bool:
    if method == acp_events.PERMISSION:
        return True
    params = table(message.get("params"))
    asks = method == acp_events.ELICITATION and params.get("mode", "form") == "form"
    return asks and bool(form(params.get("requestedSchema")))


def _asks(top: Top) -> bool:
    return acp_events.PERMISSION in texts_at(top, "method")


def _refusal(top: Top, id: bytes) -> bytes:
    return _line(id, {"result": CANCELLED} if _asks(top) else _INVALID)


def _cancelled(held: HeldRequest) -> bytes:
    permission = held.kind == acp_events.PERMISSION
    return _line(held.id, {"result": CANCELLED if permission else {"action": "cancel"}})


def _line(id: bytes, rest: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": msgspec.Raw(id), **rest}) + b"\n"


def _raw(value: Any) -> bytes:
    return msgspec.json.encode(value)


def _shown(line: bytes) -> str:
    return line[:8_000].decode("utf-8", "replace")
