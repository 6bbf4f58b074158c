"""Allow rules cover only what is certain: every word is known, and is in the closed set."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import rules
from tests.core.policy.written import allow, allows, judged, policy

LIST = '{ program = "ls", flags = ["-l", "-a", "-n=", "--color", "--sort=", "-#", "--time=ctime"] }'
READ = '{ program = "git", sub = ["log", "stash list"], flags = ["-C=", "-p", "--format="] }'
OPEN = '{ program = "cat", flags = "*" }'
SEARCH = '{ program = "find", flags = ["-name=", "-o", "-exec ;"] }'
GUARDED = '{ program = "rg", flags = "*", no_flag = "--pre" }'


@pytest.mark.parametrize(
    ("shape", "command"),
    [
        (LIST, "ls"),
        (LIST, "ls -la x"),
        (LIST, "ls -n 5 -n5 -20"),
        (LIST, "ls --color=always --sort size --sort=time"),
        (LIST, "ls --time=ctime"),
        (LIST, "ls --time ctime"),
        (LIST, "/bin/ls -l"),
        (LIST, "ls src/*.py 'a b' ~/x"),
        (LIST, 'ls "src/$x"'),
        (LIST, 'ls -n "$x"'),
        (LIST, 'ls --sort="$x"'),
        (LIST, "ls | ls > /dev/null 2>&1"),
        (LIST, "LC_ALL=C ls; TZ=UTC ls"),
        (LIST, "timeout 5 ls"),
        (LIST, "ls -- x"),
        (READ, "git -C x log -p"),
        (READ, "git stash list"),
        (OPEN, "cat *"),
        (OPEN, 'cat "$x" $y'),
        (GUARDED, "rg -n x src/*.py"),
    ],
)
def test_what_the_closed_set_holds_is_allowed(shape: str, command: str) -> None:
    assert allows(shape, command)


@pytest.mark.parametrize(
    ("shape", "command"),
    [
        (LIST, "ls -x"),
        (LIST, "ls -lx"),
        (LIST, "ls --colo"),
        (LIST, "ls --time=other"),
        (LIST, "ls --time other"),
        (LIST, "ls -- -x"),
        (LIST, "ls $x"),
        (LIST, 'ls "$x"'),
        (LIST, "ls *"),
        (LIST, "ls src/$x"),
        (LIST, 'ls -"$x"'),
        (LIST, "ls -l$x"),
        (LIST, "./ls"),
        (LIST, "/tmp/ls"),
        (LIST, "LS"),
        (LIST, "l\u0455"),
        (LIST, "$ls"),
        (LIST, "ls > x"),
        (LIST, "ls >> /dev/null/../x"),
        (LIST, "ls > $x"),
        (LIST, "ls < $x"),
        (LIST, "ls < /dev/tcp/a/1"),
        (LIST, "PATH=/tmp ls"),
        (LIST, "X=1; ls"),
        (LIST, "ls $(rm x)"),
        (LIST, "ls; rm x"),
        (LIST, "ls | sh"),
        (LIST, "sudo ls"),
        (LIST, "timeout 5 ls > x"),
        (READ, "git stash"),
        (READ, "git stash drop list"),
        (READ, "git --git-dir=x log"),
        (READ, "git stash -p list"),
        (READ, "git -p=x log"),
        (READ, 'git "$x" log'),
        (GUARDED, "rg --pre x y"),
        (GUARDED, "rg --pr x y"),
        (GUARDED, "rg x *"),
        (GUARDED, 'rg "$x"'),
        ('{ program = "a", flags = "*", sub = "list" }', "a --x list"),
        ('{ program = "a", flags = "*", sub = "* list" }', "a b --x c list"),
        ('{ program = "a", flags = "*", sub = "b", not_sub = "delete" }', "a b --x delete"),
        ('{ program = "a", flags = [], operands = "none" }', 'a "b$x"'),
        ('{ program = "a", flags = [], operands = "one" }', "a b c"),
        ('{ program = "a", flags = [], first = "p" }', 'a "p$x"'),
        ('{ program = "a", flags = "*", no_args = "x" }', 'a "b$y"'),
        ('{ program = "a", flags = "*", args = "b" }', 'a "b$y"'),
        ('{ program = "a", flags = "*", line = "a *" }', 'a "b$y"'),
        ('{ program = "a", flags = "*", paths = { any = "@inside" } }', "a x ../y"),
        ('{ program = "a", flags = "*", paths = { any = "@inside" } }', 'a x "src/$y"'),
    ],
)
def test_anything_besides_is_asked(shape: str, command: str) -> None:
    assert not allows(shape, command)


@pytest.mark.parametrize(
    ("command", "rule"),
    [("ls > x", "policy.redirect"), ("X=1 ls", "policy.env"), ("rm x", "policy.no-rule")],
)
def test_the_finding_says_what_kept_it_from_being_allowed(command: str, rule: str) -> None:
    found = judged(policy(allow(LIST)), command)
    assert (found.decision, found.risk, rules(found)) == ("ask", "medium", {rule})


def test_an_allow_names_its_rule_and_every_command_has_a_segment() -> None:
    found = judged(policy(allow(LIST)), "ls -l && timeout 5 ls $x")
    assert [(s.number, s.words[0], s.allowed_by) for s in found.segments] == [
        (1, "ls", "test.allow"),
        (2, "timeout", "runs only what is in it"),
        (2, "ls", ""),
    ]
    assert [s.dynamic for s in found.segments] == [False, True, True]
    assert rules(found) == {"policy.no-rule"}


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("find . -exec ls {} +", True),
        ("find . -exec ls {} \\; -name x", True),
        ("find . -exec ls {} + -exec ls x \\;", True),
        ("find . -exec rm {} +", False),
        ("find . -exec ls a + -o out {} \\;", False),
        ("find . -exec ls {} \\; -delete", False),
        ("find . -exec ls {}", False),
        ("find . -exec ls {} $X", False),
        ("find . -execdir ls {} \\;", False),
    ],
)
def test_a_search_may_run_a_command_that_is_allowed_itself(command: str, allowed: bool) -> None:
    ls = allow('{ program = "ls", flags = "*" }').replace("test.allow", "test.other")
    found = judged(policy(allow(SEARCH), ls), command)
    assert (found.decision == "allow") is allowed
