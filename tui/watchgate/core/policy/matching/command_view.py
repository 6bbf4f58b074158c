"""Command views: one command as rules look at it, each property computed once.

- The needs of a rule, in bits: what a command must have before the rule can be about it. Most rules
  want something that most commands lack: an option, a redirect, an address. A rule is passed over
  without a closer look where one bit of what it needs is missing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

import msgspec

from watchgate.core.policy.code.sql.sql_acts import Act
from watchgate.core.policy.code.sql.sql_clients import acts_of
from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.inputs.rule_file import Access
from watchgate.core.policy.matching.command_options import GLOBAL_OPTIONS, maybe_starts, operands
from watchgate.core.policy.matching.path_patterns import Names, PathPatterns, forms_of, names_in
from watchgate.core.policy.matching.touches import (
    QUERIES,
    Touch,
    program_of,
    removes_itself,
    touches,
)
from watchgate.core.policy.matching.variable_values import PLAIN_VALUE
from watchgate.core.policy.shell.commands import Command, Word
from watchgate.core.policy.shell.unwrap import own_words

(
    HAS_ARGUMENT,
    HAS_DASH,
    HAS_ADDRESS,
    HAS_VARIABLE,
    HAS_INPUT,
    HAS_SUBSTITUTION,
    HAS_CHANGED_FILE,
    HAS_PATH,
    HAS_READ_PATH,
    HAS_WRITTEN_PATH,
    HAS_DELETED_PATH,
) = (1 << place for place in range(11))
"""Any argument, one that starts with `-`, an address, a variable that is set, a command before it
in its pipeline, one in its substitutions, a file that the session wrote, a path, and a path that is
read, written or deleted."""

ALL_BITS = -1

BITS_OF_KIND = {
    "read": HAS_PATH | HAS_READ_PATH,
    "write": HAS_PATH | HAS_WRITTEN_PATH,
    "delete": HAS_PATH | HAS_DELETED_PATH,
}
BITS_OF_ACCESS: dict[Access, int] = {
    "any": HAS_PATH,
    "read": HAS_PATH | HAS_READ_PATH,
    "write": HAS_PATH | HAS_WRITTEN_PATH,
    "delete": HAS_PATH | HAS_DELETED_PATH,
}


_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,63}://[^\s\"'<>`)\]]+", re.IGNORECASE)
_NAMED_BY_OPERAND = ("curl", "wget", "http", "https", "xh", "curlie")
SETS_VARIABLES = frozenset(("env", "export", "declare", "typeset", "readonly", "local", "sudo"))
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^]]*])?\+?=")
_EXPANDED = re.compile(r"\$\{?[!#]?([A-Za-z_]\w*)")
_APPENDED = ("PATH=$PATH:/", "PATH=${PATH}:/")
# Where installers of tools put them, in front of what was there; to write there is held by itself.
_TOOLS = re.compile(
    r"PATH=(?:(?:(?:\$HOME|\$\{HOME\}|~)/(?:\.(?:local|cargo|bun|deno|volta|poetry|npm-global|rbenv|pyenv)/bin"
    r"|\.(?:pyenv|rbenv)/shims|go/bin|\.dotnet/tools)|/usr/local/(?:go/)?bin|/opt/homebrew/bin"
    r"|/usr/local/cargo/bin):)+\$(?:PATH|\{PATH\})"
)
_LISTERS = frozenset(("ls", "du", "stat"))
_ALL_HIDDEN = re.compile(r"\.(?:\[[!^]\.\]|\?{1,2})\*")
_HOMES = ("${HOME}", "$HOME", "~")

Touched = tuple[Touch, tuple[str, ...]]


class CommandView:
    """A command at the place where it runs, with its properties cached.

    `known` are the views of the other commands of the text, by the commands' identity.
    """

    def __init__(self, command: Command, place: Place, known: dict[int, CommandView]) -> None:
        self.command = command
        self.place = place
        self.program = command.program
        self.arguments = command.arguments
        self._known = known
        self._operands: list[Word] | None = None
        self._touched: tuple[Touched, ...] | None = None
        self._texts: list[str] | None = None
        self._known_texts: frozenset[str] | None = None
        self._addresses: list[tuple[Word, str]] | None = None
        self._variables: list[tuple[Word, str]] | None = None
        self._expanded_variables: list[tuple[Word, str]] | None = None
        self._acts: tuple[Act, ...] | None = None
        self._line: str | None = None
        self._operand_line: str | None = None
        self._dashed: list[Word] | None = None
        self._has: int | None = None
        self._starts: dict[int, list[int]] = {}
        # The words of shapes, by their identity: all that follow in a pipeline ask for the same.
        self.shaped: dict[int, list[Word] | None] = {}
        self._named: Names | None = None
        self._has_glob: bool | None = None
        self._own_part: CommandView | None = None

    @property
    def operands(self) -> list[Word]:
        """The arguments that are no options."""
        if self._operands is None:
            self._operands = operands(self.program, self.arguments)
        return self._operands

    @property
    def operand_line(self) -> str:
        """The operands with one blank between them, and a dot in place of jq's query."""
        if self._operand_line is None:
            query = None
            if self.program in QUERIES:
                query = program_of(self.program, self.arguments)
            self._operand_line = " ".join(["." if w is query else w.text for w in self.operands])
        return self._operand_line

    @property
    def dashed(self) -> list[Word]:
        """The arguments that start with `-`."""
        if self._dashed is None:
            self._dashed = [word for word in self.arguments if word.text[:1] == "-"]
        return self._dashed

    @property
    def has(self) -> int:
        """The bits of what the command has that rules may need."""
        if self._has is None:
            bits = 0
            for kind in {touch.kind for touch, _ in self.touched}:
                bits |= BITS_OF_KIND[kind]
            for bit, there in (
                (HAS_ARGUMENT, self.arguments),
                (HAS_DASH, self.dashed),
                (HAS_ADDRESS, self.addresses),
                (HAS_VARIABLE, self.variables),
                (HAS_INPUT, self.command.piped_from),
                (HAS_SUBSTITUTION, self.command.built_from),
                (HAS_CHANGED_FILE, self.place.changed),
            ):
                if there:
                    bits |= bit
            self._has = bits
        return self._has

    @property
    def touched(self) -> tuple[Touched, ...]:
        """The paths that the command may touch, with the forms that patterns are written in.

        A path through a symbolic link is there twice: as it is written, and what it leads to.
        """
        if self._touched is None:
            place = self.place
            all_touches = touches(self.command)
            if place.links:
                all_touches = (*all_touches, *self._led(all_touches))
            self._touched = tuple((touch, forms_of(place, touch.path)) for touch in all_touches)
        return self._touched

    def _led(self, direct: Iterable[Touch]) -> Iterator[Touch]:
        for touch in direct:
            itself = not removes_itself(self.command, touch)
            for path in self.place.leads_to(touch.path, itself=itself):
                yield msgspec.structs.replace(touch, path=path)

    @property
    def texts(self) -> list[str]:
        """The arguments with the home in place of its names."""
        if self._texts is None:
            given = [word.text for word in self.arguments]
            self._texts = [self._at_home(t) if t[:1] in ("~", "$") else t for t in given]
        return self._texts

    @property
    def known_texts(self) -> frozenset[str]:
        """The arguments as they are written."""
        if self._known_texts is None:
            self._known_texts = frozenset(word.text for word in self.arguments)
        return self._known_texts

    @property
    def addresses(self) -> list[tuple[Word, str]]:
        """The addresses among the arguments."""
        if self._addresses is None:
            addresses = []
            for word in self.arguments:
                if "://" in word.text:
                    addresses += [(word, address) for address in _ADDRESS.findall(word.text)]
            if not addresses and self.program in _NAMED_BY_OPERAND:
                addresses = [(word, word.text) for word in self.operands if "." in word.text]
            self._addresses = addresses
        return self._addresses

    @property
    def expanded_variables(self) -> list[tuple[Word, str]]:
        """The names of the variables whose values stand in an argument."""
        if self._expanded_variables is None:
            if self.program == "printenv":
                self._expanded_variables = [(word, word.text) for word in self.operands]
            else:
                self._expanded_variables = [
                    (word, name)
                    for word in self.arguments
                    if "$" in word.text
                    for name in _EXPANDED.findall(word.text)
                ]
        return self._expanded_variables

    @property
    def acts(self) -> tuple[Act, ...]:
        """All that the command does to a database by SQL."""
        if self._acts is None:
            self._acts = acts_of(self.command)
        return self._acts

    @property
    def statements(self) -> frozenset[str]:
        """The kinds of SQL statements that the command gives to a database."""
        return frozenset(act.kind for act in self.acts)

    @property
    def variables(self) -> list[tuple[Word, str]]:
        """The names of the variables that the command sets, for itself or for what follows."""
        if self._variables is None:
            words: Iterable[Word] = self.command.assignments
            if self.program in SETS_VARIABLES:
                words = (*words, *self.arguments)
            matched = ((word, _ASSIGNED.match(word.text)) for word in words)
            self._variables = [
                (word, hit[1]) for word, hit in matched if hit and not self.is_harmless(word)
            ]
        return self._variables

    def is_harmless(self, word: Word) -> bool:
        """Returns whether a value starts no code of somebody's choice.

        It only says how `read` splits, where to look for what is found nowhere else or for tools
        that installers put there, or names a program that shows text, does nothing, or is the
        compiler of that name.
        """
        if word.text.startswith("IFS=") and self.program == "read":
            return True
        if not word.dynamic and PLAIN_VALUE.fullmatch(word.text):
            return True
        if _TOOLS.fullmatch(word.text):
            return True
        return word.prefix == "PATH=" and word.text.startswith(_APPENDED)

    @property
    def line(self) -> str:
        """The words joined by blanks, quoted where they need it, the program without its folder."""
        if self._line is None:
            words = [word.text for word in self.command.words]
            self._line = shlex.join((words[0].rpartition("/")[2], *words[1:])) if words else ""
        return self._line

    @property
    def global_options(self) -> frozenset[str]:
        """The program's options with a value that stand before its sub-command."""
        return GLOBAL_OPTIONS.get(self.program, frozenset())

    def starts(self, at: int) -> list[int]:
        """Returns the places where the next operand from this argument on may stand."""
        if at not in self._starts:
            self._starts[at] = maybe_starts(self.program, self.arguments, at)
        return self._starts[at]

    def of(self, command: Command) -> CommandView:
        """Returns the view of another reading of the command, at the same place."""
        return CommandView(command, self.place, self._known)

    @property
    def own_part(self) -> CommandView:
        """The command without that which it runs, where it is a wrapper."""
        if self._own_part is None:
            words = tuple(own_words(self.command.words))
            self._own_part = self.of(msgspec.structs.replace(self.command, words=words))
        return self._own_part

    def others(self, commands: Iterable[Command]) -> list[CommandView]:
        """Returns the views of other commands of the text, at the places where they run."""
        return [self._known.get(id(command)) or self._other(command) for command in commands]

    def _other(self, command: Command) -> CommandView:
        view = self._known[id(command)] = CommandView(command, self.place, self._known)
        return view

    def touching(self, paths: PathPatterns) -> list[Word]:
        """Returns the words whose paths a rule means and that are touched in its way."""
        place, meant = self.place, paths.meant
        words: list[Word] = []
        hinted = meant.hints.may_fit(self._names)
        if not (hinted or paths.own or meant.tests or self._wild):
            return words
        for touch, forms in self.touched:
            if paths.access not in ("any", touch.kind):
                continue
            if self.command.contained and paths.access == "read" and Place.outside in meant.tests:
                continue
            holds = paths.own and touch.kind != "read" and place.holds_own(touch.path)
            wild = touch.word.expands == "glob" and paths.may_fit(forms)
            wild = wild and not self._counts_hidden(touch)
            if holds or wild or paths.fit(place, touch.path, forms, hinted=hinted):
                words.append(touch.word)
        return words

    def _counts_hidden(self, touch: Touch) -> bool:
        """Returns whether the command only lists names and sizes of all hidden in a folder."""
        last = touch.path.rpartition("/")[2]
        return self.program in _LISTERS and _ALL_HIDDEN.fullmatch(last) is not None

    @property
    def _wild(self) -> bool:
        if self._has_glob is None:
            self._has_glob = any(touch.word.expands == "glob" for touch, _ in self.touched)
        return self._has_glob

    @property
    def _names(self) -> Names:
        """The names in all paths; the other forms of a path have no more of them."""
        if self._named is None:
            self._named = names_in([forms[0] for _, forms in self.touched])
        return self._named

    def touches_only(self, paths: PathPatterns) -> bool:
        """Returns whether the command touches something in that way, and only what is meant."""
        place, some = self.place, False
        for touch, forms in self.touched:
            if paths.access not in ("any", touch.kind) or not touch.sure:
                continue
            some = True
            literal = touch.word.expands in ("", "glob")
            if not literal or not paths.fit(place, touch.path, forms):
                return False
        return some

    def _at_home(self, text: str) -> str:
        home = self.place.home
        if home:
            for name in _HOMES:
                if text.startswith(name):
                    return home + text[len(name) :]
        return text
