"""Server-sent events come out whole, whatever pieces the bytes come in."""

from __future__ import annotations

import pytest

from watchgate.service.bridges.opencode_server import EventStream, EventStreamError

STREAM = b': hello\r\ndata: {"a":1}\r\n\r\nevent: x\ndata: one\ndata:two\nid: 7\n\n\rdata: last\r\r'


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_do_not_depend_on_the_pieces(size: int) -> None:
    stream = EventStream()
    events = [
        event
        for start in range(0, len(STREAM), size)
        for event in stream.feed(STREAM[start : start + size])
    ]

    assert [*events, *stream.feed(b"\n")] == [b'{"a":1}', b"one\ntwo", b"last"]


def test_what_has_no_end_yet_is_no_event() -> None:
    assert EventStream().feed(b"data: half") == []


def test_an_event_without_end_is_given_up() -> None:
    stream = EventStream(limit_bytes=100)

    with pytest.raises(EventStreamError, match="over 100 bytes"):
        stream.feed(b"data: " + b"x" * 200)
