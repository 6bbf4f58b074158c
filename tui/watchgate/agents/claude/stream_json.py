"""The line protocol of `watchgate stream-json`, between a program and `claude -p`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from watchgate.agents.claude import stream
from watchgate.agents.claude.other_messages import CAN_USE_TOOL
from watchgate.agents.proxied import PASS, HeldRequest, HeldRequests, ObservedMessage, Side, Step
from watchgate.agents.proxied.outline import Top, id_of, outline, texts_at
from watchgate.agents.proxied.wrapped import WrappedMessage, table, unread_because, word, wrap
from watchgate.core.base.bounded import Recent
from watchgate.core.base.decoding import JSON_FAULTS

Json = dict[str, Any]
MAX_REMEMBERED: Final = 2_000
MAX_EARLY: Final = 50
_UNREAD: Final = (
    "watchgate: this request could not be read, so nobody could decide on it."
    " Have the work done in smaller calls."
)
_GONE: Final = "watchgate: the program that drives Claude Code has left before anybody decided."


class StreamJsonWire:
    """One run of `claude -p`; `program` is its command, `cwd` the folder it was started in."""

    agent: Final = "claude"

    def __init__(self, program: str, cwd: str) -> None:
        self._program = program
        self._cwd = cwd
        self._holding = HeldRequests(lambda held: _denial(held.id.decode(), _GONE))
        self._session = self._mode = ""
        self._calls: Recent[str, Json] = Recent(MAX_REMEMBERED)
        self._early: list[tuple[Json, Side, Json, str]] = []

    def step(self, line: bytes, side: Side) -> Step:
        """Returns the step for a whole line; one that is no message is recorded as it is."""
        try:
            return self._step(line, side)
        except RecursionError:
            # Read, but too deep to be written again with what is known around it.
            return self.unread(line, side, "nested too deeply")

    def unread(self, start: bytes, side: Side, why: str) -> Step:
        """Lets the line pass, unless it asks whether a tool may run: that is denied."""
        asking = [top for top in outline(start) if _asks(top)] if side == "agent" else []
        shown = start[:8_000].decode("utf-8", "replace")
        record = {"unread": shown, "why": unread_because(why, side, refused=bool(asking))}
        ids = [id for top in asking if (id := id_of(top, "request_id"))]
        denials = tuple(_denial(msgspec.Raw(id), _UNREAD) for id in ids)
        return Step(passes=not asking, observed=self._record(record, side, ""), agent_lines=denials)

    def _step(self, line: bytes, side: Side) -> Step:
        try:
            message = msgspec.json.decode(line)
        except JSON_FAULTS:
            return PASS if not line.strip() else self.unread(line, side, "no single message")
        if not isinstance(message, dict):
            return self.unread(line, side, "no message")
        sort = word(message.get("type"))
        if side == "editor" and sort == "control_response":
            id = word(table(message.get("response")).get("request_id"))
            if id and self._holding.of_id(id.encode()) is not None:
                # It was never asked; passed on, this would decide in the place of who is.
                return Step(passes=False, observed=self._record(message, side, sort))
        if side == "agent" and sort == "control_request":
            asked = table(message.get("request"))
            if asked.get("subtype") == CAN_USE_TOOL and (id := word(message.get("request_id"))):
                observed = self._observe(message, side, {}, CAN_USE_TOOL)
                return Step(passes=False, hold=self._holding.hold(observed, id.encode(), "", sort))
        if side == "agent" and sort == "control_cancel_request":
            held = self._holding.of_id(word(message.get("request_id")).encode())
            if held is not None and self._holding.end(held):
                return Step(passes=False, ended=((held, b""),))
        return Step(observed=self._record(message, side, sort))

    def settle(self, held: HeldRequest, answer: bytes) -> bytes | None:
        """Returns the control response, which the adapter has made whole."""
        if not self._holding.end(held):
            return b""
        return answer + b"\n" if answer else None

    def withdraw(self) -> tuple[tuple[HeldRequest, bytes], ...]:
        """Denies all that is held."""
        return self._holding.cancel()

    def rest(self) -> tuple[ObservedMessage, ...]:
        """Returns the messages that came before any of them named a session."""
        early, self._early = self._early, []
        return tuple(self._observe(*each) for each in early)

    def _record(self, message: Json, side: Side, sort: str) -> tuple[ObservedMessage, ...]:
        if side == "agent":
            self._session = word(message.get("session_id")) or self._session
            self._mode = word(message.get("permissionMode")) or self._mode
        native = sort if sort in stream.TYPES else "stream-json"
        if sort == "stream_event":
            return ()  # parts of a message that comes whole as well
        if sort == "result":
            plain = self._observe(message, side, {}, native)
            return plain, self._observe(message, side, {"turn": True}, native)
        # The session is told only after the first prompt.
        waits = not self._session and len(self._early) < MAX_EARLY
        contexts = list(self._contexts(message, side)) or [{}]
        self._early += [(message, side, each, native) for each in contexts]
        return () if waits else self.rest()

    def _contexts(self, message: Json, side: Side) -> Iterator[Json]:
        """Yields the context of an event about each block that is a call's."""
        for block in stream.blocks(message) if side == "agent" else ():
            ended = word(block.get("tool_use_id"))
            if block.get("type") == "tool_use" and (id := word(block.get("id"))):
                self._calls[id] = block
                yield {"block": block}
            elif block.get("type") == "tool_result" and (call := self._calls.pop(ended, None)):
                yield {"block": block, "call": call}

    def _observe(self, message: Json, side: Side, context: Json, native: str) -> ObservedMessage:
        known = {"session": self._session, "mode": self._mode}
        context = {**context, **{key: value for key, value in known.items() if value}}
        wrapped = WrappedMessage(
            side=side, agent=self._program, cwd=self._cwd, context=context, message=message
        )
        return ObservedMessage(native, wrap(wrapped))


def _asks(top: Top) -> bool:
    asks = CAN_USE_TOOL in texts_at(top, "request", "subtype")
    return asks and "control_request" in texts_at(top, "type")


def _denial(id: str | msgspec.Raw, why: str) -> bytes:
    decision = {"behavior": "deny", "message": why}
    response = {"subtype": "success", "request_id": id, "response": decision}
    return msgspec.json.encode({"type": "control_response", "response": response}) + b"\n"
