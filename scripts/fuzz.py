"""Coverage-guided fuzzing of every decoder: `make fuzz`, or `python -m scripts.fuzz [TARGET...]`.

Runs atheris for `--seconds` on each target of tests/fuzz/targets.py, `--jobs` at a time, each in a
process of its own. What is interesting is kept in .fuzz/corpus/TARGET and tried first the next
time; an input over which a target fails is kept in .fuzz/found and printed as a line for the
target's `found`, which makes it a test. Exit code 1 says that something was found.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, redirect_stderr
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".fuzz"
SECONDS = 60
LONGEST_INPUT_BYTES = 4_096
_SLOWEST_S = 20
_MISSING = (
    "fuzzing needs atheris, which has wheels for Linux and CPython 3.11 to 3.13 and is no part of"
    " the environment of the tests: run it with `make fuzz`"
)


def main(given: Sequence[str]) -> int:
    """Fuzz the targets that are named, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m scripts.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="for each target")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    parser.add_argument("--list", action="store_true", help="name the targets")
    args = parser.parse_args(given)
    if find_spec("atheris") is None and not args.list:
        print(_MISSING, file=sys.stderr)
        return 2
    known = _targets(instrumented=not args.list)
    if args.list:
        print("\n".join(known))
        return 0
    if unknown := [name for name in args.targets if name not in known]:
        parser.error(f"there is no target {', '.join(unknown)}; --list names those there are")
    failed = _all(args.targets or list(known), known, args.seconds, args.jobs)
    if failed:
        print(f"\n{len(failed)} targets failed: {', '.join(failed)}")
    return int(bool(failed))


def _targets(*, instrumented: bool) -> Mapping[str, Any]:
    """The table; instrumented, every branch of the program counts from here on."""
    sys.path[:0] = [str(ROOT / "tui"), str(ROOT)]
    with ExitStack() as stack:
        if instrumented:
            # It tells of each module on stderr.
            stack.enter_context(redirect_stderr(io.StringIO()))
            atheris: Any = import_module("atheris")
            stack.enter_context(atheris.instrument_imports(include=["watchgate"]))
        table: Mapping[str, Any] = import_module("tests.fuzz.targets").TARGETS
        return dict(table)


def _all(names: Sequence[str], known: Mapping[str, Any], seconds: int, jobs: int) -> list[str]:
    """Runs each in a copy of this process, so that all is instrumented once; those that failed."""
    running: dict[int, str] = {}
    failed: list[str] = []
    waiting = list(reversed(names))
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop()
            running[_start(name, known[name], seconds)] = name
        pid, status = os.wait()
        name = running.pop(pid)
        if not _told(name, os.waitstatus_to_exitcode(status)):
            failed.append(name)
    return failed


def _start(name: str, target: Any, seconds: int) -> int:
    corpus, crash = HOME / "corpus" / name, HOME / "found" / name
    corpus.mkdir(parents=True, exist_ok=True)
    crash.parent.mkdir(parents=True, exist_ok=True)
    crash.unlink(missing_ok=True)
    for number, seed in enumerate((*target.seeds, *target.found)):
        (corpus / f"seed-{number}").write_bytes(seed)
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    log = os.open(_log(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    atheris: Any = import_module("atheris")
    options = (
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST_INPUT_BYTES}",
        f"-timeout={_SLOWEST_S}",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
        f"-exact_artifact_path={crash}",
    )
    atheris.Setup([sys.argv[0], *options, str(corpus)], target.takes)
    atheris.Fuzz()
    os._exit(0)


def _log(name: str) -> Path:
    return HOME / f"{name}.log"


def _told(name: str, exit_code: int) -> bool:
    """Prints what came of a target; whether that was nothing."""
    said = _log(name).read_text("utf-8", errors="replace")
    runs = next((line.split()[-1] for line in said.splitlines() if "executed_units" in line), "?")
    if exit_code == 0:
        print(f"{name}: nothing in {runs} runs", flush=True)
        return True
    print(f"{name}: FOUND, see {_log(name)}\n    {_reason(said)}", flush=True)
    crash = HOME / "found" / name
    if crash.exists():
        print(f"    found=({crash.read_bytes()!r},)", flush=True)
    return False


def _reason(log: str) -> str:
    """The exception in a log of libFuzzer's, or why it ended."""
    lines = log.splitlines()
    after = [n for n, line in enumerate(lines) if "Uncaught Python exception" in line]
    if after:
        return " ".join(lines[after[0] + 1 : after[0] + 2])
    return next((line for line in lines if "ERROR" in line), lines[-1] if lines else "no word")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
