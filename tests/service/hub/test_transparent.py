"""Bytes that pass a proxy in both directions are the bytes that were sent."""

from __future__ import annotations

import random
import subprocess
import sys
from threading import Thread

import pytest

ECHO = "import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer); sys.exit(5)"
SIZES = (0, 1, 5, 4_095, 4_096, 70_000)


def stream(seed: int) -> bytes:
    """Lines of any bytes, of JSON that nobody knows, and one without an end."""
    dice = random.Random(seed)
    lines = [
        dice.choice(
            [
                dice.randbytes(dice.choice(SIZES)).replace(b"\n", b"") + b"\n",
                b'{"jsonrpc":"2.0","method":"_x/y","params":{"a":1.0}}\r\n',
                b'  {"id": 1e2 , "result" :null}\n',
                b'[{"type":"x"}]\n\n',
            ]
        )
        for _ in range(60)
    ]
    return b"".join(lines) + b'{"cut'


@pytest.mark.parametrize("command", ["acp", "stream-json"])
@pytest.mark.parametrize("seed", range(3))
def test_every_byte_passes_in_order_and_the_exit_code_too(command: str, seed: int) -> None:
    sent = stream(seed) + (b"x" * 5_000_000 + b"\n" + stream(seed + 9) if seed == 2 else b"")
    proxy = subprocess.Popen(
        [sys.executable, "-m", "watchgate", command, "--", sys.executable, "-c", ECHO],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert proxy.stdin is not None
    assert proxy.stdout is not None
    source = proxy.stdin

    def feed() -> None:
        dice, left = random.Random(seed), memoryview(sent)
        while left:
            size = dice.choice((1, 7, 4_096, 200_000))
            source.write(left[:size])
            source.flush()
            left = left[size:]
        source.close()

    feeder = Thread(target=feed)
    feeder.start()
    assert proxy.stdout.read() == sent
    feeder.join()
    proxy.stdout.close()
    assert proxy.wait(timeout=30) == 5


def test_a_program_that_is_not_there_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "watchgate", "acp", "--", "no-such-agent"], capture_output=True
    )
    assert done.returncode == 1
    assert b"no-such-agent" in done.stderr


ASKS_LONG = """
import json, sys
asks = {"jsonrpc": "2.0", "id": 5, "method": "session/request_permission"}
print(json.dumps({**asks, "params": {"text": "x" * 5_000_000}}), flush=True)
told = json.loads(sys.stdin.readline())
print("told", told["id"], told["result"]["outcome"]["outcome"])
"""


def test_a_permission_that_is_too_long_to_be_held_is_cancelled_and_never_asked() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "watchgate", "acp", "--", sys.executable, "-c", ASKS_LONG],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as proxy:
        assert proxy.stdout is not None
        assert proxy.stdout.readline() == b"told 5 cancelled\n"
