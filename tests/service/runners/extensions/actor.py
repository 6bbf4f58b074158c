"""An extension for tests: speaks protocol 1, and misbehaves as its first argument says.

It notes each start and each method that it is asked in `log`, in its working directory.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Message = dict[str, Any]
LOG = Path("log")


def note(word: str) -> None:
    with LOG.open("a") as log:
        log.write(f"{word}\n")


def read() -> Message | None:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        length = int(line.split(b":")[1])
    body = sys.stdin.buffer.read(length) if length else b""
    return json.loads(body) if body else None


def write(**fields: Any) -> None:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    sys.stdout.buffer.write(b"content-length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def raw(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def lives() -> int:
    return LOG.read_text().split().count("start")


def go_on(ask: Message) -> None:
    write(id=ask["id"], result={"action": "continue"})


def die(_ask: Message) -> None:
    sys.stderr.write("the last words\n")
    sys.stderr.flush()
    os._exit(3)


def die_once(ask: Message) -> None:
    if lives() == 1:
        die(ask)
    go_on(ask)


def die_thrice(ask: Message) -> None:
    if lives() <= 3:
        die(ask)
    go_on(ask)


def tell_twice(ask: Message) -> None:
    if lives() == 1:
        die(ask)
    tell(ask)


def killed(_ask: Message) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def hang(_ask: Message) -> None:
    """Answers nothing."""


def deaf(_ask: Message) -> None:
    time.sleep(3600)


def hang_once(ask: Message) -> None:
    if "asked-before" in LOG.read_text():
        go_on(ask)
    note("asked-before")


def garbage(_ask: Message) -> None:
    raw(b"Traceback (most recent call last):\n")
    time.sleep(3600)


def no_json(_ask: Message) -> None:
    raw(b"Content-Length: 3\r\n\r\nno!")
    time.sleep(3600)


def hang_up(_ask: Message) -> None:
    os.close(1)
    time.sleep(3600)


def huge(_ask: Message) -> None:
    raw(b"Content-Length: 5000000\r\n\r\n" + b"x" * 5_000_000)
    time.sleep(3600)


def error(ask: Message) -> None:
    write(id=ask["id"], error={"code": -32000, "message": "no database"})


def twins(ask: Message, held: list[Message] = []) -> None:  # noqa: B006 - kept on purpose
    """Answers each pair in reverse, so that the first waits for the second."""
    held.append(ask)
    while len(held) == 2:
        for each in (held[1], held[0]):
            command = each["params"]["tool_input"]["command"]
            write(id=each["id"], result={"action": "block", "reason": command})
        held.clear()


def strange(ask: Message) -> None:
    """Answers to nobody, a notification, and only then the answer."""
    for id in (ask["id"] + 1000, ask["id"] - 1, str(ask["id"]), True, None, float(ask["id"])):
        write(id=id, result={"action": "block", "reason": "not yours"})
    write(method="log", params={"text": "hello"})
    go_on(ask)


def remember(ask: Message) -> None:
    """Use the memory, and block with what it answered."""
    asks = [
        ("memory.append", {"content": "seen"}),
        ("memory.query", {}),
        ("tools.register", {"name": "x"}),
    ]
    said = []
    for number, (method, params) in enumerate(asks):
        write(id=f"mine-{number}", method=method, params=params)
        answer = read() or {}
        said.append(answer.get("result") or answer["error"]["code"])
    write(id=ask["id"], result={"action": "block", "reason": json.dumps(said)})


def tell(ask: Message) -> None:
    """Block with everything that it was told."""
    place = {"cwd": str(Path.cwd()), "env": dict(os.environ)}
    said = {"params": ask["params"], "initialize": FIRST, **place}
    write(id=ask["id"], result={"action": "block", "reason": json.dumps(said)})


def grandchild(ask: Message) -> None:
    """Leaves a child behind that holds every pipe, and die."""
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(3600)"])
    note(f"pid:{child.pid}")
    die(ask)


def nurse(ask: Message) -> None:
    """Starts a child that holds every pipe, and goes on."""
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(3600)"])
    note(f"pid:{child.pid}")
    go_on(ask)


def noise(ask: Message) -> None:
    sys.stderr.buffer.write(b"one\n\xfftwo\n\n" + b"x" * 100_000 + b"\nlast without end")
    sys.stderr.flush()
    go_on(ask)


ON_HOOK: dict[str, Callable[[Message], None]] = {
    each.__name__: each
    for each in (
        go_on,
        die,
        die_once,
        die_thrice,
        tell_twice,
        killed,
        hang,
        deaf,
        hang_once,
        garbage,
        no_json,
        hang_up,
        huge,
        error,
        twins,
        strange,
        remember,
        tell,
        grandchild,
        nurse,
        noise,
    )
}
FIRST: Message = {}


def initialize(mode: str, ask: Message) -> None:
    FIRST.update(ask["params"])
    if mode == "never_up":
        die(ask)
    if mode == "mute":
        time.sleep(3600)
    if mode == "refuse":
        write(id=ask["id"], error={"code": 1, "message": "no licence"})
    else:
        version = 2 if mode == "newer" else 1
        write(id=ask["id"], result={"protocol_version": version, "capabilities": {}})


def main() -> None:
    mode = sys.argv[1]
    note("start")
    note(f"pid:{os.getpid()}")
    while ask := read():
        note(ask["method"])
        if ask["method"] == "initialize":
            initialize(mode, ask)
        elif ask["method"] == "hook.handle":
            ON_HOOK.get(mode, go_on)(ask)
        elif mode not in ("stubborn", "slow_to_leave"):
            write(id=ask["id"], result=None)
            return
    note("end of input")
    if mode == "stubborn":
        time.sleep(3600)


main()
