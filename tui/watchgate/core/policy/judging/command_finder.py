"""Every command that a shell text would run, found through wrappers, groups and substitutions.

- The languages of shells: each has a reader that makes a script of a text.
- The commands of a shell call, read in the language of the shell that its tool is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from watchgate.core.base.patterns.allowance import check
from watchgate.core.model.events import Tool
from watchgate.core.policy.code.code_reading import UNKNOWN_TEXT, Piece
from watchgate.core.policy.code.code_reading import read as read_code
from watchgate.core.policy.code.given_code import given
from watchgate.core.policy.inputs.text_guards import MAX_SCANNED_CHARS
from watchgate.core.policy.shell import (
    known_variables,
    opacity,
    powershell_given,
    powershell_reader,
    shell_reader,
)
from watchgate.core.policy.shell.commands import (
    Command,
    Commands,
    Joined,
    Scope,
    Word,
    is_itself,
    names,
)
from watchgate.core.policy.shell.contents import Files
from watchgate.core.policy.shell.known_variables import Constants
from watchgate.core.policy.shell.script import TOO_MUCH, Notes, PipelinePart, Script
from watchgate.core.policy.shell.unwrap import ASSIGNMENT, unwrap

Language = Literal["shell", "powershell"]


def read_in(
    language: Language, text: str, at: Sequence[int], notes: Notes, depth: int = 0
) -> Script:
    """The script of a text in a language.

    What cannot be read as PowerShell is opaque, and read as if another shell had it, so that
    whatever looks dangerous in it is found.

    Args:
        language: The shell's language.
        text: The text.
        at: The position of each of its characters in the original text.
        notes: The place for what is noticed on the way.
        depth: The depth of scripts in scripts.
    """
    if language == "shell":
        return shell_reader.read(text, at, notes, depth)
    script, is_whole = powershell_reader.read(text, at, notes, depth)
    if not is_whole:
        # There a backslash is no escape, but stands between folders.
        script.extend(shell_reader.read(text.replace("\\", "/"), at, notes, depth))
    return script


# A longer text is searched as text: nobody reads it, and its rules must not take long.
MAX_COMMANDS = 128
# Words of commands and characters of scripts, all together: wrappers in wrappers repeat theirs.
MAX_READ = 40_000
# Wrappers in wrappers; nobody writes more of them for an honest reason.
MAX_DEPTH = 8

# What they run changes the shell that runs them; other wrappers are processes of their own.
_IN_THIS_SHELL = names("builtin command coproc eval nocorrect noglob time trap")

_CONTAINERS = names("docker podman nerdctl docker-compose podman-compose kubectl oc")
_KEYWORDS = names("! { } if then else elif fi do done while until esac")


# What a call names is looked for on the disk before the call is judged, and some come twice.
@lru_cache(maxsize=16)
def commands(text: str, language: Language = "shell") -> Commands:
    """Every command of the text; `opaque` if some of it could run what was not found."""
    finder = _Finder()
    script = read_in(language, text, range(len(text)), finder.notes)
    if language == "shell" and (finder.notes.looped or "while" in text):
        finder.calm = known_variables.names_of(finder.notes.looped, text)
    finder.walk(script, _Around())
    notes = finder.notes
    if notes.computes and notes.hides_code:
        notes.doubt("Takes text for arithmetic or a name, which may run commands within it")
    if not notes.defined.isdisjoint(c.words[0].text for c in finder.commands if c.words):
        notes.doubt("Gives a command another meaning and then runs it")
    return Commands(tuple(finder.commands), bool(notes.why), notes.why, notes.where)


class _Around(msgspec.Struct, frozen=True):
    """The surroundings of a script; its parts are counted only where `segment` is None."""

    upstream: tuple[Command, ...] = ()
    segment: int | None = None
    depth: int = 0
    scope: Scope = ()
    joined: Joined = ""
    contained: bool = False

    def deeper(self) -> _Around:
        """Returns the surroundings of a script within this one."""
        return replace(self, depth=self.depth + 1)


class _Finder:
    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.notes = Notes()
        self.segment = 0
        self.read = 0
        self.parts = 0
        self.files = Files()
        self.constants = Constants(self.notes)
        # Of the whole text: what its loops set, and nothing else in it.
        self.calm: dict[str, str] = {}

    def full(self) -> bool:
        """Returns whether no more may be looked at; the text is then opaque."""
        full = len(self.commands) >= MAX_COMMANDS or self.read > MAX_READ
        if full:
            self.notes.doubt(TOO_MUCH)
        return full

    def walk(self, script: Script, around: _Around) -> None:
        """Adds the commands of a script."""
        joined = around.joined
        for pipeline, scope in zip(script.pipelines, self.scopes(script, around), strict=True):
            feeding = around.upstream
            own = scope
            for part in pipeline:
                if self.full():
                    return
                if len(pipeline) > 1:
                    # Some shells run the last one themselves.
                    last = part is pipeline[-1]
                    own = self.maybe(scope) if last else self.within(scope)
                first = len(self.commands)
                self.part(part, replace(around, upstream=feeding, scope=own, joined=joined))
                feeding = (*feeding, *self.commands[first:])
            joined = _joined_by(pipeline[-1])

    def scopes(self, script: Script, around: _Around) -> list[Scope]:
        """The scope of each pipeline: a list in the background has one of its own."""
        scopes: list[Scope] = []
        scope = around.scope
        for pipeline in reversed(script.pipelines):
            sign = pipeline[-1].sign
            if sign == "&":
                scope = self.within(around.scope)
            elif not sign:
                scope = around.scope
            scopes.append(scope)
        return scopes[::-1]

    def within(self, scope: Scope, *, lasts: bool = False) -> Scope:
        """A scope in another: of a shell of its own, or of a group whose effects last."""
        self.parts += 1
        return (*scope, -self.parts if lasts else self.parts)

    def maybe(self, scope: Scope) -> Scope:
        """A group within a group: the shell may pass it over, so that nothing in it is certain."""
        return self.within(self.within(scope, lasts=True), lasts=True)

    def part(self, part: PipelinePart, around: _Around) -> None:
        """Adds the commands of one part of a pipeline."""
        segment, upstream = around.segment, around.upstream
        number = segment
        if segment is None and not part.empty:
            self.segment += 1
            number = self.segment
        first = len(self.commands)
        for script in part.inner:
            apart = self.within(around.scope)
            self.walk(script, replace(around.deeper(), upstream=(), segment=number, scope=apart))
        built_from = tuple(self.commands[first:])
        from_file = any(redirect.reads for redirect in part.redirects)
        for script in part.groups:
            if part.branches and not part.apart:
                group = self.maybe(around.scope)
            else:
                group = self.within(around.scope, lasts=not part.apart)
            self.walk(script, replace(around.deeper(), scope=group))
        if part.empty:
            return
        words, assigned = _split(part.words, keywords=bool(self.notes.why))
        if self.calm:
            words = tuple(known_variables.calmed(word, self.calm) for word in words)
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
            scope=around.scope,
            joined=around.joined,
            contained=around.contained,
        )
        self.command(command, around.depth, part.same)

    def command(self, command: Command, depth: int, same: tuple[Word, ...] = ()) -> None:
        """Adds a command and those that it would run, or the shell command that is `same`."""
        check()
        place = len(self.commands)
        self.commands.append(command)
        self.read += len(command.words)
        words = command.words
        self.files.note(command)
        self.constants.note(command)
        if not words:
            return
        if depth > MAX_DEPTH:
            self.notes.doubt("Wraps commands in commands deeper than anybody reads")
            return
        command, done = self.understood(command, place)
        self.look(command)
        program = command.program
        wrapped = unwrap(words, command.documents)
        powershell = powershell_given.scripts(program, words)
        if wrapped.unclear:
            self.notes.doubt("Runs a program that is only known at run time")
        texts = (*wrapped.scripts, *powershell)
        # A cmdlet is nothing but `same`; `rm` may be that, or the program of other systems.
        is_cmdlet = bool(same) and "-" in program
        if wrapped.transparent or is_cmdlet or (powershell and is_itself(words[0].text)):
            self.commands[place] = replace(
                command, transparent=True, reads_code=is_cmdlet or command.reads_code
            )
        here = program in _IN_THIS_SHELL
        # The same command in a shell may change the folder of this one.
        kind = known_variables.kind_fed(command) if program in known_variables.FILLING else ""
        contained = command.contained or (program in _CONTAINERS and _enters(command))
        for inner in (*wrapped.commands, *filter(None, [same])):
            if self.full():
                return
            own, assigned = _split(known_variables.fed(inner, words, kind) if kind else inner)
            bare = replace(
                command,
                words=own,
                assignments=assigned,
                redirects=(),
                nested=True,
                scope=command.scope if here or same else self.within(command.scope),
                contained=contained,
            )
            self.command(bare, depth + 1)
        for script in texts:
            self.script(script, command, depth, "powershell" if script in powershell else "shell")
        if bodies := self.files.run_by(command):
            self.commands[place] = replace(self.commands[place], reads_script=True)
            for body in bodies:
                self.script(body, command, depth)
        for each in (*done, *self.variants(command)):
            if self.full():
                return
            self.command(each, depth + 1)

    def variants(self, command: Command) -> Iterator[Command]:
        """The command as it may be with the values of variables."""
        for variant in self.constants.variants(command):
            scope = self.within(command.scope)
            yield replace(variant, scope=scope, reads_code=False, reads_script=False, loads=())

    def understood(self, command: Command, place: int) -> tuple[Command, tuple[Command, ...]]:
        """The command with what is known of the code that it runs, and what that code does."""
        code = given(command, self.files)
        if not code:
            return command, ()
        reading = read_code(command.program, "\n".join(each.text for each in code))
        if reading.unread:
            self.notes.doubt(reading.unread)
        else:
            command = self.commands[place] = replace(
                command, reads_code=True, reads_script=True, loads=reading.loads
            )
        scope = self.within(command.scope)
        done = (tuple(_word(piece, code[0]) for piece in argv) for argv in reading.commands)
        return command, tuple(
            Command(words, command.segment, nested=True, scope=scope) for words in done
        )

    def look(self, command: Command) -> None:
        """Notes what the command's words do not show."""
        words = command.words
        why = opacity.unread(words, command.reads_input)
        if why and not command.reads_code:
            self.notes.doubt(why)
        if opacity.computes(words):
            self.notes.computes = True
        if words[0].text == "alias":
            self.notes.defined |= {word.text.partition("=")[0] for word in words[1:]}

    def script(
        self, word: Word, command: Command, depth: int, language: Language = "shell"
    ) -> None:
        """Adds the commands of a text that the command gives to a shell."""
        self.read += len(word.text)
        if self.full():
            return
        if word.dynamic and word.tame == "name":
            # Only at its mark, which stands for a name.
            word = replace(word, expands="", prefix=word.text)
        elif word.dynamic:
            self.notes.doubt("Gives a shell a text that is only known at run time")
        script = read_in(language, word.text, word.at, self.notes, depth)
        here = command.program in _IN_THIS_SHELL
        scope = self.maybe(command.scope) if here else self.within(command.scope)
        around = _Around(command.piped_from, command.segment, depth + 1, scope, command.joined)
        # A shell of its own has variables of its own.
        calm, self.calm = self.calm, {}
        self.walk(script, replace(around, contained=command.contained))
        self.calm = calm


def _joined_by(part: PipelinePart) -> Joined:
    """Returns the sign by which the next pipeline depends on this one, given its last part."""
    return "" if part.negated or part.sign == "&" else part.sign


def _enters(command: Command) -> bool:
    """Tells whether what a command runs, it runs in a container."""
    return any(word.text in ("exec", "run") for word in command.arguments[:8])


def _word(piece: Piece, code: Word) -> Word:
    """A word of a command that code runs; it stands where the code does."""
    text = piece if isinstance(piece, str) else piece.text
    at = (code.start,) * len(text)
    if isinstance(piece, str):
        return Word(text, at, code.start, code.end)
    prefix = text[: text.find(UNKNOWN_TEXT)]
    return Word(text, at, code.start, code.end, "words" if piece.many else "value", prefix)


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


_POWERSHELL: Final = "powershell"


def commands_of(tool: Tool, text: str) -> Commands:
    """Reads the commands of a tool's text, up to the length that is scanned."""
    own = _POWERSHELL in (tool.name.lower(), tool.native_name.lower())
    return commands(text[:MAX_SCANNED_CHARS], _POWERSHELL if own else "shell")
