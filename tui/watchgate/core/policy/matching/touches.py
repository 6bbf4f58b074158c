"""Touched paths: those that a command reads, writes or deletes.

- Query programs of jq and its likes: in their words `.env` is a field, and no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, takewhile
from typing import Literal

import msgspec

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.matching.command_options import is_option, operands
from watchgate.core.policy.shell.commands import Command, Word, names
from watchgate.core.policy.shell.find_tests import sought

JQS = names("jq gojq jaq")
# Some take a first word that is the name of a file for one; no file is called like this.
_MAYBE_FILES = names("yq")
QUERIES = JQS | _MAYBE_FILES
"""Programs whose words may have one."""

_CODE = re.compile(r"[|({\[\"]|^\.$")
_VERBS = names("e ea eval eval-all")

_FLAGS = re.compile(r"-[acCejMnrRsSPyN]+|--[a-z]+(?:-[a-z]+)*|-[opI](?:=\w+|\d)")
_OF_ONE = names("--indent -o -p -I")
_OF_TWO = names("--arg --argjson --slurpfile --rawfile")
# With a file for the program the first operand is another file; `-L` is no flag that is known.
_FROM_FILE = re.compile(r"-[a-zA-Z]*f|--from")


def program_of(program: str, arguments: Sequence[Word]) -> Word | None:
    """Returns the word that is surely the query; None where there is none, or a doubt."""
    if any(_FROM_FILE.match(word.text) for word in arguments):
        return None
    skipped = 0
    for word in arguments:
        text = word.text
        if skipped:
            skipped -= 1
        elif text in _OF_TWO or text in _OF_ONE:
            skipped = 2 if text in _OF_TWO else 1
        elif text[:1] == "-" and text != "-":
            if not _FLAGS.fullmatch(text):
                return None
        elif program in JQS or (text not in _VERBS and _CODE.search(text)):
            return None if word.expands else word
        elif text not in _VERBS:
            return None
    return None


Kind = Literal["read", "write", "delete"]

# Programs that write what they name.
WRITERS = names(
    """tee touch mkdir truncate chmod chown chgrp setfacl setcap patch ed ex vi vim nvim nano emacs
    mkfifo mknod mkfs wipefs shred fallocate split csplit sponge crontab visudo sudoedit ln"""
)
# Programs that remove or rename a link, where others destroy what it leads to.
_UNLINKERS = names("rm rmdir unlink trash trash-put mv rename")
_DELETERS = names("rm rmdir unlink shred srm trash trash-put wipe")
# Programs whose last operand is written and whose others are read, or deleted.
COPIERS = names("cp install scp rsync ditto ln link pscp")
MOVERS = names("mv rename")
# They copy to other machines too; a path of this one has no colon in its first name.
_REMOTE = names("scp rsync pscp")
_ON_A_HOST = re.compile(r"[\w.@\[\]-]+:")
_FINDERS = names("find bfs fd")
_MAKERS = names("ffmpeg convert magick montage compare composite gm sphinx-build")
# Options whose value is written; of every program, and of some.
_OUTPUT = re.compile(
    r"--(?:output|out|out-?file|output-?file|outputFile|output-document|output-?dir|output-?path"
    r"|out-?[dD]ir|target-dir|log-file|basetemp|pack-destination|junit-?xml|metafile|report-dir"
    r"|wheel-dir|(?:html|txt|xml|cobertura-xml|linecount)-report|(?:cpu|heap)-prof-dir"
    r"|coverage-?[dD]irectory|coverage\.reportsDirectory|export-(?:json|csv|markdown|asciidoc|orgmode)"
    r"|(?:xml|callgrind-out|massif-out|cachegrind-out|dhat-out)-file)"
)
_OUTPUT_SHORT: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        (
            "curl",
            "sort",
            "gcc",
            "cc",
            "clang",
            "g++",
            "c++",
            "clang++",
            "rustc",
            "ld",
            "go",
            "wget2",
            "http",
            "https",
            "xh",
        ),
        names("-o"),
    ),
    **dict.fromkeys(("pandoc", "openssl", "gpg", "age", "tree", "dot", "ffmpeg"), names("-o -out")),
    **dict.fromkeys(
        names(
            """npx bunx pnpm yarn uv uvx poetry python python3 coverage eslint storybook py-spy
            memray pyinstrument pydeps pybabel scrapy openapi-typescript"""
        ),
        names("-o"),
    ),
    **dict.fromkeys(("pip", "pip3"), names("-d -w --dest")),
    **dict.fromkeys(
        names("latexmk pdflatex xelatex lualatex latex tectonic biber"),
        names("-output-directory -outdir -auxdir -aux-directory --outdir --output-directory"),
    ),
    "mkdocs": names("-d --site-dir"),
    **dict.fromkeys(("jekyll", "hugo", "pelican"), names("-d --destination -o")),
    "mdbook": names("-d --dest-dir"),
    "zola": names("-o"),
    "wget": names("-O -P -o -a"),
    "curl": names("-o -D -c --dump-header --cookie-jar --output-dir"),
    "unzip": names("-d"),
    **dict.fromkeys(("find", "gfind"), names("-fprintf -fprint -fprint0 -fls")),
    **dict.fromkeys(("strace", "ltrace", "time", "script", "perf"), names("-o")),
    **{f"dotnet-{name}": names("-o") for name in ("counters", "trace", "gcdump", "dump")},
    "dotnet": names("-o"),
    "java": names("-rff"),
    "tar": names("-C --directory"),
    **dict.fromkeys(COPIERS | MOVERS, names("-t --target-directory")),
}
_IN_PLACE = {
    "sed": re.compile(r"-[nErsz]*i|--in-place"),
    "perl": re.compile(r"-[0-7a-zA-Z]*i"),
    "ruby": re.compile(r"-[a-zA-Z]*i"),
    "yq": re.compile(r"-i|--inplace"),
    "sort": re.compile(r"(?!)"),
}
# Clusters behind which the program text stands, and options of sed that may bring one.
_SCRIPT_BEHIND = {
    "sed": re.compile(r"-[nErsuz]*e|--expression"),
    "perl": re.compile(r"-[0-7anplstuwSTUWX]*[eE]"),
    "ruby": re.compile(r"-[0-7anplswS]*e"),
}
_GIVES_SCRIPT = re.compile(r"-[^-i]*[efl]|--[efl]")
_GLUED = re.compile(r"-[A-Za-z](?=[~/.@$\w])")
# Options whose value is a sign between columns, which often is a slash.
_SIGNS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("cut", "paste"), names("-d")),
    **dict.fromkeys(("sort", "join", "datamash"), names("-t")),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), names("-F")),
    "column": names("-s -o"),
}
_PARTS = re.compile(r"[=:,]@?|@")


class Touch(msgspec.Struct, frozen=True, gc=False):
    """One path as it is written in a word; `sure` says that it is all of the word or its value."""

    kind: Kind
    word: Word
    path: str
    sure: bool = True


def removes_itself(command: Command, touch: Touch) -> bool:
    """Returns whether the named entry itself goes, and not what a link of that name leads to."""
    return touch.kind == "delete" and command.program in _UNLINKERS


def touches(command: Command) -> tuple[Touch, ...]:
    """Returns each path that the command may touch itself, of its arguments and redirects."""
    check()
    distinct: dict[tuple[Kind, str, bool, bool], Touch] = {}
    for touch in (*_redirects(command), *_deleted(command), *_arguments(command)):
        key = (touch.kind, touch.path, touch.sure, touch.word.dynamic)
        distinct.setdefault(key, touch)
    return tuple(distinct.values())


def _redirects(command: Command) -> Iterator[Touch]:
    for redirect in command.redirects:
        if redirect.reads:
            yield Touch("read", redirect.target, redirect.target.text)
        if redirect.writes:
            yield Touch("write", redirect.target, redirect.target.text)


def _deleted(command: Command) -> Iterator[Touch]:
    """Yields the paths that `find -delete` deletes: files of a name, or all in its folders."""
    arguments = command.arguments
    if command.program not in _FINDERS or not any(word.text == "-delete" for word in arguments):
        return
    if named := sought(command.words):
        yield from (Touch("delete", word, word.text) for word in named)
        return
    starts = list(takewhile(lambda word: not is_option(word.text), arguments))
    yield from (Touch("delete", word, word.text) for word in starts)
    if not starts:
        yield Touch("delete", command.words[0], ".")


def _arguments(command: Command) -> Iterator[Touch]:
    program, arguments = command.program, command.arguments
    if not arguments:
        return
    kinds = _operand_kinds(program, arguments)
    output = _OUTPUT_SHORT.get(program, frozenset())
    before = ""
    scripts = _scripts(program, arguments) if program in _SCRIPT_BEHIND else ()
    query = program_of(program, arguments) if program in QUERIES else None
    signs = _SIGNS.get(program, frozenset())
    for word in arguments:
        text = word.text
        if (
            word is query
            or (scripts and id(word) in scripts)
            or (signs and _is_sign(before, text, signs))
        ):
            before = text
            continue
        written = _names_output(before, output)
        kind: Kind = "write" if written else kinds.get(id(word), "read")
        if is_option(text):
            yield from _of_option(word, text, output)
        else:
            yield from _of_text(kind, word, text)
        before = text


def _is_sign(option: str, text: str, signs: frozenset[str]) -> bool:
    """Returns whether a word, or the value glued to its option, is a separator of one sign."""
    return (option in signs and len(text) == 1) or (text[:2] in signs and len(text) == 3)


def _names_output(option: str, output: frozenset[str]) -> bool:
    """Returns whether the value of an option is written, also behind a cluster such as `-sSLo`."""
    if option[:2] == "--":
        return option in output or _OUTPUT.fullmatch(option) is not None
    return option in output or (option[:1] == "-" and f"-{option[-1]}" in output)


def _of_option(word: Word, text: str, output: frozenset[str]) -> Iterator[Touch]:
    name, given, value = text.partition("=")
    if given:
        written = name in output or _OUTPUT.fullmatch(name) is not None
        yield from _of_text("write" if written else "read", word, value)
    elif glued := _GLUED.match(text):
        written = glued[0] in output
        yield from _of_text("write" if written else "read", word, text[2:])


def _of_text(kind: Kind, word: Word, text: str) -> Iterator[Touch]:
    """Yields the text as a path, and the paths that stand behind `=`, `:`, `,` or `@` in it."""
    if "://" in text:
        if text.lower().startswith("file://"):
            yield Touch(kind, word, text[7:])
        return
    if text.startswith("@") and len(text) > 1:
        yield Touch("read", word, text[1:])
        return
    yield Touch(kind, word, text)
    if text.startswith(("of=", "if=")):
        yield Touch("write" if text[0] == "o" else "read", word, text[3:])
        return
    if "=" in text or ":" in text or "," in text or "@" in text:
        for mark in islice(_PARTS.finditer(text), 4):
            rest = text[mark.end() :]
            if rest:
                yield Touch("write" if kind == "write" else "read", word, rest, sure=False)


def _operand_kinds(program: str, arguments: Sequence[Word]) -> dict[int, Kind]:
    """Returns the access of operands that are not merely read, by the word's identity."""
    kinds: dict[int, Kind] = {}
    named = operands(program, arguments)
    if program in _DELETERS:
        kinds = {id(word): "delete" for word in named}
    elif program in WRITERS or _in_place(program, arguments):
        kinds = {id(word): "write" for word in named}
    elif program in COPIERS or program in MOVERS:
        if program in MOVERS:
            kinds = {id(word): "delete" for word in named}
        if len(named) > 1 and not (program in _REMOTE and _ON_A_HOST.match(named[-1].text)):
            kinds[id(named[-1])] = "write"
    elif program in _MAKERS and named:
        kinds = {id(named[-1]): "write"}
    return kinds


