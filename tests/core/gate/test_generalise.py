"""A grant for good is for a program and its subcommand, never for the line as it was typed."""

from __future__ import annotations

import pytest

from watchgate.core.gate.grant_rules import generalised
from watchgate.core.model.standing_grant import GrantRule


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("git push origin main", "git push *"),
        ("git stash pop", "git stash pop *"),
        ("npm install left-pad", "npm install *"),
        ("npm run build:prod -- --fast", "npm run build:prod *"),
        ("docker compose up -d", "docker compose up *"),
        ("gh pr create --fill", "gh pr create *"),
        ("pytest -x tests", "pytest *"),
        ("mkdir -p out", "mkdir *"),
        ("python3 -m pip install x", "python3 -m pip install *"),
        ("python manage.py migrate app", "python manage.py migrate *"),
        ("./gen.sh ./out", "./gen.sh *"),
    ],
)
def test_further_arguments_may_follow_what_says_what_it_does(command: str, rule: str) -> None:
    words, more = generalised(tuple(command.split()))
    assert GrantRule(words=words, more=more).text == rule


@pytest.mark.parametrize(
    "command",
    [
        "git -C elsewhere push",  # which word is the subcommand, is not known
        "kubectl -n prod delete pod",
        "npm",  # no subcommand: everything that it does
        "gh pr",
        "./deploy.sh",
        "python build.py",
        "python -c print(1)",
        "bash -x run.sh",
        "node",
        "rm old.txt",  # the argument is what matters
        "curl https://example.org",
        "xargs rm",
        "find . -name x",
        "sudo make install",
        "docker run --rm image",
        "make test",
    ],
)
def test_where_the_arguments_decide_the_whole_line_is_meant(command: str) -> None:
    words = tuple(command.split())
    assert generalised(words) == (words, False)
