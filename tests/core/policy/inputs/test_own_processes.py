"""Reaching into a process of ours is critical; into one that only the run shows, not understood."""

from __future__ import annotations

import pytest

from tests.core.builders import pre, shell
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.model.assessment import Assessment
from watchgate.core.policy.inputs.text_guards import (
    OWN_PROCESS_RULE,
    OWN_PROCESS_UNKNOWN_RULE,
    numbers_in,
)
from watchgate.core.tools.tool_input import command
from watchgate.service.policies.policy_files import shipped

OURS = frozenset({4242})


def assessed(text: str, ours: frozenset[int] = OURS) -> Assessment:
    gate = PolicyGate("guard", lambda _cwd: shipped(), home="/home/u", own=())
    gate.own_pids = lambda tool: numbers_in(command(tool) or "") & ours
    found = gate.assess(pre(shell(text)))
    assert found is not None
    return found


def rules(text: str, ours: frozenset[int] = OURS) -> set[str]:
    return {each.rule for each in assessed(text, ours).findings}


REACHING = [
    "kill -9 4242",
    "kill 4242",
    "kill -s KILL 4242",
    "kill -KILL 17 4242",
    "kill -- -4242",
    "/bin/kill 4242",
    "command kill 4242",
    "env kill 04242",
    "sudo kill 4242",
    "kill 4'24'2",
    "kill 42\\42",
    "echo 4242 | xargs kill -9",
    "bash -c 'kill 4242'",
    "python3 -c 'import os; os.kill(4242, 9)'",
    "perl -e 'kill 9, 4242'",
    "prlimit --pid 4242 --nofile=3:3",
    "prlimit -p4242 --as=1",
    "strace -p 4242",
    "strace -fp4242",
    "gdb -p 4242",
    "gdb --pid=4242",
    "lldb -p 4242",
    "renice 19 -p 4242",
    "taskset -p 1 4242",
    "pkill -P 4242",
    "nsenter -t 4242 -m sh",
    "cat /proc/4242/environ",
    "dd if=/proc/4242/mem of=x",
    "for p in 1 4242; do kill $p; done",
]


@pytest.mark.parametrize("text", REACHING)
def test_it_is_critical_and_no_grant_answers_it(text: str) -> None:
    found = assessed(text)
    assert found.risk == "critical"
    (own,) = [each for each in found.findings if each.rule == OWN_PROCESS_RULE]
    assert own.always_ask
    assert "4242" in own.reason


@pytest.mark.parametrize("text", REACHING)
def test_with_another_number_it_is_nothing_of_ours(text: str) -> None:
    assert OWN_PROCESS_RULE not in rules(text, frozenset({7}))


@pytest.mark.parametrize(
    "text", ["kill 4243", "sleep 4242", "kill 14242", "head -c 4242 x", "echo 4242", "kill -l"]
)
def test_other_numbers_and_other_commands_are_not_ours(text: str) -> None:
    assert OWN_PROCESS_RULE not in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "kill -TERM $pid",
        "kill %1",
        "kill $(cat x.pid)",
        "strace -p $P",
        "gdb -p $P",
        "kill $((4000+242))",
    ],
)
def test_what_only_the_run_shows_is_not_understood(text: str) -> None:
    (unseen,) = [each for each in assessed(text).findings if each.rule == OWN_PROCESS_UNKNOWN_RULE]
    assert unseen.risk == "unknown"


@pytest.mark.parametrize(
    "text",
    [
        "kill $(lsof -t -i:3000)",
        "kill -9 $(lsof -ti tcp:8000)",
        "make serve & sleep 2; kill %1",
        "make serve &\nkill $!",
        "make serve & PID=$!; sleep 2; kill $PID",
    ],
)
def test_a_server_of_ones_own_is_none_of_ours(text: str) -> None:
    assert OWN_PROCESS_UNKNOWN_RULE not in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "kill $(lsof -t -i:3000) $(cat x.pid)",
        "kill $(lsof -t +D /run)",
        "make serve && kill %1",
        "make serve 2>&1; kill $!",
        "make serve & kill $PID",
        "watchgate serve & kill %1",
        "make serve & strace -p $!",
    ],
)
def test_what_else_the_run_would_show_is_still_not_understood(text: str) -> None:
    assert OWN_PROCESS_UNKNOWN_RULE in rules(text)


def test_where_nobody_looked_nothing_is_claimed() -> None:
    gate = PolicyGate("guard", lambda _cwd: shipped(), home="/home/u", own=())
    found = gate.assess(pre(shell("kill $pid")))
    assert found is not None
    assert OWN_PROCESS_UNKNOWN_RULE not in {each.rule for each in found.findings}


def test_the_numbers_of_a_text_are_found_in_one_pass_and_bounded() -> None:
    assert numbers_in("kill 4'24'2 -17 %3 0x9") >= {4242, 17, 3, 9}
    assert numbers_in("7 " * 1_000_000) == {7}
