"""A text that no shell reads is explained by its cause and its place."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.policy.calls import judge_command
from watchgate.core.policy.shell.parse_error import parse_error

FAULTS = {
    'echo "x': "Unterminated double quote from character 6",
    "echo 'a b": "Unterminated single quote from character 6",
    "echo $'a\\'": "Unterminated single quote from character 6",
    "echo `ls": "Unterminated back-tick from character 6",
    "echo ${x": "Unterminated ${ from character 6",
    "echo $(ls": "Unclosed $( from character 6",
    'echo "a $(ls': "Unclosed $( from character 9",
    "(ls; pwd": "Unclosed ( from character 1",
    "x=(a b": "Unclosed ( from character 3",
    "{ ls": "Expected } for the { at character 1",
    "ls )": "Unexpected ) at character 4, which nothing opens",
    "( ls; }": "Unexpected } at character 7; expected ) for the ( at character 1",
    "case x in": "Expected a pattern or esac for the case at character 1",
    "case x": "Expected in for the case at character 1",
    "if x; then y": "Expected fi for the if at character 1",
    "ls; if x; fi": "Expected then before fi at character 11",
    "if x; then y; done": (
        "Unexpected done at character 15; expected fi for the if at character 1"
    ),
    "for i in a b; do ls": "Expected done for the for at character 1",
    "while x; y; done": "Expected do before done at character 13",
    "fi": "Unexpected fi at character 1",
    "cat <<E\nno end": "Here-document from character 5 has no line E to end it",
    "cat <<-'E F'\n\tE": "Here-document from character 5 has no line E F to end it",
    "ls &&": "Expected a command after && at character 4",
    "| ls": "Expected a command before | at character 1",
    "a && && b": "Expected a command between && and &&",
    "ls >": "Expected a file after > at character 4",
    "ls;; pwd": "Unexpected ;; at character 3, outside of a case",
}

READ = [
    "",
    "# it's \"odd",
    "echo 'x' \"it's\" $'it\\'s' \\\" a#b",
    "case $x in done) a;; if|fi) b;; (c) d ;& *) e\nesac",
    "if a; then b; elif c; then d; else e; fi",
    "if (a); then { b; } fi",
    'for i; do a; done; for i in *.{a,b}; do echo "$i"; done < x',
    "for ((i=0; i<3; i++)); do a; done",
    "while a\ndo b\ndone",
    "f() { a; }; f() (a); function g { a; }; function h() { a; }",
    "x=(done fi); y=$(a \"$(b 'c')\")",
    "cat <<A <<-'B' | c\n$(x\nA\n\ty\n\tB\na",
    '((x > 1)) && echo $((1 + 2)) ${x:-"a}b"} ${x//"/"/-}',
    "[[ -f x && $y =~ ^(a|b)$ ]] || a",
    "a |& b; a &> x; a >& y; a 2>&1 <<< x &",
    "! { a; } > x; time a | b",
    "ls |\nb && \\\n c",
    "diff <(a) >(b)",
    "echo if then fi } done",
]  # fmt: skip


@pytest.mark.parametrize("text", FAULTS)
def test_the_first_fault_has_its_cause_and_its_place(text: str) -> None:
    fault = parse_error(text, range(len(text)))
    assert fault is not None
    assert fault.cause == FAULTS[text]


@pytest.mark.parametrize("text", FAULTS)
def test_no_shell_reads_what_has_a_fault(text: str) -> None:
    run = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    assert run.returncode != 0 or "here-document" in run.stderr


@pytest.mark.parametrize("text", READ)
def test_what_a_shell_reads_has_no_fault(text: str) -> None:
    run = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    assert run.returncode == 0
    assert parse_error(text, range(len(text))) is None


@settings(max_examples=300)
@given(st.text("ab \n'\"`$(){};|&<>\\#=", max_size=40))
def test_any_text_is_explained_within_itself(text: str) -> None:
    fault = parse_error(text, range(len(text)))
    if fault is not None:
        start, end = fault.span
        assert 0 <= start < end <= len(text)


def test_the_reason_of_a_call_is_the_fault_marked_at_its_place() -> None:
    found = judge_command("cd src && echo \"it's done")
    (finding,) = (each for each in found.findings if each.rule == "shell.opaque")
    assert finding.reason == "Unterminated double quote from character 16"
    assert finding.span == (15, 16)


def test_a_fault_in_an_inner_script_is_placed_in_the_whole_text() -> None:
    found = judge_command("bash -c 'if x; then y'")
    (finding,) = (each for each in found.findings if each.rule == "shell.opaque")
    assert finding.reason == "Expected fi for the if at character 10"
    assert finding.span == (9, 11)


def test_a_very_long_text_is_not_gone_through() -> None:
    assert parse_error("(" * 4_001, range(4_001)) is None
    assert parse_error("(" * 3_000, range(3_000)) is not None
