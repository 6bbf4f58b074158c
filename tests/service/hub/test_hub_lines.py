"""Lines of sources and requests in lines, as the hub takes them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.service.desk import Desk
from watchgate.agents.streams.stream_source import Source
from watchgate.core.model.events import Event
from watchgate.core.model.records import Draft
from watchgate.service.hub.interfaces import PendingReply


def line(**fields: Any) -> bytes:
    whole = {"watchgate": 1, "agent": "acp", "session": "s", "kind": "tool.pre", **fields}
    return msgspec.json.encode(whole) + b"\n"


SOURCE = Source("pid 7 at 10:00:00", pid=7)


class Stream:
    """The connections that a stream of lines was given, one for each request."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.conns: list[PendingReply] = []

    def __call__(self) -> PendingReply:
        self.conns.append(self._desk.conn())
        return self.conns[-1]

    def said(self) -> list[dict[str, Any]]:
        return [json.loads(c.answer.stdout) for c in self.conns if c.answer is not None]


def ask(command: str, number: int) -> bytes:
    shell = {"tool": "sh", "tool_class": "shell", "input": {"command": command}}
    return line(**shell, call_id=str(number), ask=True, id=number)


def test_a_request_in_a_line_is_held_and_answered_with_its_id() -> None:
    desk = Desk()
    stream = Stream(desk)
    list(desk.hub.lines(line(kind="prompt.submit", text="hi") + ask("high", 5), SOURCE, stream))
    (conn,) = stream.conns
    desk.decide(conn, "deny", reason="no")
    (said,) = stream.said()
    assert (said["id"], said["decision"]) == (5, "deny")
    assert "no" in said["reason"]


def test_a_request_that_cannot_be_read_is_answered_closed() -> None:
    desk = Desk()
    stream = Stream(desk)
    list(desk.hub.lines(line(ask=True, id="x", tool_class="spaceship"), SOURCE, stream))
    (said,) = stream.said()
    assert (said["id"], said["decision"]) == ("x", "deny")
    assert "unreadable request" in said["reason"]
    assert desk.kinds() == ["unknown"]


def test_a_line_that_we_fail_over_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    stream = Stream(desk)
    receive = desk.hub.engine.receive

    def failing(event: Event, conn: int, now: Any) -> Any:
        if event.session == "bad":
            raise ValueError("lone surrogates")
        return receive(event, conn, now)

    monkeypatch.setattr(desk.hub.engine, "receive", failing)
    bad = line(kind="message", session="bad") + line(session="bad", tool="sh", ask=True, id=1)
    list(desk.hub.lines(bad + line(kind="message", text="after"), SOURCE, stream))
    assert [said["decision"] for said in stream.said()] == ["deny"]
    assert desk.kinds() == ["notice", "notice", "message"]
    assert "lone surrogates" not in desk.last("notice")["detail"], "its text may come from outside"
    assert "ValueError" in desk.last("notice")["detail"]


def test_a_record_that_cannot_be_sealed_leaves_the_order_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk()
    seal = desk.hub.recorder.chain.seal

    def failing(draft: Draft) -> Any:
        if draft.session == "bad":
            raise TypeError("no JSON form")
        return seal(draft)

    monkeypatch.setattr(desk.hub.recorder.chain, "seal", failing)
    sent = [line(kind="message", session=name) for name in ("a", "bad", "b")]
    list(desk.hub.lines(b"".join(sent), SOURCE, Stream(desk)))
    assert desk.kinds() == ["message", "message", "notice"]
    assert [row.seq for row in desk.paper.rows] == [1, 2, 3]
    assert desk.hub.recorder.state.seq == 3


def test_an_oversized_line_leaves_a_marker() -> None:
    desk = Desk()
    desk.hub.oversized_line(5_000_000, 7)
    assert desk.last("notice")["detail"] == "5000000 bytes dropped, pid 7"
