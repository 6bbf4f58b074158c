"""Tries mutants: each in a copy of the tree, with pytest in a process forked for it."""

from __future__ import annotations

import importlib
import os
import re
import runpy
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from scripts.mutants.patches import Mutant, Patched, fault, patched, tests_of
from scripts.seed_coverage import ROOT

COPIED = (
    *("tui", "tests", "styles", "scripts", "docs", "examples", "native"),
    *("hatch_build.py", "pyproject.toml", "README.md"),
)
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


class Run(NamedTuple):
    """What became of a mutant, in how many seconds; `why` names the test that failed and how."""

    mutant: Mutant
    fate: Fate
    why: str = ""
    took_s: float = 0.0


class Trial(NamedTuple):
    """A mutant that is being tried in a copy."""

    mutant: Mutant
    tree: Path
    patch: Patched
    began_s: float


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
    """Starts pytest in a copy, as a process group of its own; its number.

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
        others = [each for each in sys.path if each not in (str(ROOT), str(ROOT / "tui"))]
        sys.path[:] = [str(tree), str(tree / "tui"), *others]
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


def tried_all(
    mutants: Iterable[Mutant], named: Mapping[str, Sequence[str]], trees: list[Path]
) -> Iterator[Run]:
    """What became of each mutant, as it ends; each copy tries one at a time."""
    running: dict[int, Trial] = {}
    waiting = list(mutants)
    while waiting or running:
        while waiting and trees:
            mutant, tree = waiting.pop(0), trees.pop()
            if stale := fault(mutant, tree):
                trees.append(tree)
                yield Run(mutant, "stale", stale)
                continue
            trial = Trial(mutant, tree, patched(mutant, tree), time.monotonic())
            running[forked(tree, tests_of(mutant, named))] = trial
        if running:
            pid, status = os.wait()
            trial = running.pop(pid)
            fate, why = ended(pid, status, trial.tree)
            trial.patch.undo()
            trees.append(trial.tree)
            yield Run(trial.mutant, fate, why, time.monotonic() - trial.began_s)
