"""The commands of a shell text as values: what runs, with which words, fed by what."""

from __future__ import annotations

from typing import Literal

import msgspec

from watchgate.core.policy.shell.names import plain_name
from watchgate.core.policy.shell.words import Redirect, Word
from watchgate.core.text import Span

Joined = Literal["", "&&", "||"]
Scope = tuple[int, ...]


class Command(msgspec.Struct, frozen=True, gc=False):
    """One command: `words` starts with the program and is empty where only redirects stand.

    `assignments` are the words such as `LANG=C` before the program; without a program they set
    variables for what follows. `segment` counts the parts of the text from 1; a command of a
    wrapper, a substitution or a script has the number of its part and is `nested`. `documents` are
    texts given on standard input, of here-documents and here-strings. `piped_from` are the
    commands before it in its pipeline, `built_from` those in its substitutions. `reads_input` says
    that its standard input comes from them, a file or a text. `transparent` says that it does
    nothing but run the nested commands which follow it: it is as harmless as they are.
    `reads_script` says that it runs a file which the text wrote before and shows, so that the
    commands in it follow. `reads_code` says likewise that it runs code of another language, all of
    which is understood: what it does follows as commands; `loads` are the files that this code
    runs as modules, where there are such.

    `scope` are the numbers of the parts around it that a shell of its own runs, such as a subshell,
    and of groups, which are negative; `joined` is how it, or the innermost of them that it begins,
    is joined to what stands before. `contained` says that it runs in a container, whose files are
    others than those of this machine.
    """

    words: tuple[Word, ...]
    segment: int
    assignments: tuple[Word, ...] = ()
    nested: bool = False
    redirects: tuple[Redirect, ...] = ()
    documents: tuple[Word, ...] = ()
    piped_from: tuple[Command, ...] = ()
    built_from: tuple[Command, ...] = ()
    reads_input: bool = False
    transparent: bool = False
    reads_script: bool = False
    reads_code: bool = False
    loads: tuple[str, ...] = ()
    scope: Scope = ()
    joined: Joined = ""
    contained: bool = False

    @property
    def program(self) -> str:
        """The program's plain name: no folder, no version, lower case; empty without any."""
        return plain_name(self.words[0].text) if self.words else ""

    @property
    def folder(self) -> str:
        """The folder in the program's name, `/usr/bin` of `/usr/bin/ls`; empty without any."""
        return self.words[0].text.rpartition("/")[0] if self.words else ""

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words after the program."""
        return self.words[1:]

    @property
    def span(self) -> Span:
        """The part of the original text from its first word to its last, redirects included."""
        parts = (*self.assignments, *self.words, *(r.target for r in self.redirects))
        if not parts:
            return 0, 0
        return min(word.start for word in parts), max(word.end for word in parts)


class Commands(msgspec.Struct, frozen=True, gc=False):
    """All commands of a text in the order in which they are written.

    `opaque` says that some of it could run what was not found; `why` says it in a sentence, and
    `where` is the part of the text that it is about, if it is about one.
    """

    commands: tuple[Command, ...]
    opaque: bool = False
    why: str = ""
    where: Span | None = None
