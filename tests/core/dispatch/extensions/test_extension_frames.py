from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.dispatch.extensions.extension_frames import (
    BODY_LIMIT,
    HEADER_LINE_LIMIT,
    ExtensionFrameError,
    FrameReader,
    encode_frame,
)


def bodies(*chunks: bytes) -> list[bytes]:
    frames = FrameReader()
    return [body for chunk in chunks for body in frames.feed(chunk)]


def test_sy_24_a_frame_is_a_length_a_blank_line_and_so_many_bytes() -> None:
    assert encode_frame(b'{"a":"\xc3\xbc"}') == b'Content-Length: 10\r\n\r\n{"a":"\xc3\xbc"}'


@given(st.lists(st.binary(max_size=50), max_size=5), st.integers(1, 7))
def test_sy_24_frames_come_out_whole_however_the_bytes_arrive(sent: list[bytes], step: int) -> None:
    stream = b"".join(map(encode_frame, sent))
    assert bodies(*(stream[at : at + step] for at in range(0, len(stream), step))) == sent
    assert bodies(stream) == sent


@pytest.mark.parametrize("name", [b"content-length", b"CONTENT-LENGTH", b"Content-length"])
def test_sy_24_the_header_name_may_be_written_in_any_case(name: bytes) -> None:
    assert bodies(name + b":2\r\n\r\n{}") == [b"{}"]


def test_other_headers_are_passed_over_and_a_bare_newline_is_a_line_end() -> None:
    assert bodies(b"Content-Type: x\r\nContent-Length: 2\n\n{}") == [b"{}"]


def test_sy_24_a_header_line_may_have_1024_bytes() -> None:
    most = b"X: " + b"y" * (HEADER_LINE_LIMIT - 5) + b"\r\n"
    assert len(most) == 1_024
    assert bodies(most + b"Content-Length: 2\r\n\r\n{}") == [b"{}"]
    with pytest.raises(ExtensionFrameError, match="1024"):
        bodies(b"y" * HEADER_LINE_LIMIT)
    with pytest.raises(ExtensionFrameError, match="1024"):
        bodies(b"y" + most)


def test_sy_24_a_body_may_have_4_mib() -> None:
    body = b"x" * BODY_LIMIT
    assert BODY_LIMIT == 4_194_304
    assert bodies(encode_frame(body)) == [body]
    with pytest.raises(ExtensionFrameError) as sent:
        encode_frame(body + b"x")
    assert sent.value.cause == "oversized"
    with pytest.raises(ExtensionFrameError) as read:
        bodies(b"Content-Length: %d\r\n\r\n" % (BODY_LIMIT + 1))
    assert read.value.cause == "oversized"


@pytest.mark.parametrize(
    "stream",
    [
        b"\r\n",
        b"hello\r\n",
        b"Traceback (most recent call last):\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 1_0\r\n\r\n",
        b"Content-Length: +2\r\n\r\n{}",
        b"Content-Length:\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"Content-Type: x\r\n\r\n{}",
        b"Content-Length: \xd9\xa3\r\n\r\n",
    ],
)
def test_sy_24_what_is_no_frame_ends_the_reading(stream: bytes) -> None:
    with pytest.raises(ExtensionFrameError) as caught:
        bodies(stream)
    assert caught.value.cause == "protocol"


def test_a_length_of_thousands_of_digits_is_oversized_not_an_accident() -> None:
    with pytest.raises(ExtensionFrameError) as caught:
        bodies(b"Content-Length: " + b"9" * 900 + b"\r\n\r\n")
    assert caught.value.cause == "oversized"


def test_frames_before_a_fault_are_not_lost() -> None:
    seen = FrameReader().feed(encode_frame(b"{}") + b"oops\n")
    assert next(seen) == b"{}"
    with pytest.raises(ExtensionFrameError):
        next(seen)
