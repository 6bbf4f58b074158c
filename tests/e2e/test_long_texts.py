"""While a text made to take long is judged, others are answered within 100 ms.

What a machine does besides must not come into it. So what counts is the processor time that the
core's loop takes between a question and its answer: threads beside it give way every 5 ms. Of
several texts that one counts in whose time the answers came soonest.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.programs import WAIT_S, Core, bash

LIMIT_S = 0.1
ROUNDS = 3
KIB = 1024
MOST_BYTES = 4 * 1024 * KIB - 4 * KIB
JSON = '{"a":"b","c":[1,2,{"d":"e"}]},'

Text = Callable[[int], dict[str, Any]]
"""A call whose text is another for each number."""


def shell(text: Callable[[int], str]) -> Text:
    return lambda number: bash(text(number), session=f"hostile-{number}")


def write(size_bytes: int) -> Text:
    def made(number: int) -> dict[str, Any]:
        given = {"file_path": f"/tmp/{number}.txt", "content": "eyJa-" * (size_bytes // 5)}
        return {**bash("", session=f"hostile-{number}"), "tool_name": "Write", "tool_input": given}

    return made


def tokens(size_bytes: int) -> Text:
    return shell(lambda n: "echo " + "eyJa-" * (size_bytes // 5 - n))


HOSTILE: dict[str, Text] = {
    "sed of 600 newlines": shell(lambda n: "sed '" + "\n" * (600 + n) + "' f"),
    "sed of 1,000 newlines": shell(lambda n: "sed '" + "\n" * (1_000 + n) + "' f"),
    "sed of 1,600 blanks": shell(lambda n: "sed '" + " " * (1_600 + n) + "' f"),
    "sed of 9,000 tabs": shell(lambda n: "sed '" + "\t" * (9_000 + n) + "' f"),
    "3 kB of compact JSON": shell(lambda n: f"curl -X POST http://h:{n}/ -d '{JSON * 100}'"),
    "6 kB of compact JSON": shell(lambda n: f"curl -X POST http://h:{n}/ -d '{JSON * 200}'"),
    "200 kB of compact JSON": shell(lambda n: f"curl -X POST http://h:{n}/ -d '{JSON * 6_800}'"),
    "an awk of many prints": shell(lambda n: "awk '{" + "print $1; " * (1_000 + n) + "}' f"),
    "2,000 slashes": shell(lambda n: "curl -X POST http://h" + "/" * (2_000 + n)),
    "50 kB of tokens": tokens(50_000),
    "100 kB of tokens": tokens(100_000),
    "200 kB of tokens": tokens(200_000),
    "1 MB of tokens": tokens(1_000_000),
    "4 MiB of tokens": tokens(MOST_BYTES),
    "4 MiB of words": shell(lambda n: f"cat <<{n}\n" + "some words and more\n" * 190_000 + f"{n}"),
    "a file of 100 kB": write(100_000),
    "a file of 1 MB": write(1_000_000),
    "a file of 4 MiB": write(MOST_BYTES),
}


def asked(core: Core, call: dict[str, Any]) -> socket.socket:
    """A gate's frame, as a hook sends it; the answer is for whoever reads it."""
    body = json.dumps(call).encode()
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(WAIT_S)
    peer.connect(str(core.runtime / "ingest.sock"))
    peer.sendall(f"watchgate/1 claude gate\nlength: {len(body)}\nevent: PreToolUse\n\n".encode())
    peer.sendall(body)
    return peer


def ls(core: Core, session: str) -> None:
    """Another agent asks, and is answered."""
    with asked(core, bash("ls", session=session)) as peer:
        assert peer.recv(4 * KIB)


def processor_s(core: Core) -> float:
    """Processor time that the core's loop has taken so far, in seconds."""
    assert core.process is not None
    pid = core.process.pid
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9


def is_judged(core: Core, session: str) -> bool:
    """Whether a call of the session waits for an operator, as an operator's command is told."""
    requests = core._told("list", what="requests")["requests"]
    return any(each["session"] == session for each in requests)


def probed(core: Core, call: dict[str, Any], number: int) -> float:
    """The longest that anybody waited while the call was judged, in seconds."""
    worst_s, probes = 0.0, 0
    with asked(core, call) as peer:
        peer.setblocking(False)
        over = False
        while not over:
            probes += 1
            for ask in (ls, is_judged):
                began_s = processor_s(core)
                ask(core, f"other-{number}-{probes}")
                worst_s = max(worst_s, processor_s(core) - began_s)
            over = is_judged(core, call["session_id"]) or is_answered(peer)
    return worst_s


def is_answered(peer: socket.socket) -> bool:
    try:
        return bool(peer.recv(1))
    except BlockingIOError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="processor time is read in /proc")
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_another_agent_and_an_operator_are_answered_while_it_is_judged(
    core: Core, text: Text
) -> None:
    core.configure('profile = "strict"\n')
    core.start()
    ls(core, "before")
    waits_s = [probed(core, text(number), number) for number in range(ROUNDS)]
    assert min(waits_s) < LIMIT_S, waits_s