def _scripts(program: str, arguments: Sequence[Word]) -> set[int]:
    """Returns the operands of an editor that are its program and no file, by identity.

    Where it is not certain which word that is, none is.
    """
    options = [word for word in arguments if is_option(word.text)]
    if program == "sed" and not any(w.dynamic or _GIVES_SCRIPT.match(w.text) for w in options):
        named = operands(program, arguments)
        # macOS takes `-i ''` for one option; elsewhere an empty program changes nothing.
        empty = any(a.text == "-i" and not b.text for a, b in pairwise(arguments))
        scripts = named[: 2 if empty else 1]
    else:
        scripts = list(_behind_options(arguments, _SCRIPT_BEHIND[program]))
    return {id(word) for word in scripts if not word.dynamic or _is_begun(word)}


def _is_begun(word: Word) -> bool:
    """Returns whether a word stays one word, and begins with what is written."""
    return word.expands == "value" and word.prefix != ""


def _behind_options(arguments: Sequence[Word], taking: re.Pattern[str]) -> Iterator[Word]:
    """Yields the values of these options that stand before any other operand."""
    taken = False
    for word in arguments:
        if taken:
            yield word
        elif not is_option(word.text) or word.text == "--":
            return
        taken = not taken and taking.fullmatch(word.text) is not None


def _in_place(program: str, arguments: Sequence[Word]) -> bool:
    edits = _IN_PLACE.get(program)
    return edits is not None and any(edits.match(word.text) for word in arguments)
