"""What judging a shell command costs, against reading it: a bare parse and a walk over its tree.

The commands are of the kinds that agents run all day; the long ones have the length up to which a
text is judged. CPU time, all cases in turns. The last figure is a process of its own: the commands
as lines to `watchgate policy check --stdin --json`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from bench.figures import Beside, Figure, interleaved_medians, report
from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.inputs.text_guards import MAX_CHARS
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.policy.shell import grammar
from watchgate.service.policies.policy_files import shipped

COMMANDS = (
    "ls -la",
    "git status --short",
    "git log --oneline -20 -- src/app.py",
    "git push origin main",
    "cat README.md | head -40",
    "rg -n 'def main' --type py src tests",
    "npm run build && npm test",
    "pip install -r requirements.txt",
    "kubectl get pods -n web -o wide",
    "docker compose up -d --build",
    "rm -rf build dist",
    "curl -sf https://example.com/health | jq .status",
    "sed -i 's/foo/bar/g' src/*.py",
    "find . -name '*.pyc' -exec rm {} \\;",
    "FOO=1 timeout 60 make -C build test 2>&1 | tee log.txt",
    'for f in *.txt; do grep -q foo "$f" && echo "$f"; done',
    "bash -c 'cd /tmp && ls'",
    "python3 -c 'print(1)'",
)
SCRIPT = """\
set -eu
for name in one two three; do
  if [ -f "$name.txt" ]; then
    grep -c foo "$name.txt" | tee -a found.txt
  fi
done
mkdir -p build && cp -r src/. build/
"""
DOCUMENT = "def f(x):\n    return {'a': [x, 'y'], 'b': \"c\"}\n"
LONG = {
    "a script": SCRIPT,
    "a here-document": DOCUMENT,
    "words": "path/to/file_one.py ",
    "a pipeline": "curl -s x/one.json|",
    "open expansions": '"${',
}
WALK_LIMIT = 24.0
P99_LIMIT_MS = 1.0
LONG_LIMIT_MS = 20.0
STDIN_LINES = 14_000
STDIN_LIMIT_S = 15.0


def subject(command: str) -> Subject:
    tool = Tool("Bash", "Bash", "shell", {"command": command}, "hash")
    return Subject(tool=tool, agent="claude", session="s", cwd="/home/u/app", home="/home/u")


def long_text(kind: str) -> str:
    """A command of one kind, as long as a text may be."""
    start, end = {
        "a here-document": ("cat > a.py <<'E'\n", "E\n"),
        "words": ("git add ", ""),
    }.get(kind, ("", ""))
    room = MAX_CHARS - len(start) - len(end)
    unit = LONG[kind]
    return start + unit * (room // len(unit)) + end


def walk(command: str) -> int:
    """The least that a judge of commands could do: read the text and look at every node."""
    waiting, seen = [grammar.parse(command)], 0
    while waiting:
        node = waiting.pop()
        if node is not None:
            seen += bool(node.type)
            waiting += node.children
    return seen


def cpu_us(work: Callable[[], object]) -> float:
    start_ns = time.thread_time_ns()
    work()
    return (time.thread_time_ns() - start_ns) / 1e3


def each_us(policy: Policy, rounds: int) -> list[float]:
    """The least CPU time of each command, over so many rounds."""
    subjects = [subject(command) for command in COMMANDS]
    return [min(cpu_us(partial(assess, one, policy, 0)) for _ in range(rounds)) for one in subjects]


def stdin_s(lines: Sequence[str]) -> float:
    """CPU seconds of `watchgate policy check` over these commands."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "watchgate", "policy", "check", "--stdin", "--json"],
        input="".join(json.dumps(each) + "\n" for each in lines),
        stdout=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def figures(runs: int, lines: int) -> Iterator[Figure]:
    policy = shipped()
    subjects = [subject(command) for command in COMMANDS]
    walked, judged = interleaved_medians(
        [
            lambda: cpu_us(lambda: [walk(command) for command in COMMANDS]),
            lambda: cpu_us(lambda: [assess(one, policy, 0) for one in subjects]),
        ],
        runs,
    )
    count = len(COMMANDS)
    told = f"{count} commands, medians of {runs}"
    least = Beside("a parse and a walk over its tree", walked / count)
    yield Figure("judging a command, CPU", judged / count, "us", least, WALK_LIMIT, told)
    took = each_us(policy, runs)
    told = f"the slowest of {count}, the best of {runs}"
    yield Figure("judging one command, CPU", max(took) / 1e3, "ms", None, P99_LIMIT_MS, told)
    for kind in LONG:
        one = subject(long_text(kind))
        took_ms = min(cpu_us(partial(assess, one, policy, 0)) for _ in range(runs)) / 1e3
        name = f"judging {MAX_CHARS:,} characters, {kind}, CPU"
        yield Figure(name, took_ms, "ms", None, LONG_LIMIT_MS, f"the best of {runs}")
    given = [COMMANDS[number % count] for number in range(lines)]
    took_s = stdin_s(given) * STDIN_LINES / lines
    told = f"{STDIN_LINES:,} commands" + (f", from {lines:,}" if lines != STDIN_LINES else "")
    yield Figure("`policy check --stdin`, CPU", took_s, "s", None, STDIN_LIMIT_S, told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=31)
    parser.add_argument("--lines", type=int, default=STDIN_LINES)
    given = parser.parse_args()
    return report(figures(given.runs, given.lines))


if __name__ == "__main__":
    sys.exit(main())
