"""`cd` lasts as long as the shell that runs it, and may fail."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, rules


def reads_outside(command: str) -> bool:
    said = rules(judge_command(command))
    return bool(said & {"files.print-outside", "files.print-elsewhere"})


@pytest.mark.parametrize(
    "command",
    [
        "(cd src); cat ../notes",
        "(cd src) && cat ../notes",
        "(cd src && ls) && cat ../notes",
        "cd src | cat ../notes",
        "ls | (cd src; ls); cat ../notes",
        "cd src & cat ../notes",
        "cd src && ls & cat ../notes",
        "cat $(cd src && ls) ../notes",
        "bash -c 'cd src' && cat ../notes",
        "env cd src && cat ../notes",
        "timeout 5 cd src && cat ../notes",
        "(cd a/b && (cd c && ls)) && cat ../notes",
        "f() { cd src; }; cat ../notes",
    ],
)
def test_what_a_shell_of_its_own_does_ends_with_it(command: str) -> None:
    assert reads_outside(command)


@pytest.mark.parametrize(
    "command",
    [
        "cd src && cat ../notes",
        "cd src && (cat ../notes)",
        "cd src && ls && cat ../notes",
        "cd src && ls | cat ../notes",
        "(cd src && cat ../notes)",
        "(cd a/b && (cd c && ls) && cat ../../notes)",
        "cd src && { ls; cat ../notes; }",
        "cd src && for f in a b; do ls; cat ../notes; done",
        "cd src && if ls; then cat ../notes; fi",
        "bash -c 'cd src && cat ../notes'",
        "builtin cd src && cat ../notes",
        "cd src && ls && cd .. && cat notes",
        "cd src || exit 1; cat ../notes",
        "cd src || { ls; exit 1; }\ncat ../notes",
        "cd src || exit && cat ../notes",
        "cd a && cd b || exit; cat ../../notes",
        "cd a && cd b && cat ../../notes",
        "cd -P -- src && cat ../notes",
        "pushd src && cat ../notes && popd",
    ],
)
def test_behind_a_cd_that_succeeded_paths_start_in_its_folder(command: str) -> None:
    assert not rules(judge_command(command)) & {"files.print-outside", "files.print-elsewhere"}


@pytest.mark.parametrize(
    "command",
    [
        "cd src; cat ../notes",
        "cd src\ncat ../notes",
        "cd src || cat ../notes",
        "! cd src && cat ../notes",
        "cd src && ls; cat ../notes",
        "cd src && exit; cat ../notes",
        "cd src && ls; cd .. && cat notes",
        "if cd src; then ls; fi; cat ../notes",
        "ls && cd src; cat ../notes",
        "{ cd src; ls; }; cat ../notes",
        "for d in a b; do cd src; done; cat ../notes",
        "true | cd src; cat ../notes",
        "eval 'cd src'; cat ../notes",
        "cd src; ls || exit; cat ../notes",
        "true || cd src && cat ../notes",
        "true || builtin cd src && cat ../notes",
        "true || cd src || exit; cat ../notes",
        "cd src || return; cat ../notes",
        "cd src || exit 1 2; cat ../notes",
        "cd src || exit > no/such; cat ../notes",
        "cd src || (exit 1); cat ../notes",
        "cd src || exit & cat ../notes",
        "cd src || ls | exit; cat ../notes",
        "cd src || { test x && exit; }; cat ../notes",
        "cd src || if test x; then exit; fi; cat ../notes",
        "cd src || { if test x; then exit; fi; }; cat ../notes",
        "cd src || trap exit INT; cat ../notes",
        "pushd -n src && cat ../notes",
        "cd src && cat a; cd - && cat ../notes",
    ],
)
def test_a_cd_that_may_have_failed_leaves_two_folders_and_both_count(command: str) -> None:
    assert reads_outside(command)


@pytest.mark.parametrize(
    "command", ["cd ~/.ssh; cat id_rsa", "cd ~/.ssh || cat id_rsa", "true | cd ~/.ssh; cat config"]
)
def test_a_cd_that_may_have_succeeded_counts_just_as_well(command: str) -> None:
    assert any(rule.startswith("secrets.") for rule in rules(judge_command(command)))


def test_what_is_harmless_in_both_folders_is_allowed() -> None:
    for command in ("cd src; ls", "cd src\ncat a.py", "cd src; cat a.py; git status"):
        assert judge_command(command).decision == "allow"


def test_what_is_removed_where_the_cd_may_have_failed_is_judged_there_as_well() -> None:
    assert "files.delete-outside" in rules(judge_command("cd build; rm ../x"))
    assert "files.delete-outside" not in rules(judge_command("cd build && rm ../x"))


def test_more_folders_than_are_followed_allow_nothing() -> None:
    text = "; ".join(f"cd a{number}" for number in range(8))
    found = judge_command(f"{text}; ls")
    assert found.decision == "ask"
    assert not found.opaque
    assert found.risk == "medium"
