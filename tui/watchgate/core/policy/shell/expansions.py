"""The words of a command from the nodes of the tree, with the scripts in their substitutions.

- Arithmetic evaluates the text that its variables hold, and runs the substitutions in that text. A
  variable that holds a number, or a text that stands in the script, is seen through. What a loop
  reads from a file, or a substitution prints, is somebody else's text.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.shell.commands import Expands, Word, names
from watchgate.core.policy.shell.script import Notes, PipelinePart, Script, ScriptSource
from watchgate.core.policy.shell.word_reader import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from watchgate.core.policy.shell.grammar import Node


_TAKERS = names("read mapfile readarray getopts")
_UNNAMED = names("REPLY MAPFILE OPTARG")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_OPERAND = r"""(?:\s+-\w+)*(?:\s*<\s*(?:"\$\w+"|[^|;&()<>$`\s"]+))?"""
_COUNTS = re.compile(
    r"\$\(\s*(?:[^;&`\n()]*\|\s*)?(?:"
    rf"(?:wc{_OPERAND}|nproc|id\s+-[ug]|date(?:\s+-u)?\s+['\"]?\+%\w['\"]?)\s*"
    r"|(?:seq\s[^;&|()`\n]*|git\s+rev-list\s+--count\s[^;&|()`\n]*"
    r"""|grep\s+-[iEFvwx]*c[iEFvwx]*\s(?:"\$\w+"|[^;&|()$`*?\[\n"])*"""
    r")(?:\n\s*)?)\)"
)
_NUMBER = re.compile(r"\$[#?$!]|\$\{#\w+(?:\[[@*]\])?\}|\$\(\((?:[^()]|\([^()]*\))*\)\)", re.ASCII)
_UNSURE = re.compile(r"[$`*?\[]|<\(")


def evaluated(raw: str, notes: Notes) -> None:
    """Notes which variables a sum reads; `raw` is the expansion or statement as it is written."""
    own = raw[:2] if raw.startswith("$") else ""
    rest = _COUNTS.sub("0", raw[len(own) :])
    if "$(" in _NUMBER.sub("0", rest) or "`" in rest:
        notes.doubt("Evaluates what a command prints, which may run commands within it")
    notes.sums(_NAME.findall(rest))


def assigned(name: str, value: str, notes: Notes) -> None:
    """Notes a variable whose value is not known to be a number or a text of the script."""
    if _UNSURE.search(_NUMBER.sub("0", _COUNTS.sub("0", value))):
        notes.takes((name,))


def taken(words: Sequence[Word], notes: Notes) -> None:
    """Notes the variables into which a command puts what it reads."""
    if _program(words) in _TAKERS:
        notes.takes((*_UNNAMED, *(word.text for word in words[1:] if _NAME.fullmatch(word.text))))


def _program(words: Sequence[Word]) -> str:
    """The program behind `builtin` and `command`, which run it as it is."""
    rest = [w.text for w in words if w.text not in ("builtin", "command") and w.text[:1] != "-"]
    return rest[0] if rest else ""


LITERALS = frozenset(
    "word number string raw_string ansi_c_string translated_string simple_expansion expansion"
    " command_substitution process_substitution arithmetic_expansion concatenation brace_expression"
    " extglob_pattern regex variable_name special_variable_name subscript array".split()
)
_SUBSTITUTIONS = frozenset(("command_substitution", "process_substitution"))
_EXPANSIONS = _SUBSTITUTIONS | {"simple_expansion", "expansion", "arithmetic_expansion"}

_PLAIN = re.compile(r"[\w./:@%+,=~^-]+", re.ASCII)
_BLANK = re.compile(r"(?:[ \t\n]|\\\n)*")
_LONE_DASH = re.compile(r"[ \t]+(-)[ \t]*")
_PASSED_OVER = "Could be split into words in another way than it was read"
_RUNS = re.compile(r"\$\((?!\()|`|[<>]\(")
_COMPUTES = re.compile(r"\[(?![@*]\])|:(?![-=?+])|^\$\{!")
# To zsh this is the subscript of the variable in front of it.
_SUBSCRIPT = re.compile(r"\[\$?[A-Za-z_]\w*\]")
_NO_SUM = re.compile(r"[\w)}\]'\"]\s+[\w/~$.'\"]")
# Names in capitals are those of the environment, which programs obey; zsh ties small ones to some.
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]+|(?:cd|f|man|mail|module_)?path")
_SET_BY_SUM = re.compile(
    r"(?<![\w])(?:(?:\+\+|--)\s*([A-Z][A-Z0-9_]+)\b"
    r"|([A-Z][A-Z0-9_]+)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=)))"
)
_SET_BY_DEFAULT = re.compile(r"\$\{([A-Z][A-Z0-9_]+):?=")
_SINGLE_VALUES = frozenset(("$#", "$?", "$$", "$!"))

