"""Ask and deny rules take every reading of the words that is possible."""

from __future__ import annotations

import pytest

from tests.core.policy.written import matches

PUSH = (
    '{ program = "git", sub = "push", any_flag = ["-f", "--force"], no_flag = ["-n", "--dry-run"] }'
)


@pytest.mark.parametrize(
    "command",
    [
        "git push -f",
        "git push --force origin main",
        "git push --forc",
        "git push --force=yes",
        "git push -uf origin",
        "git -C x push -f",
        "git -c a=b push -f",
        "git --unheard-of x push -f",
        "/usr/bin/git push -f",
        "GIT push -f",
        "sudo git push -f",
        "ls && git push -f",
        "echo $(git push -f)",
        "sh -c 'git push -f'",
        "git 'push' \"-f\"",
        "git push -fxn",
        "git push -f -- -n",
        "git push -f --dry-run=false",
    ],
)
def test_a_shape_is_found_however_it_is_written(command: str) -> None:
    assert matches(PUSH, command)


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git pull -f",
        "git push -nf",
        "git push -fn",
        "git push --force --dry-run",
        "git log --grep push -f",
        "echo git push -f",
        "gitk push -f",
    ],
)
def test_what_has_another_shape_is_left_alone(command: str) -> None:
    assert not matches(PUSH, command)


@pytest.mark.parametrize(
    ("shape", "hit", "miss"),
    [
        ('program = "kube*"', "kubectl x", "kuba x"),
        ('program = "*", not_program = "echo"', "printf x", "echo x"),
        ('program = "aws", sub = "* delete-*"', "aws --profile p ec2 delete-vpc", "aws ec2 get-x"),
        ('program = "a", not_sub = "status"', "a stop", "a status"),
        ('program = "a", not_sub = "status"', "a --x status", "a --x=y status"),
        ('program = "a", sub_regex = "(?:\\\\S+ )?delete"', "a b delete c", "a b c delete"),
        ('program = "a", all_flag = ["-x", "-y"]', "a -yx", "a -x"),
        ('program = "a", flags = ["-x", "-y"]', "a -xy b", "a -xz b"),
        ('program = "a", args = "*.sql"', "a b c.sql", "a b.sqlx"),
        ('program = "a", no_args = "*.sql"', "a b", "a b.sql"),
        ('program = "a", args_regex = "^/home/ada/x"', "a ~/x", "a x"),
        ('program = "a", no_args_regex = "^b"', "a c", "a b"),
        ('program = "a", operands = "none"', "a -x -", "a -x b"),
        ('program = "a", operands = "none"', "a $maybe", "a b $maybe"),
        ('program = "a", operands = "one"', "a b", "a b c"),
        ('program = "a", operands = "some"', "a b", "a -x"),
        ('program = "a", first = "b+"', "a bb c", "a bbc"),
        ('program = "a", line = "a b *"', "a b", "a bc"),
        ('program = "a", line = "a b *"', "/opt/a b 'c d'", "a  c b"),
        ('program = "sh", piped_from = { program = "curl" }', "curl x | tee y | sh", "curl x; sh"),
        ('program = "sh", built_from = { program = "curl" }', 'sh "$(a "$(curl x)")"', "sh curl"),
        ('program = "rm", paths = { access = "delete", any = "/etc" }', "rm /etc/x", "ls /etc/x"),
    ],
)
def test_each_matcher_holds_where_it_says_and_nowhere_else(shape: str, hit: str, miss: str) -> None:
    assert matches(f"{{ {shape} }}", hit)
    assert not matches(f"{{ {shape} }}", miss)


def test_an_exception_that_only_the_run_shows_is_none() -> None:
    assert matches('{ program = "a", no_args = "safe" }', 'a "$x"')
    assert matches(PUSH, 'git push -f "$maybe_dry_run"')


BRANCH = '{ program = "git", sub = "branch", any_flag = ["-C", "-D"] }'


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("git branch -C a b", True),
        ("git -C x branch -C a b", True),
        ("git -C branch branch -D a", True),
        ("git --unheard-of branch -C a", True),
        ("git -C x branch", False),
        ("git -C branch branch -a", False),
    ],
)
def test_a_programs_own_option_before_the_sub_command_is_none_of_its_flags(
    command: str, found: bool
) -> None:
    assert matches(BRANCH, command) is found


def test_a_word_that_begins_with_text_expands_to_some_word() -> None:
    shape = '{ program = "export", operands = "none" }'
    assert matches(shape, "export $X")
    assert not matches(shape, "export A=$X")
