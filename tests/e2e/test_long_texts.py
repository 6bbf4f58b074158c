"""While a text made to take long is judged, another agent is answered.

What counts is the processor time that the core takes for both, the best of three, each with a text
of its own: what a machine does besides does not come into it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.programs import Core, bash

# Judging may take 50 ms, redacting a record as much; the rest is reading and writing.
LIMIT_S = 0.5
ROUNDS = 3
KIB = 1024
JSON = '{"a":"b","c":[1,2,{"d":"e"}]},'
HOSTILE: dict[str, Callable[[int], str]] = {
    "sed of 600 newlines": lambda n: "sed '" + "\n" * (600 + n) + "' f",
    "sed of 1,000 blanks": lambda n: "sed '" + " " * (1_000 + n) + "' f",
    "sed of 4,000 newlines": lambda n: "sed '" + "\n" * (4_000 + n) + "' f",
    "sed of 4,000 tabs": lambda n: "sed '" + "\t" * (4_000 + n) + "' f",
    "6 kB of compact JSON": lambda n: f"curl -X POST http://h:{n}/ -d '{JSON * 200}'",
    "200 kB of compact JSON": lambda n: f"curl -X POST http://h:{n}/ -d '{JSON * 6_800}'",
    "an awk of many prints": lambda n: "awk '{" + "print $1; " * (1_000 + n) + "}' f",
    "2,000 slashes": lambda n: "curl -X POST http://h" + "/" * (2_000 + n),
    "50 kB of tokens": lambda n: "echo " + "eyJa-" * (10_000 + n),
    "200 kB of tokens": lambda n: "echo " + "eyJa-" * (40_000 + n),
}


def sent(core: Core, command: str, session: str) -> socket.socket:
    """A gate's frame, as a hook sends it; the answer is for whoever reads it."""
    body = json.dumps(bash(command, session=session)).encode()
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(60)
    peer.connect(str(core.runtime / "ingest.sock"))
    peer.sendall(f"watchgate/1 claude gate\nlength: {len(body)}\nevent: PreToolUse\n\n".encode())
    peer.sendall(body)
    return peer


def processor_s(core: Core) -> float:
    """Processor time that the core has taken so far, in seconds."""
    assert core.process is not None
    fields = Path(f"/proc/{core.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(sys.platform != "linux", reason="processor time is read in /proc")
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_another_agents_ls_is_answered_while_it_is_judged(
    core: Core, text: Callable[[int], str]
) -> None:
    core.start()
    took_s = []
    for number in range(ROUNDS):
        began_s = processor_s(core)
        with (
            sent(core, text(number), f"hostile-{number}"),
            sent(core, "ls", f"other-{number}") as peer,
        ):
            assert peer.recv(4 * KIB)
        took_s.append(processor_s(core) - began_s)
    assert min(took_s) < LIMIT_S, took_s
