"""A PowerShell text becomes the same script that a shell text does, of commands with words.

A cmdlet stands in it under its full name, with the shell command that does the same where one is
known for certain. What is not on the closed list of nodes, names or methods is opaque.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.shell import powershell_words as words_of
from watchgate.core.policy.shell.commands import Word, names
from watchgate.core.policy.shell.powershell_cmdlets import (
    ALIASES,
    CHANGES_NAMES,
    PROGRAMS,
    method_in_shell,
)
from watchgate.core.policy.shell.powershell_grammar import parse
from watchgate.core.policy.shell.powershell_parts import (
    MAX_DEPTH,
    NUMBERS,
    STRINGS,
    UNREAD,
    PartReader,
    hides_words,
    innermost,
    is_broken,
    operands,
)
from watchgate.core.policy.shell.powershell_same import same_in_shell
from watchgate.core.policy.shell.powershell_words import Argument, made_word
from watchgate.core.policy.shell.script import (
    TOO_MUCH,
    Notes,
    PipelinePart,
    Script,
    ScriptSource,
    Sign,
)

if TYPE_CHECKING:
    from watchgate.core.policy.shell.powershell_grammar import Node

MAX_NODES = 2_000


_BLOCKS = names(
    """program statement_list script_block script_block_body statement_block else_clause
    elseif_clauses elseif_clause catch_clauses catch_clause finally_clause for_initializer
    for_condition for_iterator while_condition switch_condition switch_body switch_clauses
    switch_clause named_block named_block_list pipeline flow_control_statement"""
)
_BRANCHES = names(
    """if_statement while_statement do_statement for_statement foreach_statement switch_statement
    try_statement"""
)
_SILENT = names(
    """empty_statement comment variable catch_type_list switch_clause_condition block_name
    switch_parameters label type_literal function_name"""
)
# They hold values; whatever runs in them stands below them.
_VALUES = names(
    """parenthesized_expression sub_expression array_expression array_literal_expression
    hash_literal_expression hash_literal_body hash_entry key_expression member_access member_name
    element_access cast_expression unary_expression expression_with_unary_operator
    logical_expression bitwise_expression comparison_expression additive_expression
    multiplicative_expression format_expression range_expression string_literal integer_literal
    real_literal expandable_string_literal expandable_here_string_literal
    verbatim_string_characters verbatim_here_string_characters decimal_integer_literal
    hexadecimal_integer_literal simple_name type_literal type_spec type_name type_identifier
    variable braced_variable pre_increment_expression pre_decrement_expression
    post_increment_expression post_decrement_expression argument_list argument_expression_list
    argument_expression logical_argument_expression bitwise_argument_expression
    comparison_argument_expression additive_argument_expression
    multiplicative_argument_expression format_argument_expression range_argument_expression
    comparison_operator assignement_operator format_operator file_redirection_operator
    script_block_expression left_assignment_expression"""
)
_CALLS = names("invokation_expression invokation_foreach_expression")
_ACCESSES = _CALLS | names("member_access element_access")
_RENAMES = "Gives a command another meaning"
_MODULE = re.compile(r"microsoft\.powershell\.\w+/")
_JOINS: dict[str, Sign] = {"&&": "&&", "||": "||"}


def read(text: str, at: Sequence[int], notes: Notes, depth: int = 0) -> tuple[Script, bool]:
    """The script of a text, and whether the whole of it could be read.

    `at` gives each character's position in the original text.
    """
    root = parse(text)
    if root is None:
        notes.doubt(UNREAD)
        return Script(), False
    broken = is_broken(root) or hides_words(root, text)
    if broken:
        notes.doubt(UNREAD)
    reader = _PowerShellReader(ScriptSource(text, at), notes, depth)
    return reader.block(root), not (broken or reader.unread)


class _PowerShellReader(PartReader):
    def block(self, node: Node) -> Script:
        """The statements below a node, one level deeper."""
        script = Script()
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.notes.doubt("Is nested deeper than anybody reads")
        else:
            for child in node.children:
                self.statement(child, script)
        self.depth -= 1
        return script

    def statement(self, node: Node, script: Script) -> None:
        """Adds what a statement runs to the script."""
        self.nodes += 1
        self.notes.statements += 1
        check()
        if self.nodes > MAX_NODES:
            self.notes.doubt(TOO_MUCH)
            return
        kind = node.type
        if not node.is_named or kind in _SILENT:
            return
        if kind == "pipeline_chain_tail":
            script.join(_JOINS.get(self.text(node), ""))
        elif kind == "pipeline_chain":
            parent = node.parent.parent if node.parent else None
            prints = parent is not None and parent.type in ("statement_list", "program")
            script.extend(self.pipeline(node, prints=prints))
        elif kind == "assignment_expression":
            self.assignment(node, script)
        elif kind in _BRANCHES:
            script.append(PipelinePart(groups=[self.block(node)], branches=True))
        elif kind == "command":
            script.extend(self.command(node))
        elif kind in _VALUES or kind in _CALLS:
            script.extend(self.value(node))
        else:
            if kind == "function_statement":
                self.notes.doubt(_RENAMES)
            elif kind not in _BLOCKS:
                self.doubt()
            script.extend(self.block(node))

    def pipeline(self, node: Node, *, prints: bool = False) -> Script:
        """The commands of a pipeline, one part each; `prints` says that what is left is shown."""
        script = Script()
        feeding = False
        elements = [child for child in node.children if child.is_named]
        for child in elements:
            if child.type == "command":
                lists = any(part.same and part.same[0].text == "ls" for part in _parts(script))
                part_value = self.command(child, lists=lists)
            else:
                part_value = self.value(child, prints=prints or len(elements) > 1)
            if feeding:
                script.pipe(part_value)
            else:
                script.extend(part_value)
            feeding = bool(script.pipelines)
        return script

    def value(self, node: Node, *, prints: bool = False) -> Script:
        """Adds what an expression runs, and the text and variables in it where they are printed."""
        core = innermost(node)
        script = self.inner(core)
        shown = [core] if core.type in STRINGS else self.variables(core)
        if prints and shown and not script.pipelines:
            start = self.source.at[core.start_byte]
            script.append(
                PipelinePart(words=[made_word("echo", start), *(self.word([e]) for e in shown)])
            )
        return script

    def variables(self, node: Node) -> list[Node]:
        """The variables in an expression."""
        nodes: list[Node] = []
        todo = [node]
        while todo:
            self.nodes += 1
            each = todo.pop()
            if each.type == "variable":
                nodes.append(each)
            elif each.type != "script_block_expression":
                todo += reversed(each.children)
        return nodes

    def inner(self, node: Node) -> Script:
        """Returns the commands that run anywhere below the node of an expression."""
        script = Script()
        self.nodes += 1
        check()
        if self.nodes > MAX_NODES or self.depth > MAX_DEPTH:
            self.notes.doubt(TOO_MUCH)
            return script
        kind = node.type
        if kind in _ACCESSES and self.is_apart(node):
            self.doubt()
        if kind in _CALLS:
            self.method(node, script)
            return script
        if kind not in _VALUES and kind not in _SILENT:
            self.statement(node, script)
            return script
        self.depth += 1
        for child in node.children:
            if child.is_named and child.children:
                script.extend(self.inner(innermost(child)))
        self.depth -= 1
        return script

    def is_apart(self, node: Node) -> bool:
        """Tells whether blanks stand between a value and its member: there the word may end."""
        parts = (self.source.text[each.start_byte : each.end_byte] for each in node.children[1:])
        end = node.children[0].end_byte
        for each, text in zip(node.children[1:], parts, strict=True):
            if each.start_byte != end or text[:1].isspace():
                return each.type != "]"
            end = each.end_byte
        return False

    def method(self, node: Node, script: Script) -> None:
        """Adds what calling a method does."""
        self.depth += 1
        for child in node.children:
            if child.is_named and child.children:
                script.extend(self.inner(innermost(child)))
        self.depth -= 1
        arguments = next((each for each in node.children if each.type == "argument_list"), None)
        name = self.source.text[
            node.start_byte : arguments.start_byte if arguments else node.end_byte
        ]
        given = [] if arguments is None else [self.word([each]) for each in operands(arguments)]
        start = self.source.at[node.start_byte]
        method = method_in_shell(name, given)
        if method is None:
            self.notes.doubt("Calls a method that no rule knows")
        elif method:
            words = [made_word(each, start) if isinstance(each, str) else each for each in method]
            script.append(PipelinePart(words=words))

    def assignment(self, node: Node, script: Script) -> None:
        """Adds what an assignment runs, and the variable that it sets."""
        named = [child for child in node.children if child.is_named]
        target, value = innermost(named[0]), named[-1]
        text = self.text(target).lower()
        core = innermost(value)
        is_value = core.type in _VALUES or core.type in _CALLS
        ran = self.value(value) if is_value else self.block(value)
        constant = core.type in STRINGS or core.type in NUMBERS
        if target.type != "variable":
            self.notes.doubt("Sets something that no rule knows")
            script.extend(self.inner(target))
        if not constant:
            script.extend(ran)
        is_variable = target.type == "variable" and text.startswith("$")
        if not is_variable or not (constant or text.startswith("$env:")):
            return
        name = words_of.variable(self.source, target.start_byte, target.end_byte).text.strip("${}")
        given = self.word([core]) if constant else None
        at = self.source.at[target.start_byte]
        content = given.text if given else "$()"
        set_to = f"{name}={content}"
        expands = given.expands if given else "value"
        places = (at,) * (len(name) + 1) + (tuple(given.at) if given else (at,) * len(content))
        end = given.end if given else self.source.position(node.start_byte, node.end_byte)[1]
        word = Word(set_to, places, at, end, expands, f"{name}=" if expands else set_to)
        if text.startswith("$env:"):
            script.append(PipelinePart(words=[made_word("export", at), word]))
        else:
            script.append(PipelinePart(assignments=[word]))

    def command(self, node: Node, *, lists: bool = False) -> Script:
        """A command with the blocks and values in it; `lists` says that files are piped into it."""
        part = PipelinePart()
        self.depth += 1
        head, arguments = self.elements(node, part)
        self.depth -= 1
        script = Script()
        if head is None:
            # A block that is called, such as `& { ... }`.
            for group in part.groups:
                script.extend(group)
            return script
        name = _own_name(head.text)
        full = ALIASES.get(name, name and head.text)
        cmdlet = _own_name(full)
        same = None if head.dynamic else _same(cmdlet, arguments, lists=lists)
        if cmdlet in CHANGES_NAMES:
            self.notes.doubt(_RENAMES)
        flat = [word for argument in arguments for word in argument]
        if name in ALIASES and name not in PROGRAMS:
            head = made_word(full, head.start)
        part.words = [head, *flat]
        part.same = same or ()
        if not flat and part.groups and cmdlet in ("foreach-object", "where-object"):
            for group in part.groups:
                script.extend(group)
            if script.pipelines:
                return script
        script.append(part)
        return script


def _parts(script: Script) -> list[PipelinePart]:
    return script.pipelines[-1] if script.pipelines else []


def _own_name(text: str) -> str:
    """The name of what may be a cmdlet, without its module; empty where it is a file."""
    name = text.lower()
    return name.rpartition("/")[2] if _MODULE.match(name) else "" if "/" in name else name


def _same(name: str, arguments: list[Argument], *, lists: bool) -> tuple[Word, ...] | None:
    """The shell command that does the same as a cmdlet."""
    if name == "invoke-expression":
        given = [word for argument in arguments for word in argument if word.prefix[:1] != "-"]
        return (made_word("eval", given[0].start), *given) if given else (made_word("sh", 0),)
    return same_in_shell(name, arguments, lists=lists)
