"""Wrappers, quotes and substitutions do not hide a command."""

from __future__ import annotations

import pytest

from watchgate.core.policy.judging.command_finder import commands
from watchgate.core.policy.shell.commands import Command

WRAPPED = [
    'r"m" -r\\f src',
    "\\rm -rf src",
    "/bin/rm -rf src",
    "$'rm' -rf src",
    "r\\\nm -rf src",
    "rm -\\\nrf src",
    "rm \\\n  -rf \\\n  src",
    "{rm,-rf,src}",
    "rm -{rf,rf} src",
    "command rm -rf src",
    "builtin command rm -rf src",
    "env -i A=1 rm -rf src",
    "env -u X -C /y rm -rf src",
    "env -S 'rm -rf src'",
    "env '-Srm -rf src'",
    "A=1 B=2 rm -rf src",
    "nohup timeout -k 5 10 nice -n 3 rm -rf src",
    "timeout --signal=9 5 rm -rf src",
    "time rm -rf src",
    "time -p rm -rf src",
    "coproc rm -rf src",
    "exec -a x rm -rf src",
    "sudo -u ada rm -rf src",
    "sudo -nEu ada rm -rf src",
    "sudo --new-option value rm -rf src",
    "doas rm -rf src",
    "stdbuf -oL rm -rf src",
    "flock /tmp/l rm -rf src",
    "flock /tmp/l -c 'rm -rf src'",
    "busybox rm -rf src",
    "unshare -r rm -rf src",
    "systemd-run --user rm -rf src",
    "uv run rm -rf src",
    "npx rm -rf src",
    "docker exec -it web rm -rf src",
    "docker run --rm -v /:/x image rm -rf src",
    "kubectl exec pod -- rm -rf src",
    "kubectl -n x exec pod -c y -- rm -rf src",
    "bash -c 'rm -rf src'",
    'bash -lc "cd x && rm -rf src"',
    "sh -c 'bash -c \"rm -rf src\"'",
    "su ada -c 'rm -rf src'",
    "eval rm -rf src",
    'eval "rm -rf src"',
    "trap 'rm -rf src' EXIT",
    "alias x='rm -rf src'",
    "mapfile -C 'rm -rf src' -c 1 x",
    "watch 'rm -rf src'",
    "hyperfine 'rm -rf src'",
    "ssh host 'rm -rf src'",
    "ssh -p 22 host rm -rf src",
    "ssh host <<'E'\nrm -rf src\nE",
    "find . -exec rm -rf src \\;",
    "find . -exec echo {} + -exec rm -rf src ';'",
    "fd x --exec rm -rf src",
    "parallel 'rm -rf src' ::: a",
    "echo $(rm -rf src)",
    'echo "$(rm -rf src)"',
    "echo `rm -rf src`",
    "echo `a` `rm -rf src`",
    "echo `echo \\`rm -rf src\\``",
    "echo ${x:-$(rm -rf src)}",
    'echo "${x:-"$(rm -rf src)"}"',
    "echo $(( $(rm -rf src) ))",
    "echo $[ $(rm -rf src) ]",
    "[[ -v a[$(rm -rf src)] ]]",
    "[ -n $(rm -rf src) ]",
    "(( a[$(rm -rf src)] ))",
    "a[$(rm -rf src)]=1",
    "a=(b $(rm -rf src))",
    "export A=$(rm -rf src)",
    "cat <(rm -rf src)",
    "tee >(rm -rf src)",
    "ls > $(rm -rf src)",
    "cat < <(rm -rf src)",
    "cat <<< $(rm -rf src)",
    "(cd x; rm -rf src)",
    "{ rm -rf src; }",
    "f() { rm -rf src; }; f",
    "function f { rm -rf src; }; f",
    "if true; then rm -rf src; fi",
    "if rm -rf src; then true; fi",
    "while rm -rf src; do true; done",
    "for f in $(rm -rf src); do true; done",
    "case $(rm -rf src) in a) true;; esac",
    "case x in $(rm -rf src)) true;; esac",
    "! rm -rf src",
    "ls\nrm -rf src",
    "ls & rm -rf src",
    "ls|rm -rf src",
    "ls |& rm -rf src",
    "ls || rm -rf src",
    ">x rm -rf src",
    "rm >x -rf src",
    "rm -rf src 2>/dev/null",
    "rm -rf src <<E 2>&1 | cat\nx\nE",
    "bash <<EOF\nrm -rf src\nEOF",
    "bash <<'EOF'\nrm -rf src\nEOF",
    "cat <<EOF\n$(rm -rf src)\nEOF",
    "cat <<EOF | sh -c 'rm -rf src'\nx\nEOF",
    "cat <<'EOF' && rm -rf src\nx\nEOF",
    "sh <<< 'rm -rf src'",
    "cat <<'EOF'\nx\nEOF\nrm -rf src",
    "cat <<-'EOF'\n\tx\n\tEOF\nrm -rf src",
    "echo 'it'\\''s'; rm -rf src",
    "git commit -m \"$(cat <<'E'\nx\nE\n)\" && rm -rf src",
]

