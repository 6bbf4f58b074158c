"""A scanner for POSIX and bash commands that knows quotes, substitutions and here-documents.

It splits a text into pipelines of words so that a rule meets every command in it. It is not a
parser: control flow is looked through, and whatever it does not understand makes the script
opaque. Positions always refer to the original text, however deep a command is nested.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from watchgate.core.policy.drafts import (
    ANSI_ESCAPE,
    Draft,
    Heredoc,
    Letters,
    ansi_character,
)
from watchgate.core.policy.words import Redirect, Script, Word

MAX_DEPTH = 12

_BLANK = " \t"
_OPERATORS = ("||", "&&", "|&", ";;&", ";;", ";&", "|", ";", "&", "\n", ")")
_REDIRECTS = ("<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">|", ">&", ">")
_DESCRIPTOR = re.compile(r"[0-9]*-?")
_ENDS_WORD = frozenset(" \t\n;&|()<>")
_EXPANDS = frozenset("*?[{")


def scan(text: str, at: Sequence[int] | None = None, depth: int = 0) -> Script:
    """The pipelines of a command; `at` gives each character's position in the original text."""
    if depth > MAX_DEPTH:
        return Script(opaque=True)
    scanner = _Scanner(text, range(len(text)) if at is None else at, depth)
    return scanner.script()


