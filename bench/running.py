"""Runs files of figures, each in a process of its own, and says how a figure stands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bench.figures import BROKEN
from bench.plan import MISSED, PARTS, UNSTEADY

Told = dict[str, Any]


class LeftOut(NamedTuple):
    """Figures of a file that were not measured: what could not run here, or what `failed`."""

    part: str
    name: str
    why: str
    failed: bool = False


def measured(name: str, options: Sequence[str]) -> Iterator[Told | LeftOut]:
    """The figures of one file, as they come; each is named for its group and its file.

    A file that ends by itself is told last, so that it takes no other file's figures with it.
    """
    command = [sys.executable, "-m", f"bench.{name}", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said = json.loads(line)
            if "left_out" in said:
                yield LeftOut(name, said["left_out"], said["why"])
            else:
                yield {"group": PARTS[name].group, "part": name, **said}
    if process.returncode not in (0, BROKEN):
        why = f"`python -m bench.{name}` ended with {process.returncode}"
        yield LeftOut(name, f"what was left of {name}", why, failed=True)


def key(figure: Told) -> str:
    """What tells a figure from all others: its name and what it stands beside."""
    beside = figure["beside"]
    return f"{figure['name']} / {beside['name']}" if beside else str(figure["name"])


def standing(figure: Told) -> str:
    """`ok`, `over` its limit, or `MISSED` where a ratio is over it by more than the machine moves.

    Over an absolute limit is only over: it depends on the machine.
    """
    if figure["limit"] is None:
        return "told"
    if figure["ok"]:
        return "ok"
    ratio = figure["ratio"]
    return "MISSED" if figure["limit_unit"] == "x" and ratio > figure["limit"] * MISSED else "over"


def regressed(figure: Told, reported: Mapping[str, Told]) -> str:
    """Why a ratio is not what it was, or nothing: its limit, or its place in the report.

    A report of another machine holds: the two sides of a ratio move together. What misses its limit
    in the report as well is held to the report alone.
    """
    ratio, limit = figure["ratio"], figure["limit"]
    if ratio is None or limit is None or key(figure) in UNSTEADY:
        return ""
    before = reported.get(key(figure))
    known = before is not None and not before["ok"]
    if figure["limit_unit"] == "x" and ratio > limit * MISSED and not known:
        return f"{ratio:.3g} x is over its limit of {limit:g} x"
    margin = PARTS[figure["part"]].margin
    if before is None or before["ratio"] is None or ratio <= before["ratio"] * margin:
        return ""
    return f"{ratio:.3g} x is over {margin:g} times the {before['ratio']:.3g} x of the report"
