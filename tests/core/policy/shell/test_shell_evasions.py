"""No way of writing a dangerous command makes the shipped policy allow it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.policy.calls import judge_command, rules
from tests.core.policy.shell.test_hard_shapes import OPAQUE
from tests.core.policy.shell.test_wrappers import WRAPPED
from watchgate.core.model.assessment import severity
from watchgate.core.policy.inputs.text_guards import MAX_CHARS

HIGH = severity("high")


@pytest.mark.parametrize("command", WRAPPED)
def test_a_wrapper_does_not_hide_a_command(command: str) -> None:
    found = judge_command(command)
    assert found.decision != "allow"
    assert severity(found.risk) >= HIGH or found.risk == "unknown"


@pytest.mark.parametrize("command", OPAQUE)
def test_what_is_not_understood_is_asked(command: str) -> None:
    found = judge_command(command)
    assert found.opaque
    assert found.decision != "allow"
    assert "shell.opaque" in rules(found)


@pytest.mark.parametrize(
    "command",
    [
        *(f"{name}=x ls" for name in ("LD_PRELOAD", "PATH", "BASH_ENV", "PAGER", "IFS", "ENV")),
        "GIT_SSH_COMMAND=x git log",
        "env LD_PRELOAD=x ls",
        "export PATH=/tmp; ls",
        "git -c core.pager=x log",
        "env -S 'x y'",
        "echo $(( a[$(x)] ))",
        "[[ -v a[$(x)] ]]",
        "sed -n '1e x' f",
        "rg --pre x y",
        "git log --output=f",
        "git diff --ext-diff",
        "git grep -Ox y",
        "less +!x f",
        "man -P x ls",
        "ls >| f",
        "ls >& f",
        "ls <> f",
        "cat < /dev/tcp/host/80",
        "cat ~/.ssh/id_rsa",
        "cat .env",
        "git reflog expire --all",
        "find . -delete",
        "find . -dele\\\nte",
        "find . \\-delete",
        'find . -"delete"',
        "find . -del{ete,x}",
        "find . $'-delete'",
        "find . -exec x {} \\;",
        "./ls",
        "/tmp/ls",
        "cat $(echo .env)",
        "echo .env | xargs cat",
        "x=.env; cat $x",
        "tar xf a --checkpoint-action=exec=x",
        "awk 'BEGIN { system(\"x\") }'",
        "vim -c '!x'",
    ],
)
def test_an_evasion_that_is_known_in_the_field_is_asked(command: str) -> None:
    assert judge_command(command).decision != "allow"


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x1b[2J", "\x00", "\U000e0041", "\x0c"])
def test_hidden_characters_are_at_least_unknown(hidden: str) -> None:
    found = judge_command(f"ls {hidden}x")
    assert found.decision != "allow"
    assert next(f for f in found.findings if f.rule == "text.hidden").span == (3, 4)


def test_a_newline_and_a_tab_are_not_hidden() -> None:
    assert "text.hidden" not in rules(judge_command("ls\n\tpwd"))


def test_a_command_longer_than_anybody_reads_is_never_allowed() -> None:
    found = judge_command("echo " + "x" * MAX_CHARS)
    assert found.decision != "allow"
    assert "text.too-long" in rules(found)
    assert "text.too-long" not in rules(judge_command("x" * MAX_CHARS))


def test_padding_does_not_push_a_command_out_of_sight() -> None:
    found = judge_command("true; " * 500 + "rm -rf ~/x")
    assert found.decision != "allow"
    assert severity(found.risk) >= HIGH


@pytest.mark.parametrize(
    "deep", ["$(" * 3000, "(" * 3000, "`" * 3001, "bash -c " * 900, "<<A " * 900]
)
def test_nesting_without_end_is_opaque_and_no_error(deep: str) -> None:
    assert judge_command(deep).opaque


PIECES = st.sampled_from(
    "rm|-rf|/|ls|cat|git status|echo| | | |'|\"|\\|$|(|)|`|{|}|;|&|<|>|<<E|\n|E\n|timeout 5|xargs|"
    "bash -c|eval|$(|env|time|=|~|#|*|\u202e|\xa0|a".split("|")
)
COMMANDS = st.text(st.characters(exclude_categories=())) | st.lists(PIECES).map("".join)


@given(COMMANDS)
def test_any_text_is_judged_and_every_mark_lies_inside_it(command: str) -> None:
    found = judge_command(command)
    for finding in found.findings:
        if finding.span is not None:
            start, end = finding.span
            assert 0 <= start <= end <= len(command)


WRAPPERS = st.sampled_from(
    [
        "{}", "sudo {}", "env LANG=C {}", "timeout 5 {}", "nice -n 5 {}", "time {}", "command {}",
        "stdbuf -oL {}", "ls; {}", "ls && {}", "{} | cat", "ls | {}", "( {} )", "{ {}; }",
        "echo $( {} )", 'echo "$( {} )"', "cat <( {} )", "ls | xargs {}", "if ls; then {}; fi",
        "for x in 1; do {}; done", "while {}; do ls; done", "case x in x) {};; esac", "! {}",
        "cat <<E\n$( {} )\nE", "{} 2>&1", "{} > /dev/null", "ls # {}\n{}", "f() { {}; }",
        "[[ -n $( {} ) ]]", "X=$( {} ) ls", "echo ${x:-$( {} )}", "echo $(( 1 + $( {} ) ))",
    ]
)  # fmt: skip
SHELLS = st.sampled_from(["bash -c {}", "sh -c {}", "bash -lc {}", "eval {}", "env -S {}"])
QUOTES = st.sampled_from(["{}", "'{}'", '"{}"', "\\{}", "$'{}'", "''{}", '{}""'])
DANGERS = st.sampled_from(
    ["rm -rf /", "git push --force", "mkfs /dev/sda", "find . -delete", "chmod -R 777 /"]
)


@settings(deadline=None, max_examples=300)
@given(
    st.lists(WRAPPERS, max_size=4),
    st.none() | SHELLS,
    st.lists(QUOTES, min_size=5, max_size=5),
    DANGERS,
)
def test_a_dangerous_command_is_never_allowed_in_any_wrapping(
    wrappers: list[str], shell: str | None, quotes: list[str], danger: str
) -> None:
    words = danger.split()
    command = " ".join(q.replace("{}", w) for q, w in zip(quotes, words, strict=False))
    if shell:
        text = "'" + command.replace("'", "'\\''") + "'"
        command = shell.replace("{}", text)
    for wrapper in wrappers:
        command = wrapper.replace("{}", command)
    assert judge_command(command).decision != "allow"
