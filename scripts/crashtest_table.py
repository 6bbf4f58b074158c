"""Writes docs/crashtest.md from docs/crashtest.jsonl, which `watchgate crashtest --json` printed.

`python -m scripts.crashtest_table [--check | --run]`: `--run` first puts the agents that the tests
pin through it, which needs npm and some minutes, and keeps what is known of other versions.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from scripts.marked import as_table, written
from tests.agents_real.harness import npm
from tests.agents_real.harness.packages import PACKAGES
from watchgate.service.crashtest.agent_drivers import DRIVERS
from watchgate.service.crashtest.misbehaving_hooks import COMMANDS, PLUGINS, OddHooks
from watchgate.service.crashtest.trial import NO_HOOK, OURS, OUTCOME_WORDS, TrialResult

ROOT: Final = Path(__file__).resolve().parent.parent
DATA: Final = ROOT / "docs" / "crashtest.jsonl"
DOCUMENT: Final = ROOT / "docs" / "crashtest.md"
HEAD: Final = """# Crash test

Where released agents fail open: what becomes of a tool call when the hook before it misbehaves.
`make crashtest-table` writes this file from the results in `docs/crashtest.jsonl`. They are of the
versions named here, and yours may differ: `watchgate crashtest AGENT` makes the same runs with the
agent that you have installed.

Each cell is one run. A scripted model on 127.0.0.1 asks for one harmless command, in a mode in
which the agent runs commands unasked; home and work folder are thrown away, the key is a dummy, and
a proxy refuses whatever else the agent wants from the network.

- **RAN**: the file that the command writes was there. With this hook the agent fails open.
- blocked: it was not there, and the agent told the model of the call.
- not known: neither can be shown; below the table stands what is missing.

Nothing is claimed of an agent unless its call runs without any hook, and is blocked by a hook that
denies in the agent's own form: the first two rows. What Watchgate's hook answers when something on
its own side is broken is in [faults.md](faults.md).
"""
COMMANDS_HEAD: Final = """## Agents that run a command before each call

The hook that hangs has a limit of 2 seconds, every other one of 30. The last row is what
`watchgate install` writes, with no core running.
"""
PLUGINS_HEAD: Final = """## OpenCode, which loads plugins

There is no command and no exit status: a plugin denies by throwing, and nothing limits its time.
"""
FOLLOWS: Final = "## What follows, and what Watchgate's own hook does about it\n"
_CELLS: Final = OUTCOME_WORDS | {"ran": "**RAN**"}


def read(data: str) -> list[TrialResult]:
    """The results in this text, a JSON object a line."""
    return [msgspec.json.decode(line, type=TrialResult) for line in data.splitlines()]


def render(results: Sequence[TrialResult]) -> str:
    """The document."""
    parts = [
        HEAD,
        COMMANDS_HEAD,
        _outcomes(COMMANDS, results),
        PLUGINS_HEAD,
        _outcomes(PLUGINS, results),
        FOLLOWS,
        _follows(),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _outcomes(odd: OddHooks, results: Sequence[TrialResult]) -> str:
    tried = [each for each in results if DRIVERS[each.agent].odd is odd]
    versions = list(dict.fromkeys((each.agent, each.version) for each in tried))
    found = {(each.agent, each.version, each.hook): _CELLS[each.outcome] for each in tried}
    hooks = {
        NO_HOOK: "no hook at all",
        odd.denies.id: odd.denies.label,
        **{each.id: each.label for each in odd.hooks},
        OURS: "Watchgate's own hook, no core",
    }
    rows = [
        (label, *(found.get((*version, hook), "-") for version in versions))
        for hook, label in hooks.items()
    ]
    # Without a hook a call is meant to run.
    rows[0] = (rows[0][0], *(cell.replace("**RAN**", "runs") for cell in rows[0][1:]))
    table = as_table(("hook", *(" ".join(version) for version in versions)), rows)
    open_ends = [
        f"- {each.agent} {each.version}, {each.about}: {each.why}."
        for each in tried
        if each.outcome == "unknown"
    ]
    return "\n".join((table, *(("", "Not known:", "", *open_ends) if open_ends else ())))


def _follows() -> str:
    rows = [
        (each.label, each.ran, each.watchgate) for odd in (COMMANDS, PLUGINS) for each in odd.hooks
    ]
    return as_table(("hook", "if the call runs", "Watchgate's own hook"), rows)


def run() -> str:
    """The results of all pinned agents, after those of other versions that are known."""
    pinned = {(name, package.version) for name, package in PACKAGES.items()}
    known = read(DATA.read_text(encoding="utf-8")) if DATA.exists() else []
    kept = [each for each in known if (each.agent, each.version) not in pinned]
    lines = [msgspec.json.encode(each).decode() for each in kept]
    for name in DRIVERS:
        program = npm.install(PACKAGES[name])
        command = [sys.executable, "-m", "watchgate", "crashtest", name, "--json"]
        done = subprocess.run(
            [*command, "--program", program], stdout=subprocess.PIPE, text=True, check=True
        )
        lines += done.stdout.splitlines()
    return "\n".join(lines) + "\n"


def main(check: bool) -> int:
    """Writes the document, or with `check` say whether it is what the results say."""
    text = render(read(DATA.read_text(encoding="utf-8")))
    return written({DOCUMENT: text}, "crashtest-table", check=check)


if __name__ == "__main__":
    if "--run" in sys.argv[1:]:
        DATA.write_text(run(), encoding="utf-8")
    sys.exit(main("--check" in sys.argv[1:]))
