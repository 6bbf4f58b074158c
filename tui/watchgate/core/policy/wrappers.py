"""Programs that run other commands, as tables: how to find the command behind each of them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

import msgspec

from watchgate.core.policy.words import Word, names

MAX_DEPTH = 8

KEYWORDS = names("! { } if then else elif fi do done while until coproc esac")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^]]*])?\+?=")

SHELLS = names("sh bash zsh dash ksh mksh ash fish csh tcsh rbash")
INTERPRETERS = names("python perl ruby node php lua deno bun tclsh osascript pwsh")
_INLINE_FLAGS = frozenset("cerpE")
_INLINE_OPTIONS = ("--eval", "--print", "--execute")
_READS_FILES = frozenset(("source", ".", "alias", "function"))
_VERSION = re.compile(r"[\d.]+$")


class Prefix(msgspec.Struct, frozen=True):
    """A program that runs the rest of its words.

    `valued` are its options with a value, `operands` is how many words of its own come first;
    with one of the options `only_asks` it runs nothing.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    only_asks: frozenset[str] = frozenset()


def _prefix(valued: str = "", operands: int = 0, only_asks: str = "") -> Prefix:
    return Prefix(names(valued), operands, names(only_asks))


PREFIXES: dict[str, Prefix] = {
    "sudo": _prefix(
        "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot"
    ),
    "doas": _prefix("-u -C"),
    "pkexec": _prefix("--user"),
    "run0": _prefix("-u -g -D --user --group --chdir --setenv --unit --property"),
    "runuser": _prefix("-u -g -G --user --group"),
    "env": _prefix("-u -C -S --unset --chdir --split-string"),
    "nohup": _prefix(),
    "setsid": _prefix(),
    "nice": _prefix("-n --adjustment"),
    "ionice": _prefix("-c -n -p -P -u --class --classdata"),
    "chrt": _prefix("-T -P -D", 1),
    "taskset": _prefix("", 1),
    "timeout": _prefix("-s -k --signal --kill-after", 1),
    "time": _prefix("-f -o --format --output"),
    "command": _prefix("", 0, "-v -V"),
    "builtin": _prefix(),
    "exec": _prefix("-a"),
    "xargs": _prefix(
        "-I -n -P -L -d -E -s -a -R -S --replace --max-args --max-procs --max-lines --delimiter"
        " --arg-file --max-chars"
    ),
    "parallel": _prefix("-j -I -n -N -L -d -S --jobs --joblog --colsep --delay --timeout"),
    "stdbuf": _prefix("-i -o -e --input --output --error"),
    "chroot": _prefix("", 1),
    "flock": _prefix("-w -E --timeout --conflict-exit-code", 1),
    "busybox": _prefix(),
    "toybox": _prefix(),
    "strace": _prefix("-e -o -p -s -u -E -a -I"),
    "ltrace": _prefix("-e -o -p -s -u -a -n"),
    "watch": _prefix("-n -q --interval"),
    "unshare": _prefix("-S -G -R -w --root --wd --setuid --setgid"),
    "nsenter": _prefix("-t -S -G --target --setuid --setgid"),
    "caffeinate": _prefix("-t -w"),
    "unbuffer": _prefix(),
    "dbus-run-session": _prefix(),
    "systemd-run": _prefix("-p -u -E --unit --property --setenv --uid --gid --slice"),
}

# Programs whose option -c (or these) is followed by a command as one text.
SCRIPT_OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(SHELLS, ("-c", "--command")),
    "su": ("-c", "--command", "--session-command"),
    "runuser": ("-c", "--command", "--session-command"),
    "script": ("-c", "--command"),
    "flock": ("-c", "--command"),
    "env": ("-S", "--split-string"),
}

# Programs whose operands, after this many, are a command as text.
SCRIPT_OPERANDS = {"eval": 0, "trap": 0, "watch": 0, "ssh": 1, "parallel": 0}
_SSH_VALUED = names("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w")

_FIND_EXEC = frozenset(("-exec", "-execdir", "-ok", "-okdir"))


def plain_name(word: Word) -> str:
    """A program's name without folder, version and capitals: `/bin/python3.12` is `python`."""
    name = posixpath.basename(word.text).lower()
    family = _VERSION.sub("", name)
    return family if family in INTERPRETERS else name


