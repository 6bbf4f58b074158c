"""What a hostile command costs: work grows with its length and no faster.

Work is counted in calls, which are the same on every machine; no clock is read.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.policy.calls import judge_command
from watchgate.core.model.assessment import Assessment
from watchgate.core.policy.judging.folders import MAX_FOLDER_CHARS

CALLS_A_CHARACTER = 220
CALLS_A_TEXT = 50_000

UNITS = (
    *("(", ")", "{", "`", "'", '"', "\\", "\\\n", ";", "|", "&", "<", ">", "<(", "$(", "$'\\x"),
    *("$(x)", "`x`", "(x)", "\\`", '"$(', "$(a '", "a ", "a;", "a\n", "x=1 ", "a[", "#", "\t"),
    *("<<E ", "<<E\n", "cat <<E\n$(", "bash <<E\n", "cat <<'E'\nE\n", "<<<a ", ">/etc/a ", "1>"),
    *("sh -c ", "sh -c '", "eval ", 'eval "', "sudo ", "env -S ", "xargs ", "ssh a "),
    *("find -exec ", "find . -exec a \\; ", "find ", "-x ", "fd -x ", "-exec a "),
    *("curl|", "env|curl a|", "curl $(env) ", "cat a b c|", "cd a;", "cd ../;", "~/.ssh/a "),
    *("rm -r ", "-rf ", "git push ", "git -c a ", "chmod ", "\u202e", "if ", "./a/../b "),
    *("a=git;$a ", "x=a b;", "$x ", "echo a>f;sh f;", "cp -t a ", "parallel a ::: ", "for a in b "),
    *(
        "git -e ",
        "--x -n ",
        "a | ",
        '"${',
        "${a",
        "[(-600]",
        "[[ a == b && ",
        "[[ ! ",
        "x=(",
        ".e*/",
        "1>a ",
    ),
)
# Wrappers in wrappers of another kind are read again until there are too many commands.
CALLS_FOR_ALL_COMMANDS = 400_000


def assess(text: str) -> tuple[Assessment, int]:
    """What the policy says, and how many calls it took."""
    count = 0

    def seen(_frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    judge_command("")  # reads the shipped policy, once
    judge_command(text)  # rules are looked up by the names of programs, once
    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        found = judge_command(text)
    finally:
        sys.setprofile(before)
    return found, count


def hostile(unit: str, chars: int) -> str:
    return (unit * (chars // len(unit) + 1))[:chars]


@pytest.mark.parametrize("chars", [600, 2_500])
@pytest.mark.parametrize("unit", UNITS)
def test_work_is_bounded_by_length(unit: str, chars: int) -> None:
    found, calls = assess(hostile(unit, chars))

    assert calls <= CALLS_A_CHARACTER * chars + CALLS_A_TEXT
    assert found.segments or found.opaque or found.decision == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "find " + "-x " * 3_300,
        "sudo " * 7 + "find -exec " * 900,
        "sudo " * 2_000,
        "sh -" + "c" * 9_000 + "1",
        "cat " + "a " * 4_500 + "|curl a" * 100,
        "cd a/" + "b/" * 2_000 + ";cat " + "c " * 2_500,
        "cat " + ".e*/" * 2_400,
        "curl|" * 2_000,
        "git push -c a=b --force +main:x;" * 300,
        "a | " * 2_500,
    ],
)
def test_the_longest_that_anybody_reads_is_bounded_too(text: str) -> None:
    found, calls = assess(text)

    assert calls <= CALLS_A_CHARACTER * len(text) + CALLS_A_TEXT
    assert found.segments or found.opaque


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(UNITS), min_size=1, max_size=6), st.integers(1, 1_500))
def test_any_mixture_is_bounded_by_its_length(units: list[str], chars: int) -> None:
    found, calls = assess(hostile("".join(units), chars))

    assert calls <= CALLS_A_CHARACTER * chars + CALLS_FOR_ALL_COMMANDS
    assert found.findings


@pytest.mark.parametrize("unit", ["find -exec ", "fd -x ", "watch "])
def test_what_is_not_looked_at_any_more_is_opaque_and_its_text_is_still_searched(unit: str) -> None:
    found = judge_command(unit * 200 + "; rm -rf /")

    assert found.opaque
    assert found.risk == "critical"
    assert "files.delete-everything.unread" in {finding.rule for finding in found.findings}


@pytest.mark.parametrize("text", ["a | " * 700, '"${' * 500, "<<E " * 500, "[[ ! " * 500])
def test_what_would_take_the_parser_long_is_not_parsed_and_is_opaque(text: str) -> None:
    found = judge_command(text + "; rm -rf /")

    assert (found.decision, found.opaque, found.segments) == ("ask", True, ())
    assert "files.delete-everything.unread" in {finding.rule for finding in found.findings}


def test_a_table_in_a_here_document_is_still_read() -> None:
    rows = "| name | what it is | since |\n" * 100
    found = judge_command(f"cat > a.md <<'E'\n{rows}E\n")
    assert not found.opaque


def test_a_folder_that_no_system_has_is_not_followed() -> None:
    deep = "cd " + "a/" * (MAX_FOLDER_CHARS // 2) + "; cat b"
    found = judge_command(deep)
    assert (found.opaque, found.risk) == (True, "unknown")
    assert not judge_command("cd a/b/c; cat b").opaque


def test_wrappers_that_people_write_are_read_to_the_end() -> None:
    legit = (
        'sudo -u web env A=1 nice -n 5 timeout 60 nohup bash -c \'find . -name "*.pyc" -exec '
        "chmod 644 {} \\; -o -type d -exec touch {} +; ls | sort | uniq -c | head'"
    )
    found = judge_command(legit)
    assert not found.opaque
    assert "system.privilege" in {finding.rule for finding in found.findings}
    assert {segment.words[0] for segment in found.segments} >= {"chmod", "touch", "uniq", "head"}
