"""The bus of an OpenCode server as one client reads it: what the core is told and asked.

Pure, and with a memory: it adds to each event what earlier ones told (see `ForwarderContext`),
drops what comes in floods or twice, and says when a question was answered by somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from watchgate.agents.opencode.opencode_events import ASKED, QUESTION
from watchgate.agents.opencode.opencode_payload import Fields, ForwarderContext, mapping, string
from watchgate.agents.proxied import ObservedMessage
from watchgate.core.base import decoding
from watchgate.core.base.bounded import Recent

MAX_REMEMBERED: Final = 2_000
_PLAIN: Final = frozenset(
    (
        "session.created",
        "session.deleted",
        "session.idle",
        "session.error",
        "session.compacted",
        "todo.updated",
        "command.executed",
        "file.edited",
    )
)
_REPLIES: Final = frozenset(("permission.replied", "question.replied", "question.rejected"))


class RecordStep(msgspec.Struct, frozen=True):
    """A payload to record."""

    observed: ObservedMessage


class OpenQuestion(msgspec.Struct, frozen=True):
    """A permission or question that waits for an answer; `directory` is where it was asked."""

    id: str
    session: str
    directory: str
    observed: ObservedMessage


class QuestionOver(msgspec.Struct, frozen=True):
    """The end of requests that waited for an answer: one of them, or all of a session."""

    id: str = ""
    session: str = ""


FeedStep = RecordStep | OpenQuestion | QuestionOver


class Feed:
    """The state of one server's bus, from its events so far."""

    def __init__(self) -> None:
        self._sessions: Recent[str, Fields] = Recent(MAX_REMEMBERED)
        self._calls: Recent[str, tuple[str, dict[str, Any]]] = Recent(MAX_REMEMBERED)
        self._asked: Recent[str, str] = Recent(MAX_REMEMBERED)
        self._refused: Recent[str, None] = Recent(MAX_REMEMBERED)
        self._once: Recent[str, None] = Recent(MAX_REMEMBERED)
        self._users: Recent[str, None] = Recent(MAX_REMEMBERED)

    def learn(self, info: Fields) -> None:
        """Takes note of a session that was there before the first event."""
        self._sessions.renew(string(info, "id"), info)

    def take(self, directory: str, event: Fields) -> Iterator[FeedStep]:
        """Yields the steps that follow from one event of the bus."""
        name, props = string(event, "type"), mapping(event.get("properties"))
        if name in (ASKED, QUESTION):
            yield from self._ask(directory, name, props)
        elif name in _REPLIES:
            yield from self._replied(directory, name, props)
        elif name == "message.part.updated":
            yield from self._part(directory, props)
        elif name == "message.updated":
            yield from self._message(directory, props)
        elif name == "session.updated":
            yield from self._updated(directory, props)
        elif name in _PLAIN:
            info = mapping(props.get("info"))
            if name == "session.created":
                self.learn(info)
            yield self._tell(directory, name, props)
            if name in ("session.idle", "session.error", "session.deleted"):
                yield QuestionOver(session=string(props, "sessionID") or string(info, "id"))

    def _ask(self, directory: str, name: str, props: Fields) -> Iterator[FeedStep]:
        id, session = string(props, "id"), string(props, "sessionID")
        if not id or id in self._asked:
            return
        call_id = string(mapping(props.get("tool")), "callID")
        self._asked[id] = call_id
        about = self._call(call_id) if name == ASKED else {}
        yield OpenQuestion(id, session, directory, self._observe(directory, name, props, **about))

    def _replied(self, directory: str, name: str, props: Fields) -> Iterator[FeedStep]:
        id = string(props, "requestID")
        call_id = self._asked.get(id, "")
        about: dict[str, Any] = {}
        if call_id and name == "permission.replied":
            if string(props, "reply") == "reject":
                self._refused.renew(call_id, None)
            about = self._call(call_id)
        yield self._tell(directory, name, props, **about)
        yield QuestionOver(id=id)

    def _part(self, directory: str, props: Fields) -> Iterator[FeedStep]:
        part = mapping(props.get("part"))
        match string(part, "type"):
            case "tool":
                yield from self._tool(directory, props, part)
            case "text" if string(part, "messageID") in self._users:
                message = string(part, "messageID")
                if self._first(f"prompt {message}"):
                    info = {"role": "user", "sessionID": part.get("sessionID"), "id": message}
                    words = string(part, "text")
                    yield self._tell(directory, "message.updated", {"info": info}, text=words)
            case "text" if "end" in mapping(part.get("time")):
                yield self._tell(directory, "message.part.updated", props)

    def _tool(self, directory: str, props: Fields, part: Fields) -> Iterator[FeedStep]:
        call_id, state = string(part, "callID"), mapping(part.get("state"))
        status = string(state, "status")
        if status == "pending" or not self._first(f"call {call_id} {status}"):
            return
        self._calls.renew(call_id, (string(part, "tool"), dict(mapping(state.get("input")))))
        refused = call_id in self._refused
        yield self._tell(directory, "message.part.updated", props, refused=refused)

    def _message(self, directory: str, props: Fields) -> Iterator[FeedStep]:
        info = mapping(props.get("info"))
        id = string(info, "id")
        if string(info, "role") == "user":
            # Its words come later, as a part of it.
            self._users.renew(id, None)
        elif "completed" in mapping(info.get("time")) and self._first(f"message {id}"):
            yield self._tell(directory, "message.updated", props)

    def _updated(self, directory: str, props: Fields) -> Iterator[FeedStep]:
        info = mapping(props.get("info"))
        id, cost = string(info, "id"), info.get("cost")
        before = self._sessions.get(id, {}).get("cost")
        self.learn(info)
        if cost and cost != before:
            total = self._cost_usd(self._top(id) or id)
            yield self._tell(directory, "session.updated", props, cost_usd=total)

    def _cost_usd(self, top: str) -> float:
        """Returns the cost of a session and all of its sub-agents so far (USD)."""
        family = (info for id, info in self._sessions.items() if (self._top(id) or id) == top)
        return float(sum(info.get("cost") or 0 for info in family))

    def _top(self, session: str) -> str:
        """Returns the session at the top of a sub-agent's line; empty for a session of its own."""
        top = parent = string(self._sessions.get(session, {}), "parentID")
        for _ in range(20):
            parent = string(self._sessions.get(top, {}), "parentID")
            if not parent:
                break
            top = parent
        return top

    def _call(self, call_id: str) -> dict[str, Any]:
        known = self._calls.get(call_id)
        return {} if known is None else {"call_id": call_id, "tool": known[0], "input": known[1]}

    def _first(self, what: str) -> bool:
        if what in self._once:
            return False
        self._once[what] = None
        return True

    def _tell(self, directory: str, name: str, props: Fields, **known: Any) -> RecordStep:
        return RecordStep(self._observe(directory, name, props, **known))

    def _observe(self, directory: str, name: str, props: Fields, **known: Any) -> ObservedMessage:
        session = next(
            (
                session_id
                for each in (props, mapping(props.get("info")), mapping(props.get("part")))
                if (session_id := string(each, "sessionID"))
            ),
            string(mapping(props.get("info")), "id"),
        )
        parent = self._top(session)
        agent = string(self._sessions.get(session, {}), "agent") if parent else ""
        added = ForwarderContext(directory=directory, parent=parent, agent=agent, **known)
        payload = {"type": name, "properties": props, "watchgate": added}
        return ObservedMessage(name, msgspec.json.encode(payload))


def answer_request(
    name: str, id: str, answer: bytes
) -> tuple[str, Mapping[str, Any] | None] | None:
    """Returns the path and body of an answer to a permission or question; None for none.

    Raises `ValueError` for an answer that OpenCode would take for more than was said.
    """
    if not answer:
        return None
    fields = decoding.decode(answer, dict[str, Any])
    base = f"/{name.partition('.')[0]}/{id}"
    if name == ASKED and fields.get("reply") in ("once", "reject"):
        return f"{base}/reply", fields
    if name == QUESTION and "answers" in fields:
        return f"{base}/reply", fields
    if name == QUESTION and fields.get("reject") is True:
        return f"{base}/reject", None
    raise ValueError(f"no answer to {name}: {fields}")
