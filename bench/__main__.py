"""All figures, each file in a process of its own, and a table of them at the end.

`--report` keeps them: `bench/report.json`, from which docs/performance.md is made. `--check` is the
short form: ratios that hold on a busy machine, against their limits and against the report.

The exit code is 1 where a file failed and, but for `--report`, whose page says so, where a ratio
breaks its limit by more than a tenth: two things run side by side on a busy machine still move by
some percent. An absolute figure depends on the machine; it is shown as over, and no more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bench import checking, reporting
from bench.plan import PARTS
from bench.running import LeftOut, Told, measured, standing


def table(figures: Sequence[Told]) -> str:
    """One line for each figure: name, value, what stands beside it, limit, and how it stands."""
    rows = []
    for figure in figures:
        limit, beside = figure["limit"], figure["beside"]
        shown = "-" if limit is None else f"{limit:g} {figure['limit_unit']}"
        value = f"{figure['value']:g} {figure['unit']}"
        ratio = "-" if beside is None else f"{figure['ratio']:.3g} x"
        name = f"{figure['name']}; {beside['name']}" if beside else figure["name"]
        rows.append(f"{name:95} {value:>14} {ratio:>9} {shown:>9}  {standing(figure)}")
    return "\n".join(rows)


def main() -> int:
    """Measures what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer runs, rougher medians")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--report", action="store_true", help="keep what is measured")
    how.add_argument("--check", action="store_true", help="the short form, against the report")
    parser.add_argument("only", nargs="*", metavar="NAME", help=f"of: {', '.join(PARTS)}")
    given = parser.parse_args()
    if unknown := set(given.only) - set(PARTS):
        parser.error(f"no figures are called {', '.join(sorted(unknown))}")
    if given.check:
        return checking.run(given.only or list(PARTS))
    found: list[Told] = []
    missing: list[LeftOut] = []
    for name in given.only or PARTS:
        part = PARTS[name]
        options = part.quick if given.quick else part.report
        for figure in measured(name, options):
            if isinstance(figure, LeftOut):
                missing.append(figure)
                continue
            print(table([figure]), flush=True)
            found.append(figure)
    print(f"\n{table(found)}")
    for each in missing:
        print(f"LEFT OUT {each.name}: {each.why}")
    failed = any(each.failed for each in missing)
    if given.report:
        reporting.keep(found, missing)
        return int(failed)
    return int(failed or any(standing(figure) == "MISSED" for figure in found))


if __name__ == "__main__":
    sys.exit(main())
