"""Wrappers, quotes and substitutions do not hide a command."""

from __future__ import annotations

import pytest

from watchgate.core.policy.shell.commands import Command
from watchgate.core.policy.shell.finder import commands

WRAPPED = [
    'r"m" -r\\f build',
    "\\rm -rf build",
    "/bin/rm -rf build",
    "$'rm' -rf build",
    "r\\\nm -rf build",
    "rm -\\\nrf build",
    "rm \\\n  -rf \\\n  build",
    "{rm,-rf,build}",
    "rm -{rf,rf} build",
    "command rm -rf build",
    "builtin command rm -rf build",
    "env -i A=1 rm -rf build",
    "env -u X -C /y rm -rf build",
    "env -S 'rm -rf build'",
    "env '-Srm -rf build'",
    "A=1 B=2 rm -rf build",
    "nohup timeout -k 5 10 nice -n 3 rm -rf build",
    "timeout --signal=9 5 rm -rf build",
    "time rm -rf build",
    "time -p rm -rf build",
    "coproc rm -rf build",
    "exec -a x rm -rf build",
    "sudo -u ada rm -rf build",
    "sudo -nEu ada rm -rf build",
    "sudo --new-option value rm -rf build",
    "doas rm -rf build",
    "stdbuf -oL rm -rf build",
    "flock /tmp/l rm -rf build",
    "flock /tmp/l -c 'rm -rf build'",
    "busybox rm -rf build",
    "unshare -r rm -rf build",
    "systemd-run --user rm -rf build",
    "uv run rm -rf build",
    "npx rm -rf build",
    "docker exec -it web rm -rf build",
    "docker run --rm -v /:/x image rm -rf build",
    "kubectl exec pod -- rm -rf build",
    "kubectl -n x exec pod -c y -- rm -rf build",
    "bash -c 'rm -rf build'",
    'bash -lc "cd x && rm -rf build"',
    "sh -c 'bash -c \"rm -rf build\"'",
    "su ada -c 'rm -rf build'",
    "eval rm -rf build",
    'eval "rm -rf build"',
    "trap 'rm -rf build' EXIT",
    "alias x='rm -rf build'",
    "mapfile -C 'rm -rf build' -c 1 x",
    "watch 'rm -rf build'",
    "hyperfine 'rm -rf build'",
    "ssh host 'rm -rf build'",
    "ssh -p 22 host rm -rf build",
    "ssh host <<'E'\nrm -rf build\nE",
    "find . -exec rm -rf build \\;",
    "find . -exec echo {} + -exec rm -rf build ';'",
    "fd x --exec rm -rf build",
    "parallel 'rm -rf build' ::: a",
    "echo $(rm -rf build)",
    'echo "$(rm -rf build)"',
    "echo `rm -rf build`",
    "echo `a` `rm -rf build`",
    "echo `echo \\`rm -rf build\\``",
    "echo ${x:-$(rm -rf build)}",
    'echo "${x:-"$(rm -rf build)"}"',
    "echo $(( $(rm -rf build) ))",
    "echo $[ $(rm -rf build) ]",
    "[[ -v a[$(rm -rf build)] ]]",
    "[ -n $(rm -rf build) ]",
    "(( a[$(rm -rf build)] ))",
    "a[$(rm -rf build)]=1",
    "a=(b $(rm -rf build))",
    "export A=$(rm -rf build)",
    "cat <(rm -rf build)",
    "tee >(rm -rf build)",
    "ls > $(rm -rf build)",
    "cat < <(rm -rf build)",
    "cat <<< $(rm -rf build)",
    "(cd x; rm -rf build)",
    "{ rm -rf build; }",
    "f() { rm -rf build; }; f",
    "function f { rm -rf build; }; f",
    "if true; then rm -rf build; fi",
    "if rm -rf build; then true; fi",
    "while rm -rf build; do true; done",
    "for f in $(rm -rf build); do true; done",
    "case $(rm -rf build) in a) true;; esac",
    "case x in $(rm -rf build)) true;; esac",
    "! rm -rf build",
    "ls\nrm -rf build",
    "ls & rm -rf build",
    "ls|rm -rf build",
    "ls |& rm -rf build",
    "ls || rm -rf build",
    ">x rm -rf build",
    "rm >x -rf build",
    "rm -rf build 2>/dev/null",
    "rm -rf build <<E 2>&1 | cat\nx\nE",
    "bash <<EOF\nrm -rf build\nEOF",
    "bash <<'EOF'\nrm -rf build\nEOF",
    "cat <<EOF\n$(rm -rf build)\nEOF",
    "cat <<EOF | sh -c 'rm -rf build'\nx\nEOF",
    "cat <<'EOF' && rm -rf build\nx\nEOF",
    "sh <<< 'rm -rf build'",
    "cat <<'EOF'\nx\nEOF\nrm -rf build",
    "cat <<-'EOF'\n\tx\n\tEOF\nrm -rf build",
    "echo 'it'\\''s'; rm -rf build",
    "git commit -m \"$(cat <<'E'\nx\nE\n)\" && rm -rf build",
]

EXPECTED = ["rm", "-rf", "build"]


def matches(command: Command) -> bool:
    words = [word.text for word in command.words]
    return command.program == "rm" and words[1:2] == ["-rf"] and words[-1] == "build"


@pytest.mark.parametrize("text", WRAPPED)
def test_a_wrapper_does_not_hide_a_command(text: str) -> None:
    found = commands(text)
    assert any(map(matches, found.found)) or found.opaque
    seen = {word.text for command in found.found for word in command.words}
    assert "build" in " ".join(seen)


# These are opaque, and what they run is not always told apart.
_UNCLEAR = ("`", "$[", "{rm")
READ_TO_THE_END = [text for text in WRAPPED if not any(mark in text for mark in _UNCLEAR)]


@pytest.mark.parametrize("text", READ_TO_THE_END)
def test_the_command_itself_is_found(text: str) -> None:
    assert any(map(matches, commands(text).found))


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
    command = next(c for c in commands(text).found if c.program not in ("a", "ls"))
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
    command = next(c for c in commands(text).found if c.program == "a")
    assert command.words[-1].expands == expands


def test_variables_that_env_sets_belong_to_the_command_that_it_runs() -> None:
    command = commands("env LD_PRELOAD=x a").found[-1]
    assert [word.text for word in command.assignments] == ["LD_PRELOAD=x"]
