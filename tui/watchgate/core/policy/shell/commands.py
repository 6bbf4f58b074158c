"""The commands of a shell text as values: what runs, with which words, fed by what.

- The words of a shell command after quotes are removed, and its redirects.
- Tables of programs that fetch, decode, unpack or fill files, or run what is in them. One table for
  a file that is run in the call that fills it and for one that is run later.
- Names of programs, and which of them are shells or interpreters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

import msgspec

from watchgate.core.base.text import Span

Expands = Literal["", "glob", "value", "words"]
Tame = Literal["", "path", "name"]


def names(text: str) -> frozenset[str]:
    """The set of the blank-separated words of a table's entry."""
    return frozenset(text.split())


class Word(msgspec.Struct, frozen=True, gc=False):
    """One word as the command would get it, expansions left as they are written.

    `at[i]` is the position of `text[i]` in the original command; `start` and `end` cover the word
    with its quotes. `expands` says what the shell would make of it: nothing, the names of files
    (`glob`), one quoted `value`, or any number of `words`. `prefix` is the text before the first
    expansion, all of it where there is none. What is `tame` becomes no option: a `path` below
    another, or a `name` or number without signs of the shell.
    """

    text: str
    at: Sequence[int]
    start: int
    end: int
    expands: Expands = ""
    prefix: str = ""
    tame: Tame = ""

    @property
    def span(self) -> Span:
        """Returns the place of the word in the original command."""
        return self.start, self.end

    @property
    def dynamic(self) -> bool:
        """Returns whether a part of the word is only known at run time."""
        return self.expands != ""


class Redirect(msgspec.Struct, frozen=True, gc=False):
    """A redirect of a file or of a descriptor.

    `operator` is one of `>`, `>>`, `>|`, `&>`, `&>>`, `>&`, `<>` and `<`, for a descriptor `>&` or
    `<&`; a target such as `1`, `2-` or `-` after `>&` is a descriptor, any other is a file.
    """

    operator: str
    target: Word
    descriptor: bool = False

    @property
    def writes(self) -> bool:
        """Returns whether a file is opened for writing."""
        return not self.descriptor and self.operator != "<"

    @property
    def reads(self) -> bool:
        """Returns whether a file is opened for reading."""
        return not self.descriptor and self.operator in ("<", "<>")


FETCHERS: Final = names("curl wget wget2 aria2c axel")
"""Without a name of its own a file is called as the last part of its address."""

DECODERS: Final = names(
    "base64 base32 basenc xxd uudecode openssl gpg age gzip gunzip zstd xz bzip2 unxz bunzip2"
)
CARRIERS: Final = names("http https xh scp sftp nc ncat socat")
"""They bring files from other machines, under names that they are given."""

FILLERS: Final = FETCHERS | DECODERS | CARRIERS | names("tee sponge dd")
"""They fill the files that they name; others change, copy or mark what was there."""

SOURCES: Final = FETCHERS | DECODERS | CARRIERS
"""Programs whose output comes from elsewhere, or was hidden."""

UNPACKERS: Final = names("tar bsdtar gtar unzip 7z 7za 7zz unar bsdcpio")

BUILDERS: Final = names(
    """make gmake cmake ninja just task npm pnpm yarn bun npx bunx pnpx deno pip pip3 pipx uv poetry
    pdm hatch tox nox pytest cargo go gradle gradlew mvn mvnw ant bazel sbt mix rake bundle gem
    rails composer dotnet swift meson scons cabal stack nix-build docker-compose pre-commit
    invoke"""
)
"""They run code that stands in the files of a folder."""

INSTALLERS: Final = names("dpkg rpm installer apt apt-get dnf yum zypper apk pacman snap open")
"""They run code of the package that they are given."""


SHELLS = names("sh bash zsh dash ksh mksh ash fish csh tcsh rbash")
INTERPRETERS = names("python perl ruby node php lua deno bun tclsh osascript pwsh powershell")

SYSTEM_FOLDERS = names("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /opt/homebrew/bin")
"""Folders in which a program is what its name says."""


# A command's name is asked for at every step of reading and judging it.
@lru_cache(maxsize=64)
def plain_name(text: str) -> str:
    """A program's name without folder, version and capitals: `/bin/python3.12` is `python`."""
    name = text.rpartition("/")[2].lower()
    family = name.rstrip("0123456789.")
    return family if family in INTERPRETERS else name


def is_itself(text: str) -> bool:
    """Returns whether a program's name, as written, can only mean the system's own program."""
    folder, slash, name = text.rpartition("/")
    return name == plain_name(name) and (not slash or folder in SYSTEM_FOLDERS)


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
