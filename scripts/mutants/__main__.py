"""Breaks the program on purpose, one small patch at a time: the tests of the broken row must fail.

`python -m scripts.mutants [--only ROW...] [--jobs N] [--list]`. Every worker has a copy of the
tree, the checkout is never changed. A patch is killed when an assertion of one of its tests fails;
a test that cannot even be imported, or runs into a limit of time, shows nothing, and so counts as a
survivor.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from scripts.mutants.patches import all_mutants, named_tests, tests_of
from scripts.mutants.trying import Run, copied, ended, forked, tried_all, warm
from scripts.seed_coverage import ROOT


def line(run: Run) -> str:
    """One line of the table."""
    mutant = run.mutant
    return f"{mutant.row:<14} {run.fate:<12} {run.took_s:4.1f} s  {mutant.name}  [{run.why[:120]}]"


def chosen(arguments: Sequence[str]) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="ROW", nargs="+", help="only these rows, e.g. AP-4")
    parser.add_argument("--jobs", type=int, default=2, help="copies that work at once (2)")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Prints a row for each mutant; 1 unless all were killed and the tests pass without any."""
    options = chosen(arguments)
    named, began_s = named_tests(), time.monotonic()
    mutants = [each for each in all_mutants() if each.row in (options.only or (each.row,))]
    if untested := [each for each in mutants if not tests_of(each, named)]:
        print("\n".join(f"{each.row}: no test is named for it: {each.name}" for each in untested))
        return 1
    if not mutants:
        print(f"no mutant of {' '.join(options.only or ())}: --list shows which rows have some")
        return 1
    if options.list:
        print("\n".join(f"{each.row:<14} {each.file}: {each.name}" for each in mutants))
        return 0
    warm()
    with tempfile.TemporaryDirectory(prefix="mutants") as temporary:
        folder = Path(temporary)
        every = dict.fromkeys(test for each in mutants for test in tests_of(each, named))
        trees = [copied(ROOT, folder / "copy0")]
        pid, status = os.waitpid(forked(trees[0], every, compiles=True), 0)
        fate, why = ended(pid, status, trees[0])
        if fate != "survived":
            print(f"without any mutant: {fate}: {why}; mend that first")
            return 1
        trees += [copied(trees[0], folder / f"copy{n}") for n in range(1, options.jobs)]
        runs = []
        for run in tried_all(mutants, named, trees):
            print(line(run), flush=True)
            runs.append(run)
    left = [run for run in runs if run.fate != "killed"]
    took_s = time.monotonic() - began_s
    print(f"\n{len(runs) - len(left)} of {len(runs)} mutants killed in {took_s:.0f} s")
    for run in left:
        print(f"  {run.mutant.row}: {run.mutant.name}: {run.fate}: {run.why}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
