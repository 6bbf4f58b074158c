"""One call of an extension process, against starting a trivial program and waiting for it."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import msgspec

from bench.figures import Beside, Figure, left_out, report
from watchgate.core.dispatch.extensions.extension_spec import ExtensionSpec, load_extension
from watchgate.core.dispatch.handler_config import ExtensionConfig
from watchgate.core.model.events import Event, Lane, Tool, ToolCall
from watchgate.core.model.verdicts import Allow
from watchgate.service.runners.extension import ExtensionDeps, ExtensionRunner, Extensions
from watchgate.service.system.system_clock import SystemClock

LIMIT = 0.15
SOURCE = Path(__file__).with_suffix(".c")
NOTHING = "int main(void) { return 0; }"
BLOCK = 20
PYTHON = """
import json, sys
read, write = sys.stdin.buffer, sys.stdout.buffer
while line := read.readline().strip():
    read.readline()
    ask = json.loads(read.read(int(line.split(b":")[1])))
    first = ask["method"] == "initialize"
    result = {"protocol_version": 1, "capabilities": {}} if first else {"action": "continue"}
    body = json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}).encode()
    write.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    write.flush()
"""


def compiled(compiler: str, source: Path, folder: Path) -> Path:
    """The program made of a C file."""
    program = folder / source.stem
    subprocess.run([compiler, "-O2", "-o", program, source], check=True)
    return program


def spec(name: str, argv: list[str], folder: Path) -> ExtensionSpec:
    """An extension on the tool gate, run by this command."""
    manifest = {
        "command": argv[0],
        "args": argv[1:],
        "permissions": ["tools.intercept"],
        "hooks": [{"hook": "before_tool_call"}],
    }
    config = ExtensionConfig(id=name, manifest="manifest.json", permissions=("tools.intercept",))
    path = str(folder / "manifest.json")
    return load_extension(config, msgspec.json.encode(manifest), path, {}, dict(os.environ))


def event() -> Event:
    """A shell command that is about to run."""
    tool = Tool("Bash", "Bash", "shell", {"command": "make test", "description": "Tests"}, "")
    return Event(
        kind="tool.pre",
        native="PreToolUse",
        agent="claude",
        session="one",
        lane=Lane.GATE,
        at=SystemClock().now(),
        body=ToolCall(tool),
    )


def spawn_s(program: Path) -> float:
    """Seconds that a trivial program takes from its start to its end."""
    start = time.perf_counter()
    pid = os.posix_spawn(program, [str(program)], {})
    _, status = os.waitpid(pid, 0)
    took_s = time.perf_counter() - start
    assert status == 0
    return took_s


async def trip_s(extension: ExtensionRunner, asked: Event) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    said = await extension.run(asked, 5.0)
    took_s = time.perf_counter() - start
    assert said.verdict == Allow(), said
    return took_s


async def medians(turns: int, block: int, nothing: Path, specs: list[ExtensionSpec]) -> list[float]:
    """The spawn's median and that of each extension, in turns of so many each."""
    kept: list[list[float]] = [[] for _ in range(len(specs) + 1)]
    extensions = Extensions(ExtensionDeps(clock=SystemClock()))
    asked = event()
    async with anyio.create_task_group() as tasks:
        extensions.start(specs, tasks)
        running = [extensions.runner(each.handlers[0].id) for each in specs]
        for _ in range(turns):
            kept[0] += [spawn_s(nothing) for _ in range(block)]
            for each, samples in zip(running, kept[1:], strict=True):
                samples += [await trip_s(each, asked) for _ in range(block)]
        await extensions.stop()
    return list(map(statistics.median, kept))


def figures(turns: int) -> Iterator[Figure]:
    """An extension written in C and one in Python, asked again and again and one call at a time.

    A call that comes alone finds cold caches and a sleeping process, as does every spawn.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        left_out("extension round trips", "there was no cc")
        return
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        folder = Path(directory)
        source = folder / "nothing.c"
        source.write_text(NOTHING)
        nothing, quick = compiled(compiler, source, folder), compiled(compiler, SOURCE, folder)
        script = folder / "slow.py"
        script.write_text(PYTHON)
        commands = {"C": [str(quick)], "Python": [sys.executable, "-I", "-S", str(script)]}
        specs = [spec(name, argv, folder) for name, argv in commands.items()]
        steady = anyio.run(medians, turns, BLOCK, nothing, specs)
        lone = anyio.run(medians, turns, 1, nothing, specs)
    for what, limit, (base_s, *trips_s) in (
        ("", LIMIT, steady),
        (", each after a spawn", None, lone),
    ):
        for name, took_s in zip(commands, trips_s, strict=True):
            yield Figure(
                f"extension round trip, in {name}{what}",
                took_s * 1e6,
                "us",
                Beside("posix_spawn of a program that does nothing", base_s * 1e6),
                limit,
                f"wall, medians of {turns} turns",
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100)
    return report(figures(parser.parse_args().turns))


if __name__ == "__main__":
    sys.exit(main())
