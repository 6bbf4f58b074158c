"""The parts of a PowerShell command: its program, its arguments, its blocks and redirects.

- The nodes of PowerShell's grammar: it wraps each value in one node for every kind of operator.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from watchgate.core.policy.shell import powershell_words as words_of
from watchgate.core.policy.shell.commands import Redirect, Word, names, plain_name
from watchgate.core.policy.shell.powershell_words import Argument, made_word
from watchgate.core.policy.shell.script import Notes, PipelinePart, Script, ScriptSource

if TYPE_CHECKING:
    from watchgate.core.policy.shell.powershell_grammar import Node


STRINGS = names(
    """expandable_string_literal expandable_here_string_literal verbatim_string_characters
    verbatim_here_string_characters"""
)
NUMBERS = names("decimal_integer_literal hexadecimal_integer_literal real_literal")
WORDS = names("generic_token command_parameter command_name simple_name")


_BEFORE_COMMENT = " \t\n;{}()|&,="
_WITHIN = re.compile(r"[^\s;{}()|&,=]#")


def innermost(node: Node) -> Node:
    """The node that says what a chain of nodes with one child each is."""
    while node.type not in STRINGS and node.type not in ("variable", "script_block_expression"):
        named = [child for child in node.children if child.is_named]
        if len(named) != 1 or len(node.children) != 1:
            return node
        if named[0].type in ("command", "statement_list") or (node.type in WORDS):
            return node
        node = named[0]
    return node


def is_broken(root: Node) -> bool:
    """Tells whether a tree has errors; a blank that is missing in `a,b` is none."""
    todo = [root] if root.has_error else []
    while todo:
        node = todo.pop()
        if node.is_error or (node.is_missing and node.type != " "):
            return True
        todo += (child for child in node.children if child.has_error)
    return False


def hides_words(root: Node, text: str) -> bool:
    """Tells whether a comment begins within a word, where PowerShell goes on with the word."""
    todo = [root] if _WITHIN.search(text) else []
    while todo:
        node = todo.pop()
        begins = node.start_byte
        if node.type == "comment" and begins and text[begins - 1] not in _BEFORE_COMMENT:
            return True
        todo += node.children
    return False


def is_number(node: Node) -> bool:
    """Tells whether an expression is a number with its sign, as an option such as `-5` is."""
    return node.type == "expression_with_unary_operator" and (
        innermost(node.children[-1]).type in NUMBERS
    )


def operands(node: Node) -> list[Node]:
    """The values of a list, or of a method's arguments."""
    named = [child for child in node.children if child.is_named]
    if len(named) == 1 and named[0].type == "argument_expression_list":
        named = [child for child in named[0].children if child.is_named]
    return named


def adjacent(pieces: Sequence[Node]) -> list[list[Node]]:
    """The parts of each word: what stands side by side is one."""
    groups: list[list[Node]] = []
    end = -1
    for piece in pieces:
        if piece.type == "command_argument_sep":
            if piece.start_byte == piece.end_byte or not piece.is_named:
                continue
            colon = any(child.type == ":" for child in piece.children)
            if not colon:
                end = -1
                continue
        if groups and piece.start_byte == end:
            groups[-1].append(piece)
        else:
            groups.append([piece])
        end = piece.end_byte
    return groups


MAX_DEPTH = 40
UNREAD = "Is PowerShell that could not be read"
_UNNAMED = "Runs a program that is only known at run time"
_SPLAT = "Gives a command parameters that stand elsewhere"


