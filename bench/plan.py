"""Which figures there are, in the order of the report, and how each file of them is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Part(NamedTuple):
    """One file of figures: the group of the report that it belongs to, and its options.

    `check` are the options of the short form, where there are figures that hold on a busy machine;
    `margin` is how far their ratios may be above those of the report.
    """

    group: str
    quick: tuple[str, ...]
    report: tuple[str, ...] = ()
    check: tuple[str, ...] | None = None
    margin: float = 1.5


PARTS: Final[Mapping[str, Part]] = {
    "client": Part("Hook client", ("--quick",), check=("--quick",), margin=1.25),
    "client_peers": Part("Hook client", ("--runs=10",), check=("--runs=9",)),
    "native_client": Part("Hook client", ("--runs=5",), check=("--runs=7",)),
    "handback": Part("Hook client", ("--runs=15",)),
    "ingest": Part(
        "Ingest",
        ("--runs=3", "--events=60000", "--connects=500"),
        check=("--runs=5", "--events=60000", "--connections=1", "--connects=0"),
    ),
    "core": Part("Ingest", ("--runs=3",), ("--runs=5",), ("--runs=2",)),
    "memory": Part("Ingest", ("--records=50000",), check=("--records=20000",), margin=2.0),
    "approval": Part("Approvals", ("--runs=1", "--count=40")),
    "dispatch": Part("Dispatch", ("--runs=9",), check=("--runs=9",), margin=1.35),
    "hooks": Part("Dispatch", ("--runs=60",), check=("--runs=60",)),
    "extension": Part("Dispatch", ("--turns=40",)),
    "policy": Part("Policy", ("--runs=31", "--lines=2000"), check=("--runs=41", "--lines=500")),
    "journal": Part(
        "Journal",
        ("--runs=3", "--records=200000"),
        ("--runs=5", "--records=300000"),
        check=("--runs=5", "--records=0"),
        margin=1.35,
    ),
    "history": Part("History and search", ("--records=100000",)),
    "console": Part(
        "Console",
        ("--ticks=10", "--seconds=2", "--runs=1"),
        check=("--no-load", "--ticks=5", "--runs=1"),
    ),
    "frames": Part("Console", ("--runs=30",), check=("--runs=20",)),
    "keys": Part("Console", ("--keys=30", "--verdicts=6", "--idle=5"), ("--keys=80",)),
    "usage_parse": Part("Transcripts", ("--runs=5", "--mib=32"), check=("--runs=5", "--mib=16")),
    "usage_scan": Part("Transcripts", ("--mib=256", "--runs=3"), ("--mib=512",)),
    "usage_command": Part("Transcripts", ("--runs=3", "--mib=512"), ("--runs=5", "--mib=512")),
    "usage_follow": Part("Transcripts", ("--ticks=100",)),
    "usage_live": Part("Transcripts", ("--runs=4", "--mib=64"), ("--runs=15",)),
}
UNSTEADY: Final = frozenset(
    {
        "dispatch, no handler, CPU / a function that looks up a dictionary",
        "command hook that does nothing, wall / posix_spawn and waitpid, no streams",
        "command hook that reads and denies, wall / posix_spawn and waitpid, no streams",
    }
)
"""Not checked: where a process happens to lie in memory moves a call of 30 ns by a quarter, and
neighbours move times on the wall."""

MISSED: Final = 1.1
"""A ratio may miss its limit by so much: two things side by side still move by some percent."""

AGAIN: Final = 2
"""How often what misses is measured again; it fails only where it misses each time."""
