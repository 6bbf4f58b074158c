"""A shell text as it was read: pipelines of parts, and what the reader was not sure of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from watchgate.core.base.text import Span
from watchgate.core.policy.shell.commands import Redirect, Word

Sign = Literal["", "&&", "||", "&"]

TOO_MUCH = "Runs more commands than anybody reads"


class PipelinePart(msgspec.Struct, gc=False):
    """One command of a pipeline while it is read, or a group such as a loop or a subshell.

    `same` are the words of a shell command that does the same, where it is no shell's own.
    `inner` are the scripts of its substitutions, `groups` those that a group runs: in a shell of
    its own if it is `apart`, some of them perhaps not if it `branches`. `sign` is how it is joined
    to what follows, and `negated` says that it succeeds where its last command fails.
    """

    assignments: list[Word] = []
    words: list[Word] = []
    redirects: list[Redirect] = []
    documents: list[Word] = []
    same: tuple[Word, ...] = ()
    inner: list[Script] = []
    groups: list[Script] = []
    apart: bool = False
    branches: bool = False
    sign: Sign = ""
    negated: bool = False

    @property
    def empty(self) -> bool:
        """Returns whether it does nothing by itself."""
        return not (self.assignments or self.words or self.redirects or self.documents)


class Script(msgspec.Struct, gc=False):
    """A list of pipelines."""

    pipelines: list[list[PipelinePart]] = []

    def append(self, part: PipelinePart) -> None:
        """Adds a part that is a pipeline of its own."""
        self.pipelines.append([part])

    def join(self, sign: Sign) -> None:
        """Notes the sign behind the last pipeline."""
        if self.pipelines:
            self.pipelines[-1][-1].sign = sign

    def extend(self, script: Script) -> None:
        """Adds the pipelines of another script."""
        self.pipelines += script.pipelines

    def pipe(self, script: Script) -> None:
        """Feeds the last pipeline into the first of another script."""
        if self.pipelines and script.pipelines:
            self.pipelines[-1] += script.pipelines[0]
            script = Script(script.pipelines[1:])
        self.extend(script)

    @property
    def last(self) -> PipelinePart:
        """The part that a redirect behind the whole list belongs to."""
        if not self.pipelines:
            self.append(PipelinePart())
        return self.pipelines[-1][-1]


class ScriptSource(msgspec.Struct, frozen=True, gc=False):
    """A text to read; `at` gives each character's position in the original text."""

    text: str
    at: Sequence[int]

    def position(self, start: int, end: int) -> tuple[int, int]:
        """Returns the place of a piece of this text in the original one."""
        if start < end:
            return self.at[start], self.at[end - 1] + 1
        edge = self.at[start] if start < len(self.at) else self.at[-1] + 1 if self.at else 0
        return edge, edge


class Notes(msgspec.Struct, gc=False):
    """Remarks made on the way, over all scripts of one text.

    `why` is the first reason for which the text is opaque, `where` its place, if it has one.
    `defined` are names of functions and aliases. `computes` says that variables are read as
    arithmetic, which runs substitutions in their values, and `hides_code` that a quoted text holds
    one. `summed` are the variables so read, `filled` those that hold what others wrote, `looped`
    the words that loops go over, by their variable. `statements` counts what was read.
    """

    why: str = ""
    where: Span | None = None
    defined: set[str] = msgspec.field(default_factory=set)
    computes: bool = False
    hides_code: bool = False
    summed: set[str] = msgspec.field(default_factory=set)
    filled: set[str] = msgspec.field(default_factory=set)
    statements: int = 0
    looped: dict[str, list[str]] = msgspec.field(default_factory=dict)

    def copy(self) -> Notes:
        """Returns a copy with all that is noted up to now."""
        sets = {name: set(getattr(self, name)) for name in ("defined", "summed", "filled")}
        looped = {name: [*words] for name, words in self.looped.items()}
        return msgspec.structs.replace(self, looped=looped, **sets)

    def restore(self, before: Notes) -> None:
        """Goes back to what was noted then."""
        for field in self.__struct_fields__:
            setattr(self, field, getattr(before, field))

    def sums(self, names: Iterable[str]) -> None:
        """Notes variables that arithmetic reads."""
        self.summed.update(names)
        self._evaluates_data()

    def takes(self, names: Iterable[str]) -> None:
        """Notes variables that hold what a file, a name of one or another command says."""
        self.filled.update(names)
        self._evaluates_data()

    def _evaluates_data(self) -> None:
        if not self.summed.isdisjoint(self.filled):
            self.doubt("Takes what it read for arithmetic, which may run commands within it")

    def doubt(self, why: str, where: Span | None = None) -> None:
        """Says why the text is opaque."""
        if not self.why:
            self.why, self.where = why, where
