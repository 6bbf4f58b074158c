"""Redirects behind a here-document's mark, and behind a lone dash, are read as the shell does."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command
from watchgate.core.policy.judging.command_finder import commands


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cat - <<'E' 2>&1 | head -5\nx\nE\n", [["cat", "-"], ["head", "-5"]]),
        ("cat <<E >out.txt 2>&1 && rm -rf y\nx\nE", [["cat"], ["rm", "-rf", "y"]]),
        ("cat <<'E' 2>/dev/null | sort\nls\nE", [["cat"], ["sort"]]),
        ("cat - 2>&1 | head", [["cat", "-"], ["head"]]),
        ("cat - 2>/dev/null", [["cat", "-"]]),
        ("cd a && cat <<'E' 2>&1 | wc -l\nx | y\nE", [["cd", "a"], ["cat"], ["wc", "-l"]]),
    ],
)
def test_every_command_of_the_line_is_found(text: str, words: list[list[str]]) -> None:
    found = commands(text)
    assert not found.opaque, found.why
    given = [[word.text for word in command.words] for command in found.commands]
    assert [each for each in given if each in words] == words


def test_the_code_in_it_is_read() -> None:
    assert judge_command("python3 - <<'E' 2>&1 | head -5\nprint(1)\nE").rule == "code.read"
    dark = judge_command("python3 - <<'E' 2>&1 | head -5\nexec(x)\nE")
    assert dark.risk == "high"


@pytest.mark.parametrize(
    "text",
    [
        "cat <<'E' 2>&1 | rm -rf ~\nx\nE",
        "cat <<'E' >/etc/passwd | head\nx\nE",
        "cat <<'E' > \"$X\" | head\nx\nE",
    ],
)
def test_nothing_dangerous_hides_behind_it(text: str) -> None:
    found = judge_command(text)
    assert found.decision == "ask"
    assert found.risk in ("high", "critical", "unknown")


def test_the_span_of_what_was_found_is_where_it_stands() -> None:
    text = "cat - <<'E' 2>&1 | git push --force\nx\nE"
    (start, end) = judge_command(text).worst.span or (0, 0)
    assert "git push" in text[start:end]
