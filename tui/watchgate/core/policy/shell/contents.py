"""The files that the commands of a text fill and run: what stands in them, where the text shows it.

`cat > y.sh <<E`, `echo '...' > y.sh` and `... | tee y.sh` show it; a download does not.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

import msgspec

from watchgate.core.policy.shell.commands import (
    FILLERS,
    INTERPRETERS,
    SHELLS,
    UNPACKERS,
    Command,
    Word,
    names,
)
from watchgate.core.policy.shell.wrappers import PREFIXES

_SOURCES = names("source .")
# They leave alone what other commands of the text wrote. A `cd` makes a name another file.
_KEEPING = names(
    """cat tee echo printf true : ls chmod mkdir head tail wc test [ [[ grep pwd date set export
    python node bun deno perl ruby"""
)
# They write no file but those that they are redirected to; `tee` is looked at by itself.
_LEAVING = (_KEEPING | names("rg diff eval builtin sleep stat file")) - INTERPRETERS
_GOING = names("cd pushd popd chdir")
# Under names that they do not give.
_UNNAMING = UNPACKERS | names("git hg svn patch gh")
_WRITING = (
    FILLERS
    | _UNNAMING
    | names("cp mv install ln rsync ditto link rename sed perl ruby awk gawk ed ex vim yq rm xargs")
)
_ECHO_OPTION = re.compile(r"-[neE]+")
_ESCAPE = re.compile(r"\\[ntr\\]|%%")
_ESCAPED = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\", "%%": "%"}
_FORMAT = re.compile(r"%(?!%)")
_PLAIN_FORMATS = names("%s %s\\n %b %b\\n")
# Their script stands behind a sub-command: `deno run x.ts`.
_VERB_FIRST = names("deno bun")
_VERBS = names("run test repl eval")
_SHELL_LINE = re.compile(r"#!\s*/\S{0,99}?(?:/env(?:\s+-S)?\s+)?(?:\S{0,99}/)?(?:ba|da|z|k|a)?sh\b")


class Files:
    """The text written to each file so far; None where the command does not show it."""

    def __init__(self) -> None:
        self._bodies: dict[str, tuple[Word, ...] | None] = {}
        self._surely: set[str] = set()

    def note(self, command: Command) -> None:
        """Remembers what a command writes to the files that it names."""
        if self._bodies:
            self._replaced(command)
        targets = [redirect for redirect in command.redirects if redirect.writes]
        if command.program in _GOING:
            self._surely = {name for name in self._surely if name.startswith("/")}
        elif command.words and command.program not in _KEEPING:
            self._surely.clear()
        appended = {each.target.text for each in targets if each.operator in (">>", "&>>")}
        words = [each.target for each in targets]
        if command.program == "tee":
            words += [word for word in command.arguments if not word.text.startswith("-")]
            if any(word.text in ("-a", "--append") for word in command.arguments):
                appended |= {word.text for word in words}
        if not words:
            return
        written = printed(command)
        for word in words:
            name = posixpath.normpath(word.text)
            before = self._bodies.get(name, ()) if word.text in appended else ()
            known = written is not None and before is not None and not word.dynamic
            self._surely = {each for each in self._surely if not _may_be_same(each, word)}
            for each in self._bodies:
                if each.startswith("/") != name.startswith("/") and _may_be_same(each, word):
                    self._bodies[each] = None
            self._bodies[name] = (*(before or ()), *(written or ())) if known else None
            self._surely.discard(name)
            if known and not is_ambiguous(command):
                self._surely.add(name)

    def shown(self, name: str) -> tuple[Word, ...]:
        """The lines that stand for certain in a file of this name; () where the text hides them."""
        key = posixpath.normpath(name)
        return self._bodies[key] or () if key in self._surely else ()

    def _replaced(self, command: Command) -> None:
        """Forgets what stood in the files that a command may write without showing it."""
        program = command.program
        if not command.words or program in _LEAVING or program in PREFIXES:
            return
        if program in _GOING:
            # The same name is another file there.
            for name in self._bodies:
                self._bodies[name] = self._bodies[name] if name.startswith("/") else None
            return
        texts = [word.text for word in command.words]
        anything = program in _WRITING and (
            program in _UNNAMING or any(word.dynamic for word in command.words)
        )
        run = set(map(posixpath.normpath, files_run(command)))
        for name in self._bodies.keys() - run:
            last = posixpath.basename(name)
            if anything or any(last in text for text in texts):
                self._bodies[name] = None

    def run_by(self, command: Command) -> tuple[Word, ...] | None:
        """The shell scripts that a command runs from a file of the text.

        () where it runs none, None where one is not shown or is of another language.
        """
        for name in files_run(command):
            key = posixpath.normpath(name)
            if key in self._bodies:
                bodies = self._bodies[key]
                return bodies if bodies is not None and _is_shell(command, bodies) else None
        return ()


def _may_be_same(name: str, word: Word) -> bool:
    """Tells whether a word may name a file by another of its names, as behind a `cd`."""
    last = posixpath.basename(posixpath.normpath(word.text))
    return word.dynamic or posixpath.basename(name).casefold() == last.casefold()


def is_ambiguous(command: Command) -> bool:
    """Tells whether one shell prints other lines than another: for `echo` some read escapes."""
    return any(
        each.program == "echo" and any("\\" in word.text for word in each.arguments)
        for each in (command, *command.piped_from)
    )


def files_run(command: Command) -> Iterator[str]:
    """The files that a command may run as a program, by the names that it gives them."""
    words = command.words
    if not words:
        return
    yield words[0].text
    yield from command.loads
    program = command.program
    if program in SHELLS or program in INTERPRETERS or program in _SOURCES:
        yield from _scripts(program, command.arguments)
        yield from (each.target.text for each in command.redirects if each.reads)


def _scripts(program: str, arguments: Sequence[Word]) -> Iterator[str]:
    """The first operands: an option in front of one may have taken it for its value."""
    before = ""
    for word in arguments:
        text = word.text
        if before == "-m" and program == "python":
            module = text.replace(".", "/")
            yield from (f"{module}.py", f"{module}/__main__.py")
            return
        if text[:1] not in ("-", "+") or text == "-":
            yield text
            is_verb = program in _VERB_FIRST and text in _VERBS
            if before[:1] not in ("-", "+") and not is_verb:
                return
        before = text


def _is_shell(command: Command, bodies: Sequence[Word]) -> bool:
    """Tells whether these lines are read by a shell, and are all known."""
    if any(body.dynamic for body in bodies) or command.program in INTERPRETERS:
        return False
    first = bodies[0].text if bodies else ""
    if command.program in SHELLS or command.program in _SOURCES:
        return True
    if first.startswith("#!"):
        return _SHELL_LINE.match(first) is not None
    return posixpath.splitext(command.program)[1] in ("", ".sh", ".bash")


def printed(command: Command) -> tuple[Word, ...] | None:
    """Returns the words that a command prints; None where the text does not show them."""
    operands = [word for word in command.arguments if not word.text.startswith("-")]
    match command.program:
        case "cat" if not operands:
            return _fed(command)
        case "tee":
            return _fed(command)
        case "echo":
            return _echoed(command.arguments)
        case "printf":
            return _printed(command.arguments)
        case "true" | ":":
            return ()
        case _:
            return None


def _fed(command: Command) -> tuple[Word, ...] | None:
    if command.documents:
        return command.documents
    return printed(command.piped_from[-1]) if command.piped_from else None


def _echoed(arguments: Sequence[Word]) -> tuple[Word, ...]:
    start = 0
    while start < len(arguments) and _ECHO_OPTION.fullmatch(arguments[start].text):
        start += 1
    return _lines([arguments[start:]])


def _printed(arguments: Sequence[Word]) -> tuple[Word, ...] | None:
    if not arguments or arguments[0].text.startswith("-"):
        return None
    form, rest = arguments[0], arguments[1:]
    if form.text in _PLAIN_FORMATS:
        return _lines([[word] for word in rest])
    if rest or _FORMAT.search(form.text.replace("%%", "")):
        return None
    return _lines([[form]])


def _lines(lines: Sequence[Sequence[Word]]) -> tuple[Word, ...]:
    """One word of text for each line, its words joined by blanks and its escapes read."""
    commands = []
    for words in lines:
        if not words:
            continue
        text, at = "", []
        for word in words:
            done = 0
            for escape in _ESCAPE.finditer(word.text):
                text += word.text[done : escape.start()] + _ESCAPED[escape[0]]
                at += [*word.at[done : escape.start()], word.at[escape.start()]]
                done = escape.end()
            text += word.text[done:] + " "
            at += [*word.at[done:], word.end]
        dynamic = any(word.dynamic for word in words)
        joined = Word(text[:-1], tuple(at[:-1]), words[0].start, words[-1].end)
        commands.append(msgspec.structs.replace(joined, expands="words") if dynamic else joined)
    return tuple(commands)
