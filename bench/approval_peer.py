"""The two ends that load a core while approvals are measured: one that asks, one that floods."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import selectors
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.payloads import CWD, lines
from bench.serving import loop_s

CONNECTIONS = 8
STORY = 9_000
STEP_S = 0.01
PIECE_BYTES = 65_536
PAUSE_S = 0.02


def ask(path: Path, count: int, core: int) -> None:
    """Asks about a risky command again and again; prints what each answer took.

    That is milliseconds until it came, and how many of them the core's loop was running.
    """
    took_ms = []
    for number in range(count):
        payload = json.dumps(
            {
                "session_id": "5f0c7f0e-2d61-4b3a-9a55-000000000099",
                "hook_event_name": "PreToolUse",
                "cwd": CWD,
                "permission_mode": "default",
                "tool_name": "Bash",
                "tool_input": {"command": f"git push --force origin feature-{number}"},
                "tool_use_id": f"toolu_{os.getpid()}_{number}",
            }
        ).encode()
        head = f"watchgate/1 claude gate\nevent: PreToolUse\nlength: {len(payload)}\n"
        frame = f"{head}deadline_ms: 60000\n\n".encode() + payload
        used_s, start_s = loop_s(core), time.perf_counter()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(frame)
            answer = connection.recv(CONNECTIONS << 12)
            wall_s = time.perf_counter() - start_s
            took_ms.append((wall_s * 1e3, (loop_s(core) - used_s) * 1e3))
        assert b'"allow"' in answer, answer
        time.sleep(PAUSE_S)
    print(json.dumps(took_ms), flush=True)


def flood(path: Path, rate: int) -> None:
    """Sends lines of our form at this rate until standard input ends; prints the rate taken."""
    story = b"".join(itertools.islice(lines(), STORY)).splitlines(keepends=True)
    connections = [socket.socket(socket.AF_UNIX) for _ in range(CONNECTIONS)]
    for connection in connections:
        connection.connect(str(path))
    os.set_blocking(0, False)
    sent, start_s = 0, time.monotonic()
    turns = itertools.cycle(connections)
    while not _ended():
        due = int((time.monotonic() - start_s) * rate)
        while sent < due:
            # Whole pieces per connection, as a stream of deltas brings them.
            count = min(due - sent, rate // 100)
            at = sent % len(story)
            next(turns).sendall(b"".join(story[at : at + count]))
            sent += min(count, len(story) - at)
        time.sleep(STEP_S)
    print(sent / (time.monotonic() - start_s), flush=True)


def saturate(path: Path) -> None:
    """Sends lines on every connection that takes any until standard input ends; the rate taken."""
    story = b"".join(itertools.islice(lines(), STORY))
    waiting = selectors.DefaultSelector()
    for number in range(CONNECTIONS):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(path))
        connection.setblocking(False)
        waiting.register(connection, selectors.EVENT_WRITE, number * len(story) // CONNECTIONS)
    for key in waiting.get_map().values():
        start = story.index(b"\n", key.data) + 1  # each begins at another line of the story
        waiting.modify(key.fileobj, selectors.EVENT_WRITE, start)
    os.set_blocking(0, False)
    sent, start_s = 0, time.monotonic()
    while not _ended():
        for key, _ in waiting.select(STEP_S):
            taken = os.write(key.fd, story[key.data : key.data + PIECE_BYTES])
            waiting.modify(key.fileobj, selectors.EVENT_WRITE, (key.data + taken) % len(story))
            sent += taken
    print(sent / len(story) * STORY / (time.monotonic() - start_s), flush=True)


def _ended() -> bool:
    try:
        return os.read(0, 1) == b""
    except BlockingIOError:
        return False


def _below(run: Callable[[], None]) -> int:
    """Runs it in a child, which makes this process its agent: the benchmark must not be that."""
    pid = os.fork()
    if pid == 0:
        run()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["ask", "flood"])
    parser.add_argument("path", type=Path)
    parser.add_argument("number", type=int, help="approvals, or events/s; 0: as many as taken")
    parser.add_argument("--core", type=int, default=0, help="the core's pid")
    given = parser.parse_args()
    if given.role == "ask":
        sys.exit(_below(lambda: ask(given.path, given.number, given.core)))
    if given.number:
        flood(given.path, given.number)
    else:
        saturate(given.path)
