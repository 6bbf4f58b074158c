"""Breaks the program on purpose, one small patch at a time: the tests of the broken row must fail.

`python scripts/mutants.py [--only ROW...] [--jobs N] [--list]`. The patches are data,
`tests/mutants/*.toml`. Every worker has a copy of the tree, the checkout is never changed. A patch
is killed when an assertion of one of its tests fails; a test that cannot even be imported, or runs
into a limit of time, shows nothing, and so counts as a survivor.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import runpy
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.seed_coverage import ROOT, find_tests, proofs

DATA = ROOT / "tests" / "mutants"
PACKAGE = Path("tui") / "watchgate"
COPIED = (
    *("tui", "tests", "styles", "scripts", "docs", "examples", "native"),
    *("hatch_build.py", "pyproject.toml", "README.md"),
)
E2E = "tests/e2e/"
LIMIT_S = 120
"""Longer than any selected test takes; a mutant that hangs is stopped then."""

SETTINGS = {"HYPOTHESIS_PROFILE": "mutants", "COLUMNS": "400", "WATCHGATE_TEST_WAIT_S": "10"}
"""Of every run: the same cases each time, whole lines, no long wait for what never comes."""
WARM = ("pytest", "hypothesis.stateful", "anyio.pytest_plugin", "msgspec", "syrupy", "textual.app")
OUTPUT = "output.txt"
CRASHED = 3

_QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # what is warm is imported already
_PYTEST = ("-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--tb=no", "-rfE", *_QUIET)
_NO_KILLS = ("ImportError", "ModuleNotFoundError", "SyntaxError", "NameError", "IndentationError")
_SAID = re.compile(
    r"^(FAILED|ERROR) (\S+?\.py)(?:::(\S+?)(?:\[.*?\])?)?(?: - (.*))?$", re.MULTILINE
)

Fate = Literal["killed", "survived", "no assertion", "out of time", "stale"]


class Mutant(NamedTuple):
    """One patch: `old`, which occurs once in `file` (below the package), becomes `new`.

    `tests` are what must notice it, as pytest names them; without any, all tests named for `row`.
    """

    row: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()


class Run(NamedTuple):
    """What became of a mutant, in how many seconds; `why` names the test that failed and how."""

    mutant: Mutant
    fate: Fate
    why: str = ""
    took_s: float = 0.0


def read_mutants(text: str) -> list[Mutant]:
    """The mutants of one TOML file, in its order; raises `TypeError` for a key that none has."""
    tables: list[dict[str, Any]] = tomllib.loads(text).get("mutant", [])
    return [Mutant(**{**table, "tests": tuple(table.get("tests", ()))}) for table in tables]


def all_mutants(folder: Path = DATA) -> list[Mutant]:
    """The mutants of every file, file by file."""
    files = sorted(folder.glob("*.toml"))
    return [each for file in files for each in read_mutants(file.read_text(encoding="utf-8"))]


def named_tests(root: Path = ROOT) -> dict[str, list[str]]:
    """Every row with the tests that are named for it, as pytest names them.

    Those in `tests/e2e` are left out: they start the installed program, which no patch reaches.
    """
    return {
        row: [
            f"{place}::{name}"
            for place, names in places.items()
            for name in names
            if not place.startswith(E2E)
        ]
        for row, places in proofs(find_tests(root / "tests")).items()
    }


def tests_of(mutant: Mutant, named: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What is run against a mutant."""
    return mutant.tests or tuple(named.get(mutant.row, ()))


def fault(mutant: Mutant, root: Path = ROOT) -> str:
    """Why the patch cannot be applied to the tree; empty when it can."""
    path = root / PACKAGE / mutant.file
    if not path.is_file():
        return f"there is no file {PACKAGE / mutant.file}"
    count = path.read_text(encoding="utf-8").count(mutant.old)
    return "" if count == 1 else f"`old` occurs {count} times in {mutant.file}, not once"


