"""One entry that could never do what it says refuses the file it is in, and its line is named.

CodeWhale drops such an entry and runs the others. Here a guard that is missing would be a call that
nobody looked at, so the file is mended first.
"""

from __future__ import annotations

import pytest

from watchgate.core.config.config import ConfigError, load

GOOD = '[[handler]]\nid = "good"\non = ["tool.pre"]\ncommand = ["./good"]\n'
BAD = '[[handler]]\nid = "bad"\non = {on}\ncommand = ["./bad"]\n{key}\n'


def entry(key: str, on: str = '["tool.pre"]') -> str:
    return BAD.format(on=on, key=key)


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(text, "config.toml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (entry('match = { tool = "Bash" }', '["prompt.submit"]'), "never fits prompt.submit"),
        (entry('match = { regex = "(" }'), "is no regular expression"),
        (entry('match = { tool = "mcp__*__read" }'), "has a star that is not at its end"),
    ],
)
def test_cw_26_a_condition_that_can_never_match_refuses_the_file_with_its_entrys_line(
    bad: str, says: str
) -> None:
    assert [each.id for each in load(GOOD, "config.toml").handler] == ["good"]
    for text, line in ((GOOD + bad, 5), (bad + GOOD, 1)):
        said = refusal(text)
        assert said.startswith(f"config.toml:{line}: "), said
        assert says in said


@pytest.mark.parametrize("zero", ["0", "0.0", "-1"])
def test_cw_27_a_timeout_of_zero_refuses_the_file_with_its_line(zero: str) -> None:
    for text, line in ((GOOD + entry(f"timeout_s = {zero}"), 9), (entry("timeout_s = 0"), 5)):
        said = refusal(text)
        assert said.startswith(f"config.toml:{line}: "), said
        assert "timeout_s" in said
    assert load(GOOD + entry("timeout_s = 0.5"), "config.toml").handler[1].timeout_s == 0.5
