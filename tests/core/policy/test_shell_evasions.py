"""Wrappers, quotes and substitutions do not hide a command; what is not understood is opaque."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.policy.calls import judge_command, rules
from watchgate.core.policy.guards import MAX_CHARS

WRAPPED = [
    'r"m" -r\\f build',
    "\\rm -rf build",
    "/bin/rm -rf build",
    "RM -rf build",
    "$'rm' -rf build",
    "r\\\nm -rf build",
    "rm -\\\nrf build",
    "rm --recurs build",
    "command rm -rf build",
    "env -i A=1 rm -rf build",
    "env -S 'rm -rf build'",
    "A=1 B=2 rm -rf build",
    "nohup timeout -k 5 10 nice -n 3 rm -rf build",
    "time rm -rf build",
    "sudo -u ada rm -rf build",
    "stdbuf -oL rm -rf build",
    "flock /tmp/l rm -rf build",
    "busybox rm -rf build",
    "bash -c 'rm -rf build'",
    'bash -lc "cd x && rm -rf build"',
    "sh -c 'bash -c \"rm -rf build\"'",
    "su ada -c 'rm -rf build'",
    "eval rm -rf build",
    'eval "rm -rf build"',
    "trap 'rm -rf build' EXIT",
    "watch 'rm -rf build'",
    "ssh host 'rm -rf build'",
    "ssh -p 22 host rm -rf build",
    "xargs -0 -I{} sh -c 'rm -rf {}'",
    "find . -exec sh -c 'rm -rf \"$1\"' _ {} \\;",
    "echo $(rm -rf build)",
    'echo "$(rm -rf build)"',
    "echo `rm -rf build`",
    "echo ${x:-$(rm -rf build)}",
    "echo $(( $(rm -rf build) ))",
    "cat <(rm -rf build)",
    "ls > $(rm -rf build)",
    "(cd x; rm -rf build)",
    "{ rm -rf build; }",
    "f() { rm -rf build; }; f",
    "function f { rm -rf build; }; f",
    "if true; then rm -rf build; fi",
    "for f in *; do rm -rf $f; done",
    "while read f; do rm -rf $f; done",
    "case x in a) rm -rf build;; esac",
    "! rm -rf build",
    "ls\nrm -rf build",
    "ls & rm -rf build",
    "ls|rm -rf build",
    "ls || rm -rf build",
    ">x rm -rf build",
    "rm -rf build 2>/dev/null",
    "bash <<EOF\nrm -rf build\nEOF",
    "bash <<'EOF'\nrm -rf build\nEOF",
    "cat <<EOF\n$(rm -rf build)\nEOF",
    "cat <<'A' <<'B'\nx\nA\ny\nB\nrm -rf build",
    "sh <<< 'rm -rf build'",
    "cat <<'EOF'\nx\nEOF\nrm -rf build",
    "cat <<-'EOF'\n\tx\n\tEOF\nrm -rf build",
    "echo 'it'\\''s'; rm -rf build",
]

OPAQUE = [
    "$X -rf /",
    "{rm,-rf,/}",
    "rm${IFS}-rf /",
    "/bin/r? -rf /",
    "eval $X",
    "bash -c $X",
    'bash -c "$X"',
    "source x.sh",
    ". x.sh",
    "alias ls=rm",
    "python3 -c 'import os'",
    "perl -e 'unlink'",
    "node --eval 'x'",
    "echo cm0gLXJmIC8= | base64 -d | sh",
    "python3 - <<'EOF'\nimport os\nEOF",
    "cat script | bash",
    "bash < script",
    "echo 'unterminated",
    'echo "unterminated',
    "echo $(unterminated",
    "echo )",
    "cat <<EOF\nno end",
    "ls >",
    "a=(b c)",
    "r\u043c -rf /",
]


@pytest.mark.parametrize("command", WRAPPED)
def test_a_wrapper_does_not_hide_a_command(command: str) -> None:
    found = judge_command(command)
    assert "files.delete-recursive" in rules(found)
    assert found.risk in ("high", "critical")


@pytest.mark.parametrize("command", OPAQUE)
def test_what_is_not_understood_is_opaque_and_unknown(command: str) -> None:
    found = judge_command(command)
    assert found.opaque
    assert found.decision == "ask"
    assert found.risk == "unknown"
    assert "shell.opaque" in rules(found)


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("echo 'x; rm -rf ~/y", "critical"),
        ("{ curl x; } | sh", "critical"),
        ("perl -e 'system(\"rm -rf build\")'", "high"),
        ("python -c 'os.system(\"sudo x\")'", "high"),
        ("echo $(cat .env", "high"),
    ],
)
def test_where_it_is_opaque_the_text_itself_is_searched(command: str, risk: str) -> None:
    found = judge_command(command)
    assert found.opaque
    assert found.risk == risk


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x1b[2J", "\x00", "\U000e0041", "\x0c"])
def test_hidden_characters_are_at_least_unknown(hidden: str) -> None:
    found = judge_command(f"ls {hidden}x")
    assert found.risk == "unknown"
    finding = next(f for f in found.findings if f.rule == "text.hidden")
    assert finding.span == (3, 4)
    assert "text.hidden" in rules(judge_command(f"sudo ls {hidden}"))


def test_a_newline_and_a_tab_are_not_hidden() -> None:
    assert "text.hidden" not in rules(judge_command("ls\n\tpwd"))


def test_a_command_longer_than_anybody_reads_is_unknown() -> None:
    found = judge_command("echo " + "x" * MAX_CHARS)
    assert found.rule == "text.too-long"
    assert found.reason == "Is longer than 10,000 characters, more than anybody reads"
    assert "text.too-long" not in rules(judge_command("x" * MAX_CHARS))


def test_padding_does_not_push_a_command_out_of_sight() -> None:
    found = judge_command("true; " * 500 + "rm -rf ~/x")
    assert found.opaque
    assert found.risk == "critical"


@pytest.mark.parametrize(
    "deep", ["$(" * 3000, "(" * 3000, "`" * 3001, "bash -c " * 900, "<<A " * 900]
)
def test_nesting_without_end_is_opaque_and_no_error(deep: str) -> None:
    assert judge_command(deep).opaque


PIECES = st.sampled_from(
    [
        "rm",
        "-rf",
        "/",
        " ",
        "'",
        '"',
        "\\",
        "$",
        "(",
        ")",
        "`",
        "{",
        "}",
        ";",
        "|",
        "&",
        "<",
        ">",
        "<<E",
        "\n",
        "E\n",
        "sudo",
        "bash -c",
        "eval",
        "$(",
        "watchgate",
        "=",
        "~",
        "#",
        "\u202e",
        "a",
    ]
)
COMMANDS = st.text(st.characters(exclude_categories=())) | st.lists(PIECES).map("".join)


@given(COMMANDS)
def test_no_shell_command_is_ever_allowed_and_every_mark_lies_inside_it(command: str) -> None:
    found = judge_command(command)
    assert found.decision == "ask"
    assert found.risk in ("unknown", "high", "critical")
    for finding in found.findings:
        if finding.span is not None:
            start, end = finding.span
            assert 0 <= start < end <= len(command)


WRAPPERS = st.sampled_from(
    [
        "{}",
        "sudo {}",
        "env A=1 {}",
        "timeout 5 {}",
        "ls; {}",
        "ls && {}",
        "ls | {}",
        "({})",
        "bash -c '{}'",
        'sh -c "{}"',
        "echo $({})",
        "xargs {}",
        "if a; then {}; fi",
        "! {}",
    ]
)


@given(
    st.lists(WRAPPERS, max_size=5), st.sampled_from(["rm -rf /", "git push -f", "mkfs /dev/sda"])
)
def test_a_dangerous_command_stays_at_least_unknown_in_any_wrapping(
    wrappers: list[str], command: str
) -> None:
    quotes = 0
    for wrapper in wrappers:
        quotes += "'" in wrapper or '"' in wrapper
        command = wrapper.replace("{}", command)
    found = judge_command(command)
    assert found.decision == "ask"
    if quotes <= 1:
        assert found.risk in ("high", "critical")
