from __future__ import annotations

import pytest

from watchgate.core.model.assessment import Finding, judge
from watchgate.core.policy.judging.rule_examples import Case, CaseError, read_cases

FOUND = judge([Finding("git.push", "Sends commits away", "medium")])


def test_lines_are_cases_with_their_numbers_and_empty_ones_are_passed_over() -> None:
    raw = b'{"command": "ls", "expected": "allow"}\n\n{"tool": "Edit", "risk": "low"}\n'
    assert [number for number, _ in read_cases(raw)] == [1, 3]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ls", "1: JSON is malformed"),
        ('{"command": "ls"}', "1: expects nothing"),
        ('{"expected": "ask"}', "1: name either a command or a tool"),
        ('{"command": "ls", "tool": "Bash", "expected": "ask"}', "1: name either"),
        ('{"command": "ls", "expected": "maybe"}', "Invalid enum value 'maybe'"),
        (
            '{"command": "ls", "expect": "ask"}',
            "unknown field `expect`; a case has command, tool, input",
        ),
    ],
)
def test_a_line_that_is_no_case_is_an_error_with_its_number(line: str, says: str) -> None:
    with pytest.raises(CaseError, match=says):
        list(read_cases(line.encode()))


@pytest.mark.parametrize(
    "case",
    [
        Case(command="x", expected="ask"),
        Case(command="x", risk="medium"),
        Case(command="x", rule="git.push"),
    ],
)
def test_what_is_as_expected_has_no_faults(case: Case) -> None:
    assert case.faults(FOUND) == []


@pytest.mark.parametrize(
    ("case", "says"),
    [
        (Case(command="x", expected="deny"), "expected deny, not ask"),
        (Case(command="x", risk="high"), "expected high risk, not medium"),
        (Case(command="x", rule="git.other"), "expected a word of git.other"),
    ],
)
def test_what_differs_is_told_with_what_was_said_instead(case: Case, says: str) -> None:
    assert case.faults(FOUND) == [says, "for git.push: Sends commits away"]


def test_a_case_becomes_the_call_in_the_folder_that_it_names() -> None:
    subject = Case(command="ls", cwd="/x").subject(cwd="/y", home="/home/u", own=("/own",))
    assert (subject.tool.cls, subject.tool.input) == ("shell", {"command": "ls"})
    assert (subject.cwd, subject.home, subject.own) == ("/x", "/home/u", ("/own",))
    other = Case(tool="mcp__srv__get").subject(cwd="/y", home="/home/u", own=())
    assert (other.tool.cls, other.cwd) == ("mcp", "/y")
