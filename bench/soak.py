"""A core under an hour's simulated load: `make soak`. Fails where something grows that should not.

`python -m bench.soak [--minutes N] [--leak BYTES]`. Prints at each tenth, when all that waits has
been answered, what the core holds: memory, descriptors, threads, and bytes of its journal. What a
core keeps up to a bound is bounded so low here (bench/soak_core.py) that it is full by half of the
time; the second half is judged. What is kept without one is what calls of models have cost, of
which the load counts how many it told. A leak that is planted with `--leak` shows that one is
found: in an hour those of 500 bytes an event and more, in less time only larger ones.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec

from bench.extension import PYTHON
from bench.soak_load import Load

MINUTES = 60
PARTS = 10
MODEL_CALL_BYTES = 1024
"""At most what a call of a model takes in the ledger, its reader and its file, which are kept."""

SLACK_BYTES = 6 * 1024 * 1024
"""For what is not attributed: 3.5 MiB beside the calls of models in the hour that was measured."""

SPARE = 3
"""Descriptors and threads that may be in use for a moment when they are counted."""

CONFIG = """
[approval]
timeout_s = 1
unattended_timeout_s = 1
margin_s = 1

[journal]
max_size_mb = 16

[[extension]]
id = "looks-on"
manifest = "{place}/manifest.json"
permissions = ["tools.intercept"]

[[sink]]
type = "jsonl"
path = "{place}/sink.jsonl"
kinds = ["tool.*", "approval.*"]
"""


class Sample(msgspec.Struct, frozen=True):
    """What a core holds at one moment."""

    events: int
    model_calls: int
    rss_bytes: int
    descriptors: int
    threads: int
    journal_bytes: int


def faults(samples: Sequence[Sample]) -> list[str]:
    """What of these samples, one for each part of the time, should not be so."""
    middle, last = samples[len(samples) // 2 - 1], samples[-1]
    events = last.events - middle.events
    grown = last.rss_bytes - middle.rss_bytes
    limit = SLACK_BYTES + MODEL_CALL_BYTES * (last.model_calls - middle.model_calls)
    found = []
    if grown > limit:
        found.append(
            f"memory grew by {grown:,} bytes over the last {events:,} events, more than {limit:,}"
        )
    for what in ("descriptors", "threads"):
        before, after = getattr(middle, what), getattr(last, what)
        if after > before + SPARE:
            found.append(f"{what} grew from {before} to {after}")
    return found


def look(pid: int, state: Path, load: Load) -> Sample:
    """What this core holds now."""
    process = Path(f"/proc/{pid}")
    pages = int((process / "statm").read_text().split()[1])
    journals = [each for each in state.rglob("journal*") if each.is_file()]
    return Sample(
        events=load.events,
        model_calls=load.model_calls,
        rss_bytes=pages * os.sysconf("SC_PAGE_SIZE"),
        descriptors=len(list((process / "fd").iterdir())),
        threads=len(list((process / "task").iterdir())),
        journal_bytes=sum(each.stat().st_size for each in journals),
    )


@contextmanager
def serving(place: Path, leak_bytes: int) -> Iterator[dict[str, Any]]:
    """A core with all its places below one folder: its ready line.

    It has one heap: how much several of them keep free differs more than what is looked for.
    """
    home, config = place / "home", place / "config.toml"
    (home / ".claude" / "projects" / "-srv-app").mkdir(parents=True)
    extension = place / "extension.py"
    extension.write_text(PYTHON)
    manifest = {
        "command": sys.executable,
        "args": [str(extension)],
        "permissions": ["tools.intercept"],
        "hooks": [{"hook": "before_tool_call"}],
    }
    (place / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    config.touch(mode=0o600)
    config.write_text(CONFIG.format(place=place))
    named = {"RUNTIME_DIR": place / "run", "STATE_DIR": place / "state", "CONFIG": config}
    env = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE")}
    env |= {f"WATCHGATE_{name}": str(path) for name, path in named.items()}
    env |= {"HOME": str(home), "XDG_CACHE_HOME": str(place / "cache")}
    env |= {"MALLOC_ARENA_MAX": "1", "WATCHGATE_SOAK_LEAK": str(leak_bytes)}
    with subprocess.Popen(
        [sys.executable, "-m", "bench.soak_core"], stdout=subprocess.PIPE, env=env
    ) as core:
        assert core.stdout is not None
        try:
            ready: dict[str, Any] = msgspec.json.decode(core.stdout.readline())
            yield ready
        finally:
            core.terminate()


async def soak(ready: dict[str, Any], place: Path, minutes: int) -> list[Sample]:
    """Puts this load on it, and looks at each tenth."""
    transcripts = place / "home" / ".claude" / "projects" / "-srv-app"
    load = Load(Path(ready["ingest"]), Path(ready["control"]), transcripts)
    samples: list[Sample] = []
    began_s = time.monotonic()
    async with load.operator():
        for part in range(PARTS):
            for minute in range(part * minutes // PARTS, (part + 1) * minutes // PARTS):
                await load.minute(minute)
            await anyio.sleep(1)
            samples.append(look(ready["pid"], place / "state", load))
            _say(samples[-1], part + 1, time.monotonic() - began_s)
    print(f"{load.answers:,} answered, {load.held:,} of them were held")
    return samples


def _say(sample: Sample, part: int, took_s: float) -> None:
    print(
        f"{part}/{PARTS}  {sample.events:>7,} events  {sample.rss_bytes / 2**20:6.1f} MiB"
        f"  {sample.descriptors:3} descriptors  {sample.threads:2} threads"
        f"  journal {sample.journal_bytes / 2**20:5.1f} MiB  {took_s:5.0f} s",
        flush=True,
    )


def main() -> int:
    """Prints the samples; exit 1 where something grew."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=int, default=MINUTES, help="of simulated work")
    parser.add_argument("--leak", type=int, default=0, help="bytes to lose with each event")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wg-soak-") as folder:
        place = Path(folder)
        with serving(place, given.leak) as ready:
            samples = anyio.run(soak, ready, place, given.minutes)
    found = faults(samples)
    print("\n".join(found) or "nothing grew that should not")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
