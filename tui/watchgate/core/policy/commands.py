"""Every command that a shell text would run, found through wrappers, groups and substitutions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from watchgate.core.policy import wrappers
from watchgate.core.policy.shell import scan
from watchgate.core.policy.words import Redirect, Script, Simple, Word

# A longer text is searched as text: nobody reads it, and its rules must not take long.
MAX_COMMANDS = 128
# Words of commands and characters of scripts, all together: wrappers in wrappers repeat theirs.
MAX_READ = 40_000


class Command(msgspec.Struct, frozen=True):
    """One command: `words` starts with the program; `segment` counts the text's parts from 1.

    `piped_from` are the commands before it in its pipeline, `built_from` those in its
    substitutions. `reads_input` says that its standard input comes from them, a file or a text.
    """

    words: tuple[Word, ...]
    segment: int
    redirects: tuple[Redirect, ...] = ()
    piped_from: tuple[Command, ...] = ()
    built_from: tuple[Command, ...] = ()
    reads_input: bool = False

    @property
    def program(self) -> str:
        """The program's plain name: no folder, no version, lower case; empty without any."""
        return wrappers.plain_name(self.words[0]) if self.words else ""

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words after the program."""
        return self.words[1:]


class Commands(msgspec.Struct, frozen=True):
    """All commands of a text in the order in which they are written."""

    found: tuple[Command, ...]
    opaque: bool


def commands(text: str) -> Commands:
    """Every command of the text; `opaque` if some of it could run what was not found."""
    finder = _Finder()
    script = scan(text)
    finder.walk(script, (), None, 0)
    return Commands(tuple(finder.found), script.opaque or finder.opaque)


class _Finder:
    def __init__(self) -> None:
        self.found: list[Command] = []
        self.opaque = False
        self.segment = 0
        self.read = 0

    @property
    def full(self) -> bool:
        """Whether no more may be looked at; the text is then opaque."""
        return len(self.found) >= MAX_COMMANDS or self.read > MAX_READ

    def walk(
        self, script: Script, upstream: tuple[Command, ...], segment: int | None, depth: int
    ) -> None:
        """Add the commands of a script; its parts are counted only where `segment` is None."""
        self.opaque |= script.opaque
        for pipeline in script.pipelines:
            feeding = upstream
            for simple in pipeline:
                if self.full:
                    self.opaque = True
                    return
                if segment is None:
                    self.segment += 1
                first = len(self.found)
                self.simple(simple, feeding, segment or self.segment, depth)
                feeding = (*feeding, *self.found[first:])

    def simple(
        self, simple: Simple, upstream: tuple[Command, ...], segment: int, depth: int
    ) -> None:
        first = len(self.found)
        texts = (*simple.words, *(r.target for r in simple.redirects), *simple.documents)
        for word in texts:
            for script in word.inner:
                self.walk(script, (), segment, depth + 1)
        built_from = tuple(self.found[first:])
        for group in simple.groups:
            self.walk(group, upstream, segment, depth + 1)
        from_file = any(not redirect.writes for redirect in simple.redirects)
        command = Command(
            words=_without_prefix(simple.words),
            segment=segment,
            redirects=simple.redirects,
            piped_from=upstream,
            built_from=built_from,
            reads_input=bool(upstream or simple.documents or from_file),
        )
        self.command(command, simple.documents, depth)

    def command(self, command: Command, documents: Sequence[Word], depth: int) -> None:
        """Add a command and those that it would run itself."""
        self.found.append(command)
        self.read += len(command.words)
        if not command.words:
            return
        if depth > wrappers.MAX_DEPTH:
            self.opaque = True
            return
        self.opaque |= wrappers.unreadable(command.words, command.reads_input)
        for inner in wrappers.wrapped(command.words):
            if self.full:
                self.opaque = True
                return
            bare = msgspec.structs.replace(command, words=_without_prefix(inner), redirects=())
            self.command(bare, documents, depth + 1)
        for script in (
            *wrappers.scripts(command.words),
            *wrappers.fed_scripts(command.words, documents),
        ):
            self.read += len(script.text)
            if self.full:
                self.opaque = True
                return
            self.opaque |= script.dynamic
            inner_script = scan(script.text, script.at, depth)
            self.walk(inner_script, command.piped_from, command.segment, depth + 1)


def _without_prefix(words: Iterable[Word]) -> tuple[Word, ...]:
    """The words from the program on: keywords and assignments before it left out."""
    kept = list(words)
    while kept and (kept[0].text in wrappers.KEYWORDS or wrappers.ASSIGNMENT.match(kept[0].text)):
        kept.pop(0)
    return tuple(kept)
