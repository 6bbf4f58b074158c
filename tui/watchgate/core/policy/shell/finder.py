"""Every command that a shell text would run, found through wrappers, groups and substitutions."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from watchgate.core.policy.shell import opacity
from watchgate.core.policy.shell.commands import Command, Commands
from watchgate.core.policy.shell.reader import read
from watchgate.core.policy.shell.script import TOO_MUCH, Notes, Part, Script
from watchgate.core.policy.shell.unwrap import ASSIGNMENT, unwrap
from watchgate.core.policy.shell.words import Word, names

# A longer text is searched as text: nobody reads it, and its rules must not take long.
MAX_COMMANDS = 128
# Words of commands and characters of scripts, all together: wrappers in wrappers repeat theirs.
MAX_READ = 40_000
# Wrappers in wrappers; nobody writes more of them for an honest reason.
MAX_DEPTH = 8

_KEYWORDS = names("! { } if then else elif fi do done while until esac")


def commands(text: str) -> Commands:
    """Every command of the text; `opaque` if some of it could run what was not found."""
    finder = _Finder()
    finder.walk(read(text, range(len(text)), finder.notes), (), None, 0)
    notes = finder.notes
    if notes.computes and notes.hides_code:
        notes.doubt("Takes text for arithmetic or a name, which may run commands within it")
    if not notes.defined.isdisjoint(c.words[0].text for c in finder.found if c.words):
        notes.doubt("Gives a command another meaning and then runs it")
    return Commands(tuple(finder.found), bool(notes.why), notes.why)


class _Finder:
    def __init__(self) -> None:
        self.found: list[Command] = []
        self.notes = Notes()
        self.segment = 0
        self.read = 0

    def full(self) -> bool:
        """Whether no more may be looked at; the text is then opaque."""
        full = len(self.found) >= MAX_COMMANDS or self.read > MAX_READ
        if full:
            self.notes.doubt(TOO_MUCH)
        return full

    def walk(
        self, script: Script, upstream: tuple[Command, ...], segment: int | None, depth: int
    ) -> None:
        """Add the commands of a script; its parts are counted only where `segment` is None."""
        for pipeline in script.pipelines:
            feeding = upstream
            for part in pipeline:
                if self.full():
                    return
                first = len(self.found)
                self.part(part, feeding, segment, depth)
                feeding = (*feeding, *self.found[first:])

    def part(
        self, part: Part, upstream: tuple[Command, ...], segment: int | None, depth: int
    ) -> None:
        number = segment
        if segment is None and not part.empty:
            self.segment += 1
            number = self.segment
        first = len(self.found)
        for script in part.inner:
            self.walk(script, (), number, depth + 1)
        built_from = tuple(self.found[first:])
        from_file = any(redirect.reads for redirect in part.redirects)
        feeding = upstream
        for script in part.groups:
            self.walk(script, feeding, segment, depth + 1)
        if part.empty:
            return
        words, assigned = _split(part.words, keywords=bool(self.notes.why))
        command = Command(
            words=words,
            segment=number or self.segment,
            assignments=(*part.assignments, *assigned),
            nested=segment is not None,
            redirects=tuple(part.redirects),
            documents=tuple(part.documents),
            piped_from=upstream,
            built_from=built_from,
            reads_input=bool(upstream or part.documents or from_file),
        )
        self.command(command, depth)

    def command(self, command: Command, depth: int) -> None:
        """Add a command and those that it would run itself."""
        place = len(self.found)
        self.found.append(command)
        self.read += len(command.words)
        words = command.words
        if not words:
            return
        if depth > MAX_DEPTH:
            self.notes.doubt("Wraps commands in commands deeper than anybody reads")
            return
        self.look(command)
        wrapped = unwrap(words, command.documents)
        if wrapped.unclear:
            self.notes.doubt("Runs a program that is only known at run time")
        if wrapped.transparent:
            self.found[place] = msgspec.structs.replace(command, transparent=True)
        for inner in wrapped.commands:
            if self.full():
                return
            program, assigned = _split(inner)
            bare = msgspec.structs.replace(
                command, words=program, assignments=assigned, redirects=(), nested=True
            )
            self.command(bare, depth + 1)
        for script in wrapped.scripts:
            self.script(script, command, depth)

    def look(self, command: Command) -> None:
        """Note what the command's words do not show."""
        words = command.words
        if why := opacity.unread(words, command.reads_input):
            self.notes.doubt(why)
        if opacity.computes(words):
            self.notes.computes = True
        if words[0].text == "alias":
            self.notes.defined |= {word.text.partition("=")[0] for word in words[1:]}

    def script(self, word: Word, command: Command, depth: int) -> None:
        """Add the commands of a text that the command gives to a shell."""
        self.read += len(word.text)
        if self.full():
            return
        if word.dynamic:
            self.notes.doubt("Gives a shell a text that is only known at run time")
        script = read(word.text, word.at, self.notes, depth)
        self.walk(script, command.piped_from, command.segment, depth + 1)


def _split(
    words: Sequence[Word], *, keywords: bool = False
) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The words from the program on, and the assignments before it.

    In a text that could not be read there may be `keywords` before them, which are left out.
    """
    start = 0
    while keywords and start < len(words) and words[start].text in _KEYWORDS:
        start += 1
    program = start
    while program < len(words) and ASSIGNMENT.match(words[program].text):
        program += 1
    return tuple(words[program:]), tuple(words[start:program])
