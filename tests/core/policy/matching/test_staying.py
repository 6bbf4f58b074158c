"""Ordinary work stays in the session's folder: its paths, its variables, where it runs."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, rules
from watchgate.core.policy.rules.load import load
from watchgate.core.policy.rules.policy import Policy

RULES = """
version = 1

[[rule]]
id = "team.copies"
decision = "ask"
effect = "ordinary"
reason = "Copies"
command = { program = "copies", flags = "*" }

[[rule]]
id = "team.runs"
decision = "ask"
effect = "ordinary"
reason = "Runs what it is given"
command = [
  { program = "runs", flags = "*", scratch = false },
  { program = "bazel", flags = "*", scratch = false },
]

[[rule]]
id = "team.commits"
decision = "ask"
effect = "ordinary"
reason = "Commits"

[rule.command]
program = "commits"
flags = ["-a", "-m=", "--message=", "-F="]
texts = ["-m", "--message"]

[[rule]]
id = "team.exports"
decision = "ask"
effect = "ordinary"
reason = "Sets variables"
command = { program = "export", flags = "*" }
"""

POLICY = Policy.of([load(RULES, "team.toml", "user")])


def knows(command: str) -> bool:
    """Tells whether some ordinary rule of these covers the command."""
    return any(rule.startswith("team.") for rule in rules(judge_command(command, policy=POLICY)))


@pytest.mark.parametrize(
    "command",
    [
        "copies /tmp/a b",
        "copies a /tmp/b",
        "cd /tmp/x && copies a b",
        "runs a > /tmp/out.txt",
        "runs -j$(nproc) a",
        "runs --jobs=$(nproc)",
        "runs src/*.c",
    ],
)
def test_scratch_files_are_within_where_nothing_is_run(command: str) -> None:
    assert knows(command)


@pytest.mark.parametrize(
    "command",
    [
        "runs /tmp/a",
        "runs --config=/tmp/a",
        "runs -c/tmp/a",
        "cd /tmp/x && runs a",
        "runs ../a",
        "runs ~/a",
        "runs -j$(nprocs)",
        "runs -j$(nproc; id)",
        "runs $(nproc)x",
        "copies ../a b",
        "copies a ~/b",
        'copies "$A" b',
    ],
)
def test_what_is_run_is_not_read_from_there(command: str) -> None:
    assert not knows(command)


@pytest.mark.parametrize(
    "command",
    [
        "commits -m /etc/passwd",
        "commits -am '/etc: see ~/x'",
        "commits --message=/etc/x",
        "commits -m/etc",
        "commits -m \"$(cat <<'E'\nAll of /etc\nE\n)\"",
        "commits -F notes.txt",
    ],
)
def test_the_text_of_a_message_is_no_path(command: str) -> None:
    assert knows(command)


@pytest.mark.parametrize(
    "command",
    ["commits -F /etc/passwd", "commits -a /etc", "commits -m x /etc", "commits -m -F /etc/x"],
)
def test_what_stands_behind_a_message_is_one(command: str) -> None:
    assert not knows(command)


@pytest.mark.parametrize(
    "command",
    [
        "A=1 runs a",
        "PYTHONPATH=src:lib runs a",
        "HERE=/home/ada/project/src runs a",
        "URL=http://localhost:3000/x runs a",
        "URL=postgres://me:pw@127.0.0.1/x runs a",
        "FLAGS='-D warnings' runs a",
        "export A=1 B=src",
        "export DEBUG=app:*",
    ],
)
def test_variables_may_lead_into_the_folder(command: str) -> None:
    assert knows(command)


@pytest.mark.parametrize(
    "command",
    [
        "PYTHONPATH=/tmp/x runs a",
        "PYTHONPATH=src:/opt/x runs a",
        "PYTHONPATH=../x runs a",
        "PYTHONPATH=~/x runs a",
        'PYTHONPATH="$X" runs a',
        "PYTHONPATH=$(cat x) runs a",
        "FLAGS=--plugin=/opt/x runs a",
        "URL=https://x.example/ runs a",
        "URL=postgres://localhost@x.example/db runs a",
        "URLS=http://localhost/,http://x.example/ runs a",
        "export PYTHONPATH=/opt/x",
        "export A=1 B=/opt/x",
        'export A="$(cat x)"',
    ],
)
def test_variables_may_not_lead_out_of_it(command: str) -> None:
    assert not knows(command)


def test_targets_of_builds_begin_with_slashes() -> None:
    assert knows("bazel test //src/app:all -//src:slow")
    assert not knows("runs //src/app")
    assert not knows("bazel test /src --config=/etc/x")


@pytest.mark.parametrize(
    "command",
    [
        "PYTHONPATH=/opt/x timeout 9 pytest",
        "PYTHONPATH=/opt/x bash -c pytest",
        "env PYTHONPATH=/opt/x pytest",
        "PYTHONPATH=/opt/x; export PYTHONPATH; pytest",
        "set -a; PYTHONPATH=/opt/x; pytest",
    ],
)
def test_a_variable_counts_through_what_is_wrapped(command: str) -> None:
    found = judge_command(command)
    effects = {each.effect for each in found.findings}
    assert "lasting" in effects or "policy.no-rule" in rules(found)
