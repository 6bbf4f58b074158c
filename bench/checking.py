"""The short form: fails where a ratio got worse, each time that it is measured."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from bench.plan import AGAIN, PARTS
from bench.reporting import REPORT
from bench.running import LeftOut, Told, key, measured, regressed


def run(names: Sequence[str]) -> int:
    """Measures the files that have a short form; the exit code, 1 where a ratio got worse."""
    start = time.monotonic()
    kept = json.loads(REPORT.read_text())["figures"] if REPORT.exists() else []
    reported = {key(figure): figure for figure in kept}
    failed = [why for name in names for why in _worse(name, reported)]
    print(f"checked in {time.monotonic() - start:.0f} s: {len(failed)} worse")
    for why in failed:
        print(f"WORSE {why}")
    return 1 if failed else 0


def _worse(name: str, reported: dict[str, Told]) -> list[str]:
    """The figures of a file that are worse in every one of its turns.

    A turn that failed clears nobody.
    """
    options = PARTS[name].check
    if options is None:
        return []
    worse: dict[str, str] = {}
    for turn in range(AGAIN + 1):
        found: dict[str, str] = {}
        failed = ""
        for each in measured(name, options):
            if isinstance(each, LeftOut):
                print(f"  {each.name}: left out, {each.why}")
                if each.failed:
                    failed = found[f"bench.{name}"] = each.why
            else:
                found[key(each)] = regressed(each, reported)
        suspects = worse if turn else found
        worse = {each: why for each in suspects if (why := found.get(each) or failed)}
        print(f"{name}: {len(suspects)} figures, {len(worse)} worse", flush=True)
        print(*(f"  {each}: {why}\n" for each, why in worse.items()), sep="", end="")
        if not worse:
            break
    return [f"{each}: {why}" for each, why in worse.items()]