# Words of one text that are more than plain letters; they would fill all that is judged of it.
MAX_WORDS = 1_000
_TOO_WORDY = "Has more words than anybody reads"

NOT_FOUND = "Runs a command in a place where it could not be read"


class WordReader(ABC):
    """Reads words of one source; `script` and `reread` read the commands within them."""

    def __init__(self, source: ScriptSource, notes: Notes, depth: int) -> None:
        self.source = source
        self.notes = notes
        self.depth = depth
        self.decoded = 0
        # The `-` of `python3 - <<E`, by where the here-document starts: the grammar drops it.
        self.dashes: dict[int, Word] = {}

    @abstractmethod
    def script(self, nodes: Sequence[Node]) -> Script:
        """The statements among these nodes."""

    @abstractmethod
    def reread(self, text: str, at: Sequence[int]) -> Script:
        """The script of another text."""

    def piece(self, start: int, end: int, expands: Expands = "") -> Word:
        """A part of the source as it is written."""
        text = self.source.text[start:end]
        prefix = "" if expands else text
        return Word(
            text, self.source.at[start:end], *self.source.position(start, end), expands, prefix
        )

    def covered(self, nodes: Sequence[Node], start: int, end: int) -> None:
        """Doubts a text of which the grammar passed over more than blanks between these nodes."""
        text = self.source.text
        for node in nodes:
            if node.start_byte > start and not _BLANK.fullmatch(text, start, node.start_byte):
                self.passed_over(start, node)
            start = max(start, node.end_byte)
        if start < end and not _BLANK.fullmatch(text, start, end):
            self.notes.doubt(_PASSED_OVER)

    def passed_over(self, start: int, node: Node) -> None:
        """Doubts the text in front of a node, or keeps it for the word that it is."""
        dash = _LONE_DASH.fullmatch(self.source.text, start, node.start_byte)
        if dash is not None and node.type == "heredoc_redirect":
            self.dashes[node.start_byte] = self.piece(*dash.span(1))
        else:
            self.notes.doubt(_PASSED_OVER)

    def words_of(self, nodes: Sequence[Node], part: PipelinePart) -> list[Word]:
        """The words of nodes that stand side by side, which is one word as it is written."""
        start, end = nodes[0].start_byte, nodes[-1].end_byte
        if _PLAIN.fullmatch(self.source.text, start, end):
            return [self.piece(start, end)]
        check()
        if self.decoded > MAX_WORDS:
            self.notes.doubt(_TOO_WORDY)
            for node in nodes:
                self.scripts_in(node, part)
            return [self.piece(start, end, "words")]
        spans: dict[int, tuple[int, Expands, Expands]] = {}
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if node.type in _EXPANSIONS:
                spans[node.start_byte] = (node.end_byte, *self._expansion(node, part))
            elif node.child_count:
                waiting += node.children
        words = decode(self.source, start, end, spans, self.notes)
        self.decoded += len(words)
        return words

    def word_of(self, node: Node, part: PipelinePart) -> Word:
        """The one word that a node stands for; more of them are more than one can say."""
        words = self.words_of([node], part)
        return words[0] if len(words) == 1 else self.loose(node, part)

    def loose(self, node: Node, part: PipelinePart) -> Word:
        """A word as it is written, with the scripts in it, where its quotes do not matter."""
        self.scripts_in(node, part)
        return self.piece(node.start_byte, node.end_byte, "words" if node.child_count else "")

    def scripts_in(self, node: Node, part: PipelinePart) -> None:
        """Adds the scripts within a node; the text tells whether there are more of them."""
        text, start = self.source.text, node.start_byte
        if not _RUNS.search(text, start, node.end_byte):
            return
        waiting, rest = [node], list(text[start : node.end_byte])
        while waiting:
            inner = waiting.pop()
            if inner.type in _SUBSTITUTIONS:
                part.inner.append(self._substitution(inner))
                for index in range(inner.start_byte - start, inner.end_byte - start):
                    rest[index] = " "
            else:
                waiting += inner.children
        if _RUNS.search("".join(rest)):
            self.notes.doubt(NOT_FOUND)

    def sets(self, start: int, end: int, part: PipelinePart) -> None:
        """Adds the assignment of a variable of the environment that is set in passing."""
        name = self.source.text[start:end]
        if _ENVIRONMENT.fullmatch(name):
            at = (*self.source.at[start:end], self.source.at[end - 1])
            word = Word(f"{name}=", at, *self.source.position(start, end), "value", f"{name}=")
            part.assignments.append(word)

    def computed_text(self, start: int, end: int, part: PipelinePart) -> None:
        """Notes arithmetic, and text that looks more like a command in two subshells."""
        self.notes.computes = True
        raw = self.source.text[start:end]
        evaluated(raw, self.notes)
        for match in _SET_BY_SUM.finditer(self.source.text, start, end):
            self.sets(*match.span(match.lastindex or 0), part)
        if _NO_SUM.search(raw):
            self.notes.doubt("Could be arithmetic or a command")

    def _expansion(self, node: Node, part: PipelinePart) -> tuple[Expands, Expands]:
        """Returns the form that an expansion takes outside and inside of double quotes."""
        kind = node.type
        raw = self.source.text[node.start_byte : node.end_byte]
        if kind in _SUBSTITUTIONS:
            part.inner.append(self._substitution(node))
            return ("words" if kind == "command_substitution" else "value"), "value"
        self.scripts_in(node, part)
        if kind == "simple_expansion" and not raw[1:2].strip():
            self.notes.doubt(_PASSED_OVER)
        if kind == "simple_expansion" and (
            sub := _SUBSCRIPT.match(self.source.text, node.end_byte)
        ):
            self.notes.computes = True
            evaluated(sub.group(), self.notes)
        if kind == "arithmetic_expansion":
            self.computed_text(node.start_byte, node.end_byte, part)
            return "value", "value"
        if kind == "expansion":
            if setting := _SET_BY_DEFAULT.match(raw):
                self.sets(
                    node.start_byte + setting.start(1), node.start_byte + setting.end(1), part
                )
            for match in _SET_BY_SUM.finditer(raw) if ":" in raw or "[" in raw else ():
                span = match.span(match.lastindex or 0)
                self.sets(node.start_byte + span[0], node.start_byte + span[1], part)
            if _COMPUTES.search(raw):
                self.notes.computes = True
                evaluated(raw, self.notes)
            if "@P" in raw:
                self.notes.doubt("Reads the value of a variable as commands")
        return ("value" if raw in _SINGLE_VALUES else "words"), ("words" if "@" in raw else "value")

    def _substitution(self, node: Node) -> Script:
        start, end = node.start_byte, node.end_byte
        if self.source.text[start] == "`":
            return self._backticks(start, end)
        children = node.children
        self.covered(children, start, end)
        return self.script(children[1:-1] if children[-1].type == ")" else children[1:])

    def _backticks(self, start: int, end: int) -> Script:
        """The scripts in back-ticks; the grammar takes two of them for one."""
        self.notes.doubt("Uses back-ticks, which are read in more than one way")
        text, at = self.source.text, self.source.at
        script = Script()
        offsets: list[int] = []
        index, inside = start, False
        while index < end:
            if text[index] == "`":
                if inside:
                    code = "".join(text[i] for i in offsets)
                    script.extend(self.reread(code, tuple(at[i] for i in offsets)))
                inside, offsets = not inside, []
            elif inside:
                if text[index] == "\\" and text[index + 1 : index + 2] in ("`", "$", "\\"):
                    index += 1
                offsets.append(index)
            index += 1
        return script
