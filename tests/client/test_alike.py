"""The native client beside the one in Python: the same frame, bytes and exit code."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.client.fake_core import PATIENCE_S, REFERENCE, Frame, Reply, listening
from watchgate import client

NATIVE = Path(__file__).resolve().parents[2] / "native"
NO_NUL = st.binary(max_size=12).map(lambda word: word.replace(b"\0", b"@"))
SOME = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Core(NamedTuple):
    """How a core answers: these pieces one after the other, then it hangs up."""

    pieces: tuple[bytes, ...]


class Case(NamedTuple):
    """One run of the client: its words behind the socket's path, its stdin and environment."""

    words: tuple[bytes, ...]
    stdin: bytes
    env: dict[bytes, bytes]
    core: Core | None
    off: bytes | None = None


def whole(code: int, out: bytes, err: bytes) -> bytes:
    return b"%d %d %d\n%b%b" % (code, len(out), len(err), out, err)


WHOLE = st.one_of(
    st.builds(whole, st.integers(0, 300), st.binary(max_size=40), st.binary(max_size=40)),
    st.builds(whole, st.just(0), st.just(b"o" * 70_000), st.binary(max_size=4)),
)
GARBLED = st.one_of(
    st.builds(
        lambda head, rest: head.encode() + b"\n" + rest,
        st.text("0129 _+-x\t\r", max_size=40),
        st.binary(max_size=3),
    ),
    st.binary(max_size=40),
    st.sampled_from([b"0 8388608 1\n", b"0 %b1 0\nx" % (b"0" * 26), b"0" * 40 + b" 0 0\n"]),
)
CUTS = st.integers(0, 45)
# Every one hangs up in the end: a client that waits for more would do so to its deadline. What is
# too long comes in one piece, as a client that has its answer does not look for more.
CORES = st.one_of(
    st.none(),
    st.builds(lambda answer: Core((answer,)), st.one_of(WHOLE, GARBLED)),
    st.builds(lambda answer, cut: Core((answer[:cut], answer[cut:])), WHOLE, CUTS),
    st.builds(lambda answer, cut: Core((answer[:cut],)), WHOLE, CUTS),
    st.builds(lambda answer: Core(tuple(bytes([each]) for each in answer[:60])), WHOLE),
)
WORDS = st.tuples(
    st.one_of(
        st.just(b"claude"), st.text(max_size=6).map(lambda t: t.encode("utf-8", "replace")), NO_NUL
    ).map(lambda word: word.replace(b"\0", b"")),
    st.sampled_from([b"gate", b"gate-read", b"relay", b"observe", b"other", b"gat\xc3\xa9", b""]),
    st.one_of(st.sampled_from([b"-", b"Stop", b"\xff\xe2\x82\xac\xed\xa0\x80\xf0\x9f"]), NO_NUL),
    st.sampled_from(
        [
            b"30",
            b"30.5",
            b"3e1",
            b"+30",
            b"0",
            b"-1",
            b"1e999",
            b"",
            b"x",
            b"3_0",
            b" 30",
            b"nan",
            b"inf",
            b"0x1F",
            b"1e",
            b".",
            b"30 ",
        ]
    ),
    st.one_of(st.sampled_from([b"", b'{"no":"@","again":"@"}', b"\xff@\xe9"]), NO_NUL),
    st.sampled_from([b"2", b"0", b"1", b"255", b"256", b"-1", b"02", b"", b"x", b"9" * 30, b"1_0"]),
    NO_NUL,
)
VARIABLES = st.dictionaries(
    st.sampled_from(client.ENVIRONMENT.split()[:3]),
    st.one_of(NO_NUL, st.sampled_from([b"%1", b"x" * 256, b"x" * 257, "é".encode()])),
    max_size=3,
)
CASES = st.builds(
    Case,
    st.builds(lambda words, count: words[:count], WORDS, st.sampled_from([7, 7, 7, 6, 5, 3, 1, 0])),
    st.binary(max_size=200),
    VARIABLES,
    CORES,
    st.sampled_from([None, None, None, b"99999999999", b"9" * 40, b"1", b"boot x", b"\0", b" 9 "]),
)
GATE = (b"claude", b"gate", b"E", b"30", b"@")


def replying(core: Core) -> Reply:
    def reply(connection: socket.socket, _: Frame) -> None:
        with suppress(OSError):
            for piece in core.pieces:
                connection.sendall(piece)

    return reply


def ran(start: Sequence[str], case: Case) -> tuple[object, ...]:
    """What the core heard, and what was said: exit code, stdout, stderr."""
    with tempfile.TemporaryDirectory(prefix="wg", dir="/tmp") as folder:
        path = Path(folder, "ingest.sock")
        if case.off is not None:
            path.with_name("off").touch(0o600)
            path.with_name("off").write_bytes(case.off)
        words = [*map(os.fsencode, start), bytes(path), *case.words]
        env = {os.fsencode(name): value for name, value in case.env.items()}
        if case.core is None:
            done = subprocess.run(
                words, input=case.stdin, env=env, capture_output=True, timeout=PATIENCE_S
            )
            return done.returncode, done.stdout, done.stderr
        with listening(path, replying(case.core)) as frames:
            done = subprocess.run(
                words, input=case.stdin, env=env, capture_output=True, timeout=PATIENCE_S
            )
        # The listener has left, so all that came is in the queue.
        heard = [frames.get_nowait() for _ in range(frames.qsize())]
    return [without_time(frame) for frame in heard], done.returncode, done.stdout, done.stderr


def without_time(frame: Frame) -> Frame:
    return Frame([re.sub(r"^(deadline_ms: )\d+$", r"\1N", each) for each in frame.header], frame[1])


@SOME
@given(case=CASES)
@example(Case((), b"", {}, None))
@example(Case(GATE[:4], b"{}", {}, Core((b"0 0 0\n",))))
@example(Case((*GATE, b"256"), b"{}", {}, Core((b"0 0 0 0\n",))))
@example(Case((*GATE, b"0", b"\xff"), b"{}", {}, None, b"99999999999"))
@example(Case((*GATE[:3], b"1e999", b"@"), b"{}", {}, Core((b"0 1 1\nab",))))
def test_both_say_the_same(native_client: Path, case: Case) -> None:
    assert ran([str(native_client)], case) == ran(REFERENCE, case)


def test_both_hold_the_same_texts_in_the_same_order() -> None:
    texts = re.findall(r'^    "(.*)"[,;]$', (NATIVE / "reasons.h").read_text(), re.MULTILINE)
    assert texts == [*client.REASONS.values(), *client.GONE.split("{}"), client.STOP]


def test_both_send_the_same_variables() -> None:
    table = (NATIVE / "words.c").read_text().split("ENVIRONMENT[] = {")[1].split("};")[0]
    assert re.findall(r'"(\w+)"', table) == client.ENVIRONMENT.decode().split()
