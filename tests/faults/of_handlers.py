"""Faults of what the operator added: hook commands, extensions and sinks."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.faults.trial import Trial
from tests.faults.words import Component, Fault, Gets, Harm, When, Where, held

OF = Component.HANDLER
COMMANDS = {
    "crash": ["sh", "-c", "kill -SEGV $$"],
    "hang": ["sleep", "60"],
    "garbage": ["echo", "{"],
    "missing": ["@/no-such-program"],
}
EXTENSIONS = {
    "dies": "raise SystemExit(3)",
    "mute": "import time; time.sleep(600)",
}


def _handler(name: str) -> str:
    limit_s = 0.3 if name == "hang" else 20
    return f"""[[handler]]
id = "{name}"
on = ["tool.pre", "tool.permission"]
command = {json.dumps(COMMANDS[name])}
timeout_s = {limit_s}
match = {{ input_contains = "mark-{name}" }}
"""


def _extension(name: str) -> str:
    return f"""[[extension]]
id = "{name}"
manifest = "@/{name}/manifest.json"
permissions = ["tools.intercept"]
timeout_s = 0.3
"""


SINKS = """[[sink]]
type = "unix-socket"
path = "@/deaf.sock"
queue = 5
[[sink]]
type = "unix-socket"
path = "@/gone.sock"
[[sink]]
type = "webhook"
url = "http://127.0.0.1:9/never"
[[sink]]
type = "jsonl"
path = "/dev/full"
"""
ADDED = Where(config="".join(map(_handler, COMMANDS)) + "".join(map(_extension, EXTENSIONS)))
COPIED = Where(config=SINKS)


def marked(name: str) -> Harm:
    """A core with all of these, and calls that one of them wants to see."""

    @contextmanager
    def harm(trial: Trial) -> Iterator[None]:
        trial.mark = f"mark-{name}"
        for each, program in EXTENSIONS.items():
            folder = trial.world.top / each
            folder.mkdir(exist_ok=True)
            (folder / "main.py").write_text(program)
            (folder / "manifest.json").write_text(json.dumps(_manifest(each)))
        trial.world.start()
        yield

    return harm


def _manifest(name: str) -> dict[str, object]:
    wanted = {"input_contains": f"mark-{name}"}
    return {
        "protocol_version": 1,
        "runtime": "process",
        "command": sys.executable,
        "args": ["main.py"],
        "permissions": ["tools.intercept"],
        "hooks": [{"hook": "before_tool_call", "match": wanted}],
    }


@contextmanager
def no_sink_takes(trial: Trial) -> Iterator[None]:
    """One sink never reads, one is not there, one cannot be reached, one has no room."""
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(trial.world.top / "deaf.sock"))
        deaf.listen(1)
        trial.world.start()
        yield


def fails(what: str, name: str, because: str) -> Fault:
    """A gate of the operator's that fails; no extension is asked about a relay."""
    return Fault(
        what=what,
        of=OF,
        gate_read=Gets.DENIED,
        relay=Gets.DENIED if name in COMMANDS else Gets.HELD,
        when=When.LIMIT if name in ("hang", "mute") else When.AT_ONCE,
        because=because,
        where=ADDED,
        harm=marked(name),
    )


HANDLERS = (
    fails("a hook command crashes", "crash", "crash failed (crash)"),
    fails("a hook command hangs", "hang", "hang failed (timeout)"),
    fails("a hook command prints garbage", "garbage", "garbage failed (parse)"),
    fails("a hook command is missing", "missing", "missing failed (spawn)"),
    fails("an extension crashes", "dies", "dies failed"),
    fails("an extension hangs", "mute", "mute failed (timeout)"),
    held(OF, "sinks hang, are gone, are full", where=COPIED, harm=no_sink_takes),
)
