"""The nodes of PowerShell's grammar: it wraps each value in one node for every kind of operator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from watchgate.core.policy.shell.words import names

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
    """Tell whether a tree has errors; a blank that is missing in `a,b` is none."""
    todo = [root] if root.has_error else []
    while todo:
        node = todo.pop()
        if node.is_error or (node.is_missing and node.type != " "):
            return True
        todo += (child for child in node.children if child.has_error)
    return False


def hides_words(root: Node, text: str) -> bool:
    """Tell whether a comment begins within a word, where PowerShell goes on with the word."""
    todo = [root] if _WITHIN.search(text) else []
    while todo:
        node = todo.pop()
        begins = node.start_byte
        if node.type == "comment" and begins and text[begins - 1] not in _BEFORE_COMMENT:
            return True
        todo += node.children
    return False


def is_number(node: Node) -> bool:
    """Tell whether an expression is a number with its sign, as an option such as `-5` is."""
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
