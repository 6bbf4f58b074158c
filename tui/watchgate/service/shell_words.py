"""A shell's own command line: a shell that runs a command, or one that a person types into."""

from __future__ import annotations

from pathlib import PurePath

_SHELLS = frozenset(
    """sh bash dash zsh ksh mksh ash fish csh tcsh busybox rbash rksh oksh yash posh nu elvish
    pwsh""".split()
)
_TAKE_A_VALUE = frozenset(
    {"-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-C", "--init-command"}
)


def is_working_shell(cmd: tuple[str, ...], comm: str) -> bool:
    """Returns whether this process is a shell run with `-c`, `-s` or a script.

    A shell without any of them is one that somebody types into. `cmd` is its argv, empty where it
    cannot be read, which shows nothing about a shell's use: then it counts as typed into.
    """
    name, words = _own_words(cmd)
    if (name or comm) not in _SHELLS:
        return False
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("-", "--"):
            continue
        elif word.startswith("--"):
            if word.startswith("--command"):
                return True
            skip = word in _TAKE_A_VALUE
        elif word[:1] in ("-", "+") and len(word) > 1:
            # PowerShell writes its options as words: -Command, -File.
            runs_command = word.lower() in ("-command", "-file") or any(c in word[1:] for c in "cs")
            if word[0] == "-" and runs_command:
                return True
            skip = word in _TAKE_A_VALUE
        else:
            return True
    return False


def _own_words(cmd: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    if not cmd:
        return "", ()
    name = PurePath(cmd[0]).name.removeprefix("-")
    if name == "busybox" and len(cmd) > 1:
        return PurePath(cmd[1]).name, cmd[2:]
    return name, cmd[1:]