class PartReader(ABC):
    """Reads the words, values and redirects of commands; what runs in them is read elsewhere."""

    def __init__(self, source: ScriptSource, notes: Notes, depth: int) -> None:
        self.source = source
        self.notes = notes
        self.depth = depth
        self.nodes = 0
        self.unread = False

    def doubt(self, why: str = UNREAD) -> None:
        """Notes that a part may mean something else than it is read as."""
        self.unread = self.unread or why == UNREAD
        self.notes.doubt(why)

    @abstractmethod
    def block(self, node: Node) -> Script:
        """The statements below a node."""

    @abstractmethod
    def inner(self, node: Node) -> Script:
        """All that runs below the node of an expression."""

    def elements(self, node: Node, part: PipelinePart) -> tuple[Word | None, list[Argument]]:
        """The program's word and the arguments; blocks, values and redirects go into the part."""
        pieces: list[Node] = []
        arguments: list[Argument] = []
        head: Word | None = None
        for child in node.children:
            if child.type == "command_invokation_operator" and self.text(child) == ".":
                head = made_word("source", self.source.at[child.start_byte])
            elif child.type in ("command_name", "command_name_expr"):
                core = innermost(child)
                if core.type == "script_block_expression":
                    part.groups.append(self.block(core))
                    head = None
                elif head is None:
                    head = self.named(core, part)
                else:
                    arguments.append((self.named(core, part),))
            elif child.type == "command_elements":
                pieces += child.children
            elif child.is_named and child.type not in ("comment", "command_invokation_operator"):
                self.doubt()
                part.inner.append(self.inner(child))
        if head is None and not part.groups:
            self.doubt(_UNNAMED)
        arguments += filter(None, (self.argument(group, part) for group in adjacent(pieces)))
        return head, arguments

    def named(self, node: Node, part: PipelinePart) -> Word:
        """The word of a program's name, of which a value may be a part."""
        if node.type not in ("command_name", *STRINGS):
            part.inner.append(self.inner(node))
            self.notes.doubt(_UNNAMED)
        return words_of.program(self.word([node]))

    def argument(self, group: Sequence[Node], part: PipelinePart) -> Argument:
        """The words of one argument; none for a block, which is run in the part."""
        if group[0].type == "redirection":
            self.redirect(group[0], part)
            return ()
        if any(each.type == "stop_parsing" for each in group):
            self.doubt()
        cores = [innermost(each) for each in group]
        if cores[0].type == "script_block_expression" and len(cores) == 1:
            part.groups.append(self.block(cores[0]))
            part.branches = True
            return ()
        text = self.text(group[0])
        if group[0].type == "generic_token" and ">" in text:
            self.redirect_text(group[0], text, part)
            return ()
        if len(cores) == 1 and cores[0].type == "array_literal_expression":
            words = [self.word([each]) for each in operands(cores[0])]
            part.inner.append(self.inner(cores[0]))
            return tuple(words)
        if cores[0].type == "expression_with_unary_operator" and not is_number(cores[0]):
            # The list goes on: `a , b`. Any other sign is a word here, and no operator.
            if self.text(cores[0].children[0]) != ",":
                self.doubt()
            part.inner.append(self.inner(cores[0]))
            return (self.word(cores[0].children[1:]),)
        part.inner += [
            self.inner(each) for each in cores if each.type not in WORDS and each.children
        ]
        literal = any(each.type in STRINGS for each in cores)
        return tuple(words_of.listed(self.word(cores), literal=literal))

    def word(self, nodes: Sequence[Node]) -> Word:
        """The word of parts that stand side by side."""
        pieces = []
        for node in map(innermost, nodes):
            try:
                pieces.append(self.piece(node))
            except words_of.Unread:
                self.doubt(_SPLAT if self.text(node).startswith("@") else UNREAD)
                pieces.append(words_of.unknown(self.source, node.start_byte))
        start, end = self.source.position(nodes[0].start_byte, nodes[-1].end_byte)
        return words_of.word(pieces, start, end)

    def piece(self, node: Node) -> words_of.WordPiece:
        """The part of a word that a node is."""
        if node.type in STRINGS:
            return words_of.quoted(self.source, node)
        if node.type == "variable":
            return words_of.variable(self.source, node.start_byte, node.end_byte)
        plain = node.type in WORDS or node.type in NUMBERS or is_number(node)
        if plain or node.type == "command_argument_sep":
            return words_of.bare(self.source, node.start_byte, node.end_byte)
        return self.constant(node) or words_of.unknown(self.source, node.start_byte)

    def constant(self, node: Node) -> words_of.WordPiece | None:
        """The text that brackets hold: of strings that are added, and of `Join-Path`."""
        if self.depth >= MAX_DEPTH:
            self.doubt()
            return None
        self.depth += 1
        try:
            return self._constant(innermost(node))
        finally:
            self.depth -= 1

    def _constant(self, core: Node) -> words_of.WordPiece | None:
        named = [child for child in core.children if child.is_named]
        if core.type == "pipeline_chain" and len(core.children) == 1:
            core = named[0]
        if core.type in ("parenthesized_expression", "sub_expression") and len(named) == 1:
            return self.constant(named[0])
        if core.type in STRINGS or core.type == "variable":
            return self.piece(core)
        if core.type == "additive_expression" and len(core.children) == 3:
            added = [self.constant(named[0]), self.constant(named[-1])]
            return words_of.added(added, "") if self.text(core.children[1]) == "+" else None
        if core.type != "command":
            return None
        head, arguments = self.elements(core, PipelinePart())
        if head is None or plain_name(head.text) != "join-path":
            return None
        folders = [word for argument in arguments for word in argument if word.prefix[:1] != "-"]
        return words_of.added([words_of.piece_of(each) for each in folders], "/")

    def redirect(self, node: Node, part: PipelinePart) -> None:
        """Adds a redirect of a file."""
        sign = next((each for each in node.children if "operator" in each.type), None)
        file = next((each for each in node.children if each.type == "redirected_file_name"), None)
        if sign is None or file is None:
            return
        named = [each for each in file.children if each.type != "command_argument_sep"]
        if not named:
            self.doubt()
            return
        target = self.word(named)
        self.add_redirect(self.text(sign), target, part)

    def redirect_text(self, node: Node, text: str, part: PipelinePart) -> None:
        """Adds a redirect that the grammar took for a word, such as `2>$null`."""
        sign, _, name = text.rpartition(">")
        digits = sign.strip(">")
        if name.startswith("&") and name[1:].isdigit() and digits.isdigit():
            return
        if not (digits.isdigit() or digits in ("", "*")) or not name:
            self.doubt()
            return
        try:
            start = node.end_byte - len(name)
            piece = words_of.bare(self.source, start, node.end_byte)
        except words_of.Unread:
            self.doubt()
            return
        span = self.source.position(start, node.end_byte)
        self.add_redirect(">>" if ">>" in text else ">", words_of.word([piece], *span), part)

    def add_redirect(self, sign: str, target: Word, part: PipelinePart) -> None:
        """Adds a redirect to a file; nothing at all is the file that takes everything."""
        if target.text.lower() in ("${null}", "$null", ""):
            target = Word("/dev/null", (target.start,) * 9, *target.span, "", "/dev/null")
        part.redirects.append(Redirect(">>" if ">>" in sign else ">", target))

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.source.text[node.start_byte : node.end_byte]