def judged(code: int, output: str) -> tuple[Fate, str]:
    """The fate that pytest's exit code and summary tell of, and the test and error that did it."""
    if code == 0:
        return "survived", "every test passed"
    said = _SAID.search(output)
    if said is None:
        return "no assertion", output.strip().splitlines()[-1] if output.strip() else f"exit {code}"
    how, place, test, error = said.groups()
    why = f"{test or place}: {error or 'no message'}"
    if code != 1 or how == "ERROR" or (error or "").startswith(_NO_KILLS):
        return "no assertion", why
    return "killed", why


def copied(source: Path, folder: Path) -> Path:
    """A copy of the tree that the tests need, with its bytecode."""
    folder.mkdir()
    for name in COPIED:
        if (source / name).is_dir():
            unneeded = shutil.ignore_patterns("__snapshots__", "agents_real")
            shutil.copytree(source / name, folder / name, ignore=unneeded)
        elif (source / name).exists():
            shutil.copy2(source / name, folder / name)
    return folder


def warm() -> None:
    """Import what the tests import and no patch changes; every run is forked from here."""
    runpy.run_path(str(ROOT / "tests" / "environment.py"))
    for name in WARM:
        importlib.import_module(name)


def forked(tree: Path, tests: Iterable[str], *, compiles: bool = False) -> int:
    """Start pytest in a copy, as a process group of its own; its number.

    Its output goes to `OUTPUT` in the copy. Only with `compiles` it leaves bytecode behind: that of
    a mutant would be taken for the next one's, which may be as long and of the same second.
    """
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        signal.alarm(LIMIT_S)
        os.chdir(tree)
        output = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.path[:] = [str(tree), str(tree / "tui"), *sys.path[2:]]
        importlib.import_module("tests.environment")  # once: it sets anew what is set here
        os.environ.update(SETTINGS, PYTHONPATH=str(tree / "tui"))
        sys.dont_write_bytecode = not compiles
        code = int(importlib.import_module("pytest").main([*_PYTEST, *tests]))
        sys.stdout.flush()
        os._exit(code)
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(CRASHED)


def ended(pid: int, status: int, tree: Path) -> tuple[Fate, str]:
    """The fate of what was forked, and what it left is killed."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if os.WIFSIGNALED(status):
        return "out of time", f"ended by signal {os.WTERMSIG(status)}, after {LIMIT_S} s at most"
    return judged(os.WEXITSTATUS(status), (tree / OUTPUT).read_text("utf-8", "replace"))


class Patched(NamedTuple):
    """A mutant that is being tried in a copy, and how its file was before."""

    mutant: Mutant
    tree: Path
    path: Path
    kept: str
    stat: os.stat_result
    began_s: float

    def undo(self) -> None:
        """Put the file back, with its time: its bytecode is told by that."""
        self.path.write_text(self.kept, encoding="utf-8")
        os.utime(self.path, ns=(self.stat.st_atime_ns, self.stat.st_mtime_ns))


def patched(mutant: Mutant, tree: Path) -> Patched:
    """Apply a mutant to a copy."""
    path = tree / PACKAGE / mutant.file
    kept, stat = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(kept.replace(mutant.old, mutant.new), encoding="utf-8")
    return Patched(mutant, tree, path, kept, stat, time.monotonic())


def tried_all(
    mutants: Iterable[Mutant], named: Mapping[str, Sequence[str]], trees: list[Path]
) -> Iterator[Run]:
    """What became of each mutant, as it ends; each copy tries one at a time."""
    running: dict[int, Patched] = {}
    waiting = list(mutants)
    while waiting or running:
        while waiting and trees:
            mutant, tree = waiting.pop(0), trees.pop()
            if stale := fault(mutant, tree):
                trees.append(tree)
                yield Run(mutant, "stale", stale)
                continue
            patch = patched(mutant, tree)
            running[forked(tree, tests_of(mutant, named))] = patch
        if running:
            pid, status = os.wait()
            patch = running.pop(pid)
            fate, why = ended(pid, status, patch.tree)
            patch.undo()
            trees.append(patch.tree)
            yield Run(patch.mutant, fate, why, time.monotonic() - patch.began_s)


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
    """Print a row for each mutant; 1 unless all were killed and the tests pass without any."""
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