EXPECTED = ["rm", "-rf", "src"]


def matches(command: Command) -> bool:
    words = [word.text for word in command.words]
    return command.program == "rm" and words[1:2] == ["-rf"] and words[-1] == "src"


@pytest.mark.parametrize("text", WRAPPED)
def test_a_wrapper_does_not_hide_a_command(text: str) -> None:
    found = commands(text)
    assert any(map(matches, found.commands)) or found.opaque
    seen = {word.text for command in found.commands for word in command.words}
    assert "src" in " ".join(seen)


# These are opaque, and what they run is not always told apart.
_UNCLEAR = ("`", "$[", "{rm")
READ_TO_THE_END = [text for text in WRAPPED if not any(mark in text for mark in _UNCLEAR)]


@pytest.mark.parametrize("text", READ_TO_THE_END)
def test_the_command_itself_is_found(text: str) -> None:
    assert any(map(matches, commands(text).commands))


@pytest.mark.parametrize(
    ("text", "transparent"),
    [
        ("timeout 5 a", True),
        ("timeout -k 1 5 a", True),
        ("nice -n 5 a", True),
        ("time a", True),
        ("env A=1 a", True),
        ("command a", True),
        ("/usr/bin/timeout 5 a", True),
        ("bash -c 'a'", True),
        ("bash -lc 'a'", True),
        ("ls | xargs -0 a", True),
        ("env", False),
        ("env A=1", False),
        ("env -i a", False),
        ("env -S a", False),
        ("command -v a", False),
        ("time -o f a", False),
        ("timeout --new 5 a", False),
        ("./timeout 5 a", False),
        ("/tmp/timeout 5 a", False),
        ("Timeout 5 a", False),
        ("bash -ic 'a'", False),
        ("bash -c 'a' b", False),
        ("zsh -c 'a'", False),
        ("sudo a", False),
        ("nohup a", False),
        ("xargs -a f a", False),
        ("docker exec x a", False),
        ("eval a", False),
        ("ssh x a", False),
        ("find . -exec a ;", False),
    ],
)
def test_only_a_wrapper_that_does_nothing_else_is_transparent(text: str, transparent: bool) -> None:
    command = next(c for c in commands(text).commands if c.program not in ("a", "ls"))
    assert command.transparent is transparent


@pytest.mark.parametrize(
    ("text", "expands"),
    [
        ("ls | xargs a", "words"),
        ("ls | xargs -I{} a {}", "value"),
        ("ls | xargs -I % a b/%", "value"),
        ("find . -exec a {} +", "value"),
        ("ls | parallel a", "words"),
        ("parallel a {} ::: b", "value"),
    ],
)
def test_words_from_the_input_are_only_known_at_run_time(text: str, expands: str) -> None:
    command = next(c for c in commands(text).commands if c.program == "a")
    assert command.words[-1].expands == expands


def test_variables_that_env_sets_belong_to_the_command_that_it_runs() -> None:
    command = commands("env LD_PRELOAD=x a").commands[-1]
    assert [word.text for word in command.assignments] == ["LD_PRELOAD=x"]
