"""Reading a piece of code as the commands of a shell that do the same.

Each language has a reader: `LANGUAGES` names it by the plain name of the program that runs it.

- The end of reading code that holds something which is not understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Final

import msgspec

from watchgate.core.base.patterns.allowance import check, uncounted


class UnreadCode(Exception):
    """Some of the code is not understood; the text says what, as the end of a sentence."""


MAX_CHARS: Final = 10_000
"""More of a text is never understood: see `guards.MAX_CHARS`."""

MAX_COMMANDS: Final = 60
"""More commands than a short piece of code that somebody reads has."""

UNKNOWN_TEXT: Final = "$(...)"


class UnknownWord(msgspec.Struct, frozen=True):
    """A word that only the run knows; `text` shows it, with `UNKNOWN_TEXT` for each such part.

    `many` says that it may be any number of words.
    """

    text: str = UNKNOWN_TEXT
    many: bool = False


Piece = str | UnknownWord
"""A word of a command: its text, or what is known of it."""

Argv = tuple[Piece, ...]


class CodeReading(msgspec.Struct, frozen=True):
    """The commands that a piece of code comes down to.

    `commands` are the commands that do the same: `("rm", "-r", "build")`, `("cat", "a.json")` for a
    read, `("tee", "out.txt")` for a write, `("curl", "-d", "@a", "https://x.example")` for a send,
    the words of a process that it starts, `("sh", "-c", text)` for a text that a shell gets, and
    `("cd", "x")` where the folder changes for those behind it. `unread` is the reason why some of
    it is not understood, which may then be anything; "" where all of it is.
    `loads` are the files that it runs as modules, where they lie in its folder.
    """

    commands: tuple[Argv, ...] = ()
    unread: str = ""
    loads: tuple[str, ...] = ()


Reader = Callable[[str], CodeReading]

# Modules with a function `read`, by the plain names of programs. They are loaded when first used.
LANGUAGES: Final[Mapping[str, str]] = {
    "python": "watchgate.core.policy.code.python.python_reader",
    **dict.fromkeys(
        ("node", "nodejs", "bun", "deno"), "watchgate.core.policy.code.javascript.javascript_reader"
    ),
    "perl": "watchgate.core.policy.code.perl.perl_reader",
    "ruby": "watchgate.core.policy.code.ruby.ruby_reader",
    **dict.fromkeys(
        ("awk", "gawk", "mawk", "nawk", "original-awk"), "watchgate.core.policy.code.awk_reader"
    ),
}


# The text of a call is looked at more than once on its way.
@lru_cache(maxsize=32)
def read(program: str, code: str) -> CodeReading:
    """Tells what the code does that this program runs; nothing is known without a reader for it."""
    module = LANGUAGES.get(program)
    if module is None:
        return CodeReading(unread="Runs code of a language that is not read")
    if len(code) > MAX_CHARS:
        return CodeReading(unread="Runs code that is longer than anybody reads")
    check()
    with uncounted():
        reader: Reader = import_module(module).read
    reading = reader(code)
    commands = tuple(dict.fromkeys(reading.commands))
    if not reading.unread and any(map(_starts_anything, commands)):
        return CodeReading(commands[:MAX_COMMANDS], "Runs code that starts what only the run shows")
    if len(commands) > MAX_COMMANDS:
        return CodeReading(commands[:MAX_COMMANDS], "Runs code that does more than anybody reads")
    return msgspec.structs.replace(reading, commands=commands)


def gathered(commands: Callable[[], Iterable[Argv]], language: str) -> CodeReading:
    """Gathers what code in a language does until something is not understood, which ends it."""
    argvs: list[Argv] = []
    why = ""
    try:
        for command in commands():
            argvs.append(command)  # noqa: PERF402 - those before a fault count
    except UnreadCode as fault:
        why = f"Runs {language} that {fault}"
    except RecursionError:
        argvs, why = [], f"Runs {language} that is nested deeper than anybody reads"
    return CodeReading(tuple(argvs), why)


def _starts_anything(command: Argv) -> bool:
    """Tells whether the program of a command, or the text that a shell gets, is not known."""
    return isinstance(command[0], UnknownWord) or (
        command[:2] == ("sh", "-c") and any(isinstance(piece, UnknownWord) for piece in command[2:])
    )