def wrapped(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """The commands that these words run as they stand: `timeout 5 rm x` gives `rm x`."""
    program = plain_name(words[0])
    if program in ("find", "fd", "fdfind"):
        yield from _find_commands(words)
    elif (prefix := PREFIXES.get(program)) and program not in SCRIPT_OPERANDS:
        rest = _after_options(words[1:], prefix.valued)
        if any(w.text in prefix.only_asks for w in words[1 : len(words) - len(rest)]):
            return
        while rest and ASSIGNMENT.match(rest[0].text):
            rest = rest[1:]
        if rest[prefix.operands :]:
            yield tuple(rest[prefix.operands :])


def scripts(words: Sequence[Word]) -> Iterator[Word]:
    """The texts among these words that a shell would read as commands."""
    program = plain_name(words[0])
    options = SCRIPT_OPTIONS.get(program, ())
    for index, word in enumerate(words[1:], 1):
        if option := _script_option(word.text, options):
            glued = len(word.text[len(option) :].removeprefix("="))
            if glued:
                text, at = word.text[-glued:], word.at[-glued:]
                yield msgspec.structs.replace(word, text=text, at=at)
            elif index + 1 < len(words):
                yield words[index + 1]
    if program in SCRIPT_OPERANDS:
        valued = _SSH_VALUED if program == "ssh" else PREFIXES.get(program, Prefix()).valued
        operands = _after_options(words[1:], valued)[SCRIPT_OPERANDS[program] :]
        if operands:
            yield _joined(operands)


def fed_scripts(words: Sequence[Word], documents: Sequence[Word]) -> Sequence[Word]:
    """The here-documents and here-strings that a shell would read as commands."""
    return documents if plain_name(words[0]) in SHELLS else ()


def unreadable(words: Sequence[Word], fed: bool) -> bool:
    """Whether the command runs something that its words do not show.

    That is a program named by an expansion, code of another language, a sourced file, or a shell
    that reads its commands from what is `fed` to it.
    """
    program = plain_name(words[0])
    if program in ("[", "[["):
        return False
    if words[0].dynamic or not words[0].text.isascii() or program in _READS_FILES:
        return True
    operands = _after_options(words[1:], frozenset())
    flags = [word.text for word in words[1 : len(words) - len(operands)]]
    if program in SHELLS:
        return fed and not any(_script_option(flag, ("-c",)) for flag in flags)
    if program not in INTERPRETERS:
        return False
    return any(map(_inline, flags)) or (fed and [w.text for w in operands] in ([], ["-"]))


def _inline(flag: str) -> bool:
    if flag.startswith("--"):
        return flag.startswith(_INLINE_OPTIONS)
    return bool(_INLINE_FLAGS & set(flag))


def _script_option(text: str, options: tuple[str, ...]) -> str:
    """The option of these that a word is, also at the end of a cluster such as `-lc`."""
    for option in options:
        long = option.startswith("--")
        if text == option or (text.startswith(option) and (long or option == "-S")):
            return option
        letters = text[1:]
        if not long and text[:1] in ("-", "+") and option[1] in letters and _plain(letters):
            return text
    return ""


def _plain(letters: str) -> bool:
    return letters.isascii() and letters.isalpha()


def _after_options(words: Sequence[Word], valued: frozenset[str]) -> Sequence[Word]:
    index = 0
    while index < len(words):
        text = words[index].text
        if text == "--":
            return words[index + 1 :]
        if not text.startswith("-") or text == "-":
            break
        index += 2 if text in valued else 1
    return words[index:]


def _find_commands(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    starts = [
        i for i, word in enumerate(words) if word.text in _FIND_EXEC or word.text in ("-x", "-X")
    ]
    for start in starts:
        rest = [word.text for word in words[start + 1 :]]
        ends = [rest.index(mark) for mark in (";", "+") if mark in rest]
        command = words[start + 1 : start + 1 + min(ends, default=len(rest))]
        if command:
            yield tuple(command)


def _joined(words: Sequence[Word]) -> Word:
    """The words with one blank between them, as `eval` reads them."""
    text = " ".join(word.text for word in words)
    at: list[int] = []
    for word in words:
        at += (*word.at, word.end)
    dynamic = any(word.dynamic for word in words)
    return Word(text, tuple(at[:-1]), words[0].start, words[-1].end, dynamic)
