"""What `watchgate costs` takes over a month of transcripts, against only decoding their lines.

Both are processes of their own, from their start to their end, in turns: the user's command without
a cache of what it read before, and `usage_bare.py`. CPU time, with what the kernel does for them. A
first start also has to load the table of prices; what that said is kept for all later ones.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Beside, Figure, interleaved_medians, report
from bench.usage_files import write_bulk

LIMIT = 1.3
MIB = 1024 * 1024
BARE = Path(__file__).parent / "usage_bare.py"


class Runs:
    """The processes to measure, over the transcripts of a folder, with a home of their own."""

    def __init__(self, folder: Path, home: Path) -> None:
        self._folder = folder
        self._home = home
        self._env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(home),
            "WATCHGATE_RUNTIME_DIR": f"{home}/run",
            "CLAUDE_CONFIG_DIR": f"{folder}/claude",
            "CODEX_HOME": f"{folder}/codex",
        }

    def bare_s(self) -> float:
        """CPU seconds of decoding each line."""
        return self._cpu_s(str(BARE), str(self._folder))

    def first_s(self) -> float:
        """CPU seconds of the command where it never ran before."""
        for path in self._home.rglob("tariffs.json"):
            path.unlink()
        return self.command_s()

    def command_s(self) -> float:
        """CPU seconds of the command."""
        return self._cpu_s("-m", "watchgate", "costs", "--json")

    def _cpu_s(self, *words: str) -> float:
        before = _children_s()
        command = [sys.executable, *words]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=self._env)
        assert done.stdout.strip()
        return _children_s() - before


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def figures(folder: Path, times: int) -> Iterator[Figure]:
    size = sum(path.stat().st_size for path in folder.rglob("*.jsonl")) // MIB
    with tempfile.TemporaryDirectory() as home:
        runs = Runs(folder, Path(home))
        bare_s, first_s, later_s = interleaved_medians(
            [runs.bare_s, runs.first_s, runs.command_s], times
        )
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    for name, took_s in (("`costs`", later_s), ("the first `costs`", first_s)):
        told = f"{size:,} MiB, {peak} MiB of memory at most; medians of {times}"
        least = Beside("a process that only decodes the lines", bare_s)
        yield Figure(f"{name}, CPU", took_s, "s", least, LIMIT, told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--mib", type=int, default=1024, help="so many transcripts are written")
    parser.add_argument("--folder", type=Path, help="measure these (`claude`, `codex`) instead")
    given = parser.parse_args()
    if given.folder is not None:
        return report(figures(given.folder.resolve(), given.runs))
    with tempfile.TemporaryDirectory() as made:
        write_bulk(Path(made), given.mib * MIB)
        return report(figures(Path(made), given.runs))


if __name__ == "__main__":
    sys.exit(main())
