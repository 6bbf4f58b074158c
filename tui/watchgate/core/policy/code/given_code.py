"""The code that the words of a command give to a program, or that the text shows it is fed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec

from watchgate.core.policy.shell.commands import Command, Word, names
from watchgate.core.policy.shell.contents import Files, is_ambiguous, printed

# Perl takes the value of `-F` in quotes or slashes for code.
_PLAIN_VALUE = re.compile(r"[^/'\"*(]{0,40}|/[^/(]{0,40}/")

# The same words mean other things in Python 2: `input()` runs what it reads.
_OLD = re.compile(r"python2[.\d]*$")

Operands = Literal["none", "first", "all"]


class Inline(msgspec.Struct, frozen=True):
    """The options of a program by which it is given code.

    One that stands in no list may do what nobody knows, so that the code is not read. `code` are
    options whose value is code, `valued` others with a value, `flags` those without. `ends` says
    that what stands behind the code is the code's own. `operands` are those that are code
    themselves; without any code a program runs the file that its first operand names, and with `-`
    or no operand what it is fed. `modules` are options whose value names another entry of the
    table, which reads the words behind. `glued` are options whose value, if any, is the rest of
    their word. `loads` are options whose value names a module, with the word by which code loads
    it. `verb` is the sub-command behind which all of this stands.
    """

    code: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    ends: bool = False
    operands: Operands = "none"
    modules: frozenset[str] = frozenset()
    glued: frozenset[str] = frozenset()
    loads: Mapping[str, str] = {}
    verb: str = ""


_NODE = Inline(
    code=names("-e -p -pe --eval --print"),
    valued=names("--input-type --max-old-space-size --stack-size --conditions -C"),
    flags=names(
        """--no-warnings --no-deprecation --trace-warnings --trace-uncaught --enable-source-maps
        --experimental-strip-types --experimental-vm-modules --use-strict"""
    ),
)
_AWK = Inline(
    code=names("-e --source"),
    valued=names("-F -v --field-separator --assign"),
    flags=names("--re-interval --posix --csv --traditional -P -c -r -N -t -S -b --sandbox"),
    operands="first",
)

INLINE: Final[Mapping[str, Inline]] = {
    "python": Inline(
        code=names("-c"),
        valued=names("-W -X --check-hash-based-pycs"),
        flags=names("-b -B -d -E -I -O -P -q -R -s -S -u -v"),
        ends=True,
        modules=names("-m"),
    ),
    "timeit": Inline(
        code=names("-s --setup"),
        valued=names("-n --number -r --repeat -u --unit"),
        flags=names("-p --process -v --verbose"),
        operands="all",
    ),
    **dict.fromkeys(("node", "nodejs"), _NODE),
    "bun": Inline(code=names("-e -p --eval --print")),
    "deno": Inline(
        verb="eval",
        valued=names("--ext"),
        flags=names("-p --print -q --quiet --no-check --no-lock --no-config"),
        operands="first",
    ),
    "perl": Inline(
        code=names("-e -E"),
        flags=names("-n -p -a -l -w -W -X -c -t -T -u -g -0 -1 -2 -3 -4 -5 -6 -7"),
        glued=names("-i -F -C"),
        loads={"-M": "use", "-m": "use"},
    ),
    "ruby": Inline(
        code=names("-e"),
        flags=names("-n -p -a -l -w -c -v -0 -1 -2 -3 -4 -5 -6 -7 -U --disable-gems --yjit"),
        glued=names("-i -F -W -K"),
        loads={"-r": "require"},
    ),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk"), _AWK),
}
"""By the plain names of programs, and of modules that take code."""


def given(command: Command, files: Files) -> tuple[Word, ...]:
    """The pieces of code that the command runs, one below the other; none if that is not sure."""
    inline = INLINE.get(command.program)
    first = command.words[0]
    if inline is None or first.dynamic or not first.text.isascii():
        return ()
    if _OLD.search(first.text):
        return ()
    arguments = command.arguments
    if inline.verb:
        if not arguments or arguments[0].dynamic or arguments[0].text != inline.verb:
            return ()
        arguments = arguments[1:]
    words = _Words(arguments, inline)
    operands = words.operands()
    if not words.clear:
        return ()
    code = tuple(words.code)
    if not code and operands and operands[0].text != "-":
        code = () if operands[0].dynamic else files.shown(operands[0].text)
    elif not code:
        code = _fed(command)
    if not code or any(word.dynamic for word in (*words.loads, *code)):
        return ()
    return (*words.loads, *code)


class _Words:
    """The words of a command, taken from the front by what a program makes of them."""

    def __init__(self, words: Sequence[Word], inline: Inline) -> None:
        self._left = list(reversed(words))
        self._inline = inline
        self.code: list[Word] = []
        self.loads: list[Word] = []
        self.clear = True

    def operands(self) -> Sequence[Word]:
        """Takes away the options and their code, and returns the operands."""
        while self._left and self.clear:
            word = self._left.pop()
            if word.text == "--" and not word.dynamic:
                break
            if word.text[:1] == "-" != word.text:
                if self._ends_with(word):
                    break
            elif self._inline.operands == "all":
                self.code.append(word)
            else:
                self._left.append(word)
                break
        operands = self._left[::-1]
        if self._inline.operands == "all":
            self.code += operands
        elif self._inline.operands == "first" and not self.code and operands:
            self.code.append(operands.pop(0))
        return operands

    def _ends_with(self, word: Word) -> bool:
        """Takes an option with its value, and tells whether no more of them follow."""
        inline = self._inline
        option, value = ("", None) if word.dynamic else _option(word.text, inline)
        self.clear = option != "" and (option in inline.flags or value is not None or self._has())
        if not self.clear or option in inline.flags:
            return False
        behind = self._left.pop() if value is None else _end_of(word, len(value))
        if option in inline.modules:
            self._hand_over(behind)
            return True
        if option in inline.loads:
            self.loads.append(_loading(inline.loads[option], behind))
        if option in inline.code:
            self.code.append(behind)
            return inline.ends
        return False

    def _has(self) -> bool:
        return bool(self._left)

    def _hand_over(self, module: Word) -> None:
        """Has the words behind read as those of a module that takes code."""
        inline = None if module.dynamic else INLINE.get(module.text)
        if inline is None:
            self.clear = False
            return
        behind = _Words(self._left[::-1], inline)
        self._left = list(reversed(behind.operands()))
        self.code, self.clear = behind.code, behind.clear and bool(behind.code)


def _option(text: str, inline: Inline) -> tuple[str, str | None]:
    """An option that decides what follows, and the value that is glued to it; "" if unknown."""
    if text.startswith("--"):
        name, sign, value = text.partition("=")
        known = name in inline.flags or name in inline.code or name in inline.valued
        return (name if known else ""), (value if sign else None)
    if text in inline.code:
        return text, None
    option = ""
    for place, letter in enumerate(text[1:], 2):
        option = "-" + letter
        if option in inline.flags:
            continue
        if option in inline.glued:
            value = text[place:]
            return (option if _PLAIN_VALUE.fullmatch(value) else ""), value
        if (
            option in inline.code
            or option in inline.valued
            or option in inline.modules
            or option in inline.loads
        ):
            return option, text[place:] or None
        return "", None
    return option, None


def _loading(verb: str, module: Word) -> Word:
    """The line of code that loads a module."""
    at = (*(module.start for _ in verb), module.start, *module.at, module.end)
    return msgspec.structs.replace(module, text=f"{verb} {module.text};", at=at)


def _end_of(word: Word, chars: int) -> Word:
    """The last characters of a word, as a word."""
    start = len(word.text) - chars
    return msgspec.structs.replace(word, text=word.text[start:], at=word.at[start:])


def _fed(command: Command) -> tuple[Word, ...]:
    """The code on the command's standard input, where exactly one source shows it."""
    if any(redirect.operator.startswith("<") for redirect in command.redirects):
        return ()
    if command.documents:
        return command.documents if len(command.documents) == 1 else ()
    if len(command.piped_from) != 1:
        return ()
    return tuple(_printed(command.piped_from[0]))


def _printed(feeding: Command) -> Iterator[Word]:
    """The lines that a command prints, where all that is to be known stands in its words."""
    if feeding.redirects or is_ambiguous(feeding):
        return
    yield from printed(feeding) or ()