class _Scanner:
    def __init__(self, text: str, at: Sequence[int], depth: int) -> None:
        self.text = text
        self.at = at
        self.depth = depth
        self.pos = 0
        self.opaque = False
        self.heredocs: list[Heredoc] = []

    def script(self) -> Script:
        script = self.list_until("")
        return Script(script.pipelines, self.opaque or bool(self.heredocs))

    def list_until(self, closer: str) -> Script:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.opaque = True
            self.pos = len(self.text)
        pipelines: list[list[Draft]] = [[]]
        while True:
            draft = self.simple()
            if draft is not None:
                pipelines[-1].append(draft)
            operator = self.operator()
            if operator in ("|", "|&"):
                continue
            pipelines.append([])
            if operator == "\n":
                self.read_heredocs()
            elif operator == ")" and not closer:
                self.opaque = True
            elif operator == closer or not operator:
                break
        self.opaque |= operator != closer
        self.depth -= 1
        return Script(tuple(tuple(d.frozen() for d in line) for line in pipelines if line))

    def operator(self) -> str:
        for operator in _OPERATORS:
            if self.text.startswith(operator, self.pos):
                self.pos += len(operator)
                return operator
        return ""

    def simple(self) -> Draft | None:
        draft = Draft()
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char in _BLANK:
                self.pos += 1
            elif self.text.startswith("\\\n", self.pos):
                self.pos += 2
            elif char == "#":
                self.skip_comment()
            elif char == "(":
                # A function or an array: what follows its name is read as commands.
                self.opaque |= bool(draft.words)
                draft.words.clear()
                self.pos += 1
                draft.groups.append(self.list_until(")"))
            elif self.starts_redirect():
                self.redirect(draft)
            elif char in "\n;&|)":
                break
            else:
                draft.words.append(self.word())
        return None if draft.empty else draft

    def skip_comment(self) -> None:
        end = self.text.find("\n", self.pos)
        self.pos = len(self.text) if end < 0 else end

    def starts_redirect(self) -> bool:
        if self.text.startswith(("<(", ">("), self.pos):
            return False
        return self.text[self.pos] in "<>" or self.text.startswith("&>", self.pos)

    def redirect(self, draft: Draft) -> None:
        operator = next(op for op in _REDIRECTS if self.text.startswith(op, self.pos))
        if draft.words and self.is_descriptor(draft.words[-1]):
            draft.words.pop()
        self.pos += len(operator)
        while self.pos < len(self.text) and self.text[self.pos] in _BLANK:
            self.pos += 1
        source = self.pos
        if source == len(self.text) or self.text[source] in "\n;&|()":
            self.opaque = True
            return
        target = self.word()
        if operator in ("<<", "<<-"):
            quoted = self.text[source : self.pos] != target.text
            self.heredocs.append(Heredoc(draft, target, quoted, operator == "<<-"))
        elif operator == "<<<":
            draft.documents.append(target)
        elif operator == "<&" or (operator == ">&" and _DESCRIPTOR.fullmatch(target.text)):
            return
        else:
            draft.redirects.append(Redirect(operator, target))

    def is_descriptor(self, word: Word) -> bool:
        return word.end == self.at[self.pos] and word.text.isdigit()

    def read_heredocs(self) -> None:
        pending, self.heredocs = self.heredocs, []
        for heredoc in pending:
            start, end = self.pos, len(self.text)
            while self.pos < len(self.text):
                newline = self.text.find("\n", self.pos)
                stop = len(self.text) if newline < 0 else newline
                line = self.text[self.pos : stop]
                line_start, self.pos = self.pos, min(stop + 1, len(self.text))
                if (line.lstrip("\t") if heredoc.strip_tabs else line) == heredoc.delimiter.text:
                    end = line_start
                    break
            else:
                self.opaque = True
            heredoc.draft.documents.append(self.document(start, end, heredoc.quoted))

    def document(self, start: int, end: int, quoted: bool) -> Word:
        body, at = self.text[start:end], self.at[start:end]
        if quoted:
            return Word(body, tuple(at), *self.span(start, end))
        self.opaque = True
        scanner = _Scanner(body, at, self.depth)
        letters = Letters(self.span(start, end)[0])
        scanner.quoted(letters, "")
        return letters.word(self.span(start, end)[1])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Positions in the original text of a piece of this one."""
        if start >= end:
            edge = self.at[start] if start < len(self.at) else (self.at[-1] + 1 if self.at else 0)
            return edge, edge
        return self.at[start], self.at[end - 1] + 1

    def word(self) -> Word:
        start = self.pos
        letters = Letters(self.at[start])
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char in _ENDS_WORD and not self.text.startswith(("<(", ">("), self.pos):
                break
            self.letter(letters, char)
        return letters.word(self.span(start, self.pos)[1])

    def letter(self, letters: Letters, char: str) -> None:
        if char == "'":
            self.single_quoted(letters)
        elif char == '"':
            self.pos += 1
            self.quoted(letters, '"')
        elif char == "\\":
            if not self.text.startswith("\\\n", self.pos):
                letters.add(self.text[self.pos + 1 : self.pos + 2], self.at[self.pos])
            self.opaque |= self.pos + 1 >= len(self.text)
            self.pos += 2
        elif char == "$" and self.text.startswith("$'", self.pos):
            self.ansi_quoted(letters)
        elif char in "$`":
            self.expansion(letters, char)
        elif char in "<>":
            self.substitution(letters, 2)
        else:
            letters.dynamic |= char in _EXPANDS
            letters.add(char, self.at[self.pos])
            self.pos += 1
        self.pos = min(self.pos, len(self.text))

    def single_quoted(self, letters: Letters) -> None:
        end = self.text.find("'", self.pos + 1)
        if end < 0:
            self.opaque, end = True, len(self.text)
        for index in range(self.pos + 1, end):
            letters.add(self.text[index], self.at[index])
        self.pos = end + 1

    def quoted(self, letters: Letters, closer: str) -> None:
        """Text in which only `$`, back-ticks and some escapes mean something."""
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char == closer:
                self.pos += 1
                return
            if char == "\\" and self.text[self.pos + 1 : self.pos + 2] in ("$", "`", '"', "\\"):
                letters.add(self.text[self.pos + 1], self.at[self.pos])
                self.pos += 2
            elif self.text.startswith("\\\n", self.pos):
                self.pos += 2
            elif char in "$`":
                self.expansion(letters, char)
            else:
                letters.add(char, self.at[self.pos])
                self.pos += 1
        self.opaque |= bool(closer)

    def ansi_quoted(self, letters: Letters) -> None:
        self.pos += 2
        while self.pos < len(self.text) and self.text[self.pos] != "'":
            match = ANSI_ESCAPE.match(self.text, self.pos)
            letters.add(ansi_character(match) if match else self.text[self.pos], self.at[self.pos])
            self.pos = match.end() if match else self.pos + 1
        self.opaque |= self.pos >= len(self.text)
        self.pos += 1

    def expansion(self, letters: Letters, char: str) -> None:
        letters.dynamic = True
        if char == "`":
            self.backticks(letters)
        elif self.text.startswith("$(", self.pos):
            self.substitution(letters, 2)
        else:
            letters.add(char, self.at[self.pos])
            self.pos += 1

    def substitution(self, letters: Letters, width: int) -> None:
        letters.dynamic = True
        self.pos += width
        letters.inner.append(self.list_until(")"))

    def backticks(self, letters: Letters) -> None:
        body: list[str] = []
        at: list[int] = []
        self.pos += 1
        while self.pos < len(self.text) and self.text[self.pos] != "`":
            if self.text[self.pos] == "\\" and self.text[self.pos + 1 : self.pos + 2] in ("`", "$"):
                self.pos += 1
            body.append(self.text[self.pos])
            at.append(self.at[self.pos])
            self.pos += 1
        self.opaque = True
        self.pos += 1
        letters.inner.append(scan("".join(body), at, self.depth + 1))
