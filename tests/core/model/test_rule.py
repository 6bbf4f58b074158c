from __future__ import annotations

import pytest

from watchgate.core.model.standing_grant import GrantRule, read_rule


@pytest.mark.parametrize(
    "text",
    ["npm run build *", "npm run build", "Edit", "git -C 'a b' push *", "echo '*'", "x '*' *"],
)
def test_a_rule_reads_as_it_was_written(text: str) -> None:
    words, more = read_rule(text)
    assert GrantRule(words=words, more=more).text == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "names no program"),
        ("  ", "names no program"),
        (" *", "names no program"),
        ("npm 'run", "cannot be read"),
    ],
)
def test_a_text_that_is_no_rule_says_why(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_rule(text)


@pytest.mark.parametrize(
    ("command", "more", "exact"),
    [
        ("npm run build", True, True),
        ("npm run build --watch", True, False),
        ("npm run", False, False),
        ("npm run builder", False, False),
        ("npm --silent run build", False, False),
        ("/tmp/npm run build", False, False),
        ("", False, False),
    ],
)
def test_ap_8_a_rule_covers_commands_that_begin_with_its_very_words(
    command: str, more: bool, exact: bool
) -> None:
    words = tuple(command.split())
    rule = ("npm", "run", "build")
    assert GrantRule(words=rule, more=True).covers(words) is more
    assert GrantRule(words=rule).covers(words) is exact


def test_a_rule_without_words_covers_nothing() -> None:
    assert not GrantRule(words=(), more=True).covers(("rm",))
