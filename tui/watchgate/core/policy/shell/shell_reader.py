"""A tree of the grammar becomes a script; what is not on the closed list of nodes is opaque.

The grammar is tolerant and in known shapes wrong without saying so. Each of those shapes is told
here by the text itself: continuations inside words, back-ticks, ends of here-documents, comments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.shell import expansions, heredocs
from watchgate.core.policy.shell.commands import Redirect, Word
from watchgate.core.policy.shell.expansions import LITERALS, WordReader
from watchgate.core.policy.shell.grammar import available, parse
from watchgate.core.policy.shell.heredocs import ONE_LINE, ended, line_ends
from watchgate.core.policy.shell.parse_error import misread, parse_error
from watchgate.core.policy.shell.script import (
    TOO_MUCH,
    Notes,
    PipelinePart,
    Script,
    ScriptSource,
    Sign,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from watchgate.core.base.text import Span
    from watchgate.core.policy.shell.grammar import Node

MAX_DEPTH = 40
_UNREAD = "Could not be read as shell commands"
# Far more than are looked at; the tree of what follows is not gone through.
MAX_STATEMENTS = 1_000
# Of one text, so that the scripts within an early command are read whatever follows it.
MAX_COMMANDS = 256
# The grammar passes over the ends of some lines, and those that it finds then show others.
_MAX_READS = 8

_CONTINUED = re.compile(r"(?<![\\ \t\n])(?:\\\\)*\\\n(?![ \t\n]|$)")
_DESCRIPTOR = re.compile(r"\d+-?|-")
_NAME = re.compile(r"[A-Za-z_]\w*(\[|\+?=)", re.ASCII)
_BLANKS = " \t\n(\\"
_BEFORE_COMMENT = " \t\n;&|()"

# Statements whose parts are statements; their own keywords and signs say nothing.
_BLOCKS = frozenset(
    "program do_group if_statement elif_clause else_clause while_statement compound_statement"
    " subshell negated_command case_item case_statement for_statement".split()
)
_GROUPS = frozenset(
    "if_statement while_statement compound_statement subshell case_statement for_statement".split()
)
_REDIRECTS = frozenset(("file_redirect", "herestring_redirect", "heredoc_redirect"))
_JOINS: dict[str, Sign] = {"&&": "&&", "||": "||", "&": "&"}
_SIGNS = frozenset(
    "; ;; ;& ;;& | |& ( ) { } ! if then elif else fi while until do done for select in case"
    " esac".split()
) | {"\n"}


def read(text: str, at: Sequence[int], notes: Notes, depth: int = 0) -> Script:
    """The script of a text; `at` gives each character's position in the original text."""
    if "\\\n" in text and _CONTINUED.search(text):
        text, at = _folded(text, at, notes)
    script = Script()
    for _ in range(_MAX_READS):
        root = parse(text)
        if root is not None and root.has_error and "<<" in text:
            text, at = heredocs.reordered(root, text, at)
            root = parse(text)
        if root is not None and "\n\\" in text and "<<" in text:
            shown = heredocs.masked(root, text)
            root = root if shown == text else parse(shown)
        if root is None:
            missing = "Could not be read, since the parser for shell commands is missing"
            notes.doubt(_UNREAD if available() else missing)
            return Script()
        before = notes.copy() if "\n" in text else notes
        if root.has_error and not notes.why:
            fault = parse_error(text, at)
            notes.doubt(*(fault or (_UNREAD, misread(root, at))))
        reader = _ShellReader(ScriptSource(text, at), notes, depth)
        script = reader.block(root)
        if not reader.ends:
            return script
        notes.restore(before)
        text = ended(text, reader.ends)
    notes.doubt("Could be split into commands in another way than it was read")
    return script


def _folded(text: str, at: Sequence[int], notes: Notes) -> tuple[str, Sequence[int]]:
    """The text with lines joined that a word continues over; the grammar would split the word."""
    if "'" in text or "#" in text or "<<" in text:
        notes.doubt("Continues a word on the next line where that may mean something else")
        return text, at
    offsets: list[int] = []
    index = 0
    while index < len(text):
        if text[index] == "\\":
            if text[index + 1 : index + 2] != "\n":
                offsets += range(index, min(index + 2, len(text)))
            index += 2
        else:
            offsets.append(index)
            index += 1
    return "".join(text[i] for i in offsets), tuple(at[i] for i in offsets)


class _ShellReader(WordReader):
    commands = 0

    def __init__(self, source: ScriptSource, notes: Notes, depth: int) -> None:
        super().__init__(source, notes, depth)
        # Of lines that go on in the tree.
        self.ends: set[Span] = set()

    def covered_line(self, node: Node) -> None:
        """Checks that nothing is passed over in a node, and that one line holds its parts."""
        children = node.children
        self.covered(children, node.start_byte, node.end_byte)
        if node.type in ONE_LINE and "\n" in self.source.text:
            self.ends.update(line_ends(self.source.text, children))

    def reread(self, text: str, at: Sequence[int]) -> Script:
        return read(text, at, self.notes, self.depth + 1)

    def script(self, nodes: Sequence[Node]) -> Script:
        """The statements among these nodes, one level deeper."""
        if self.depth > MAX_DEPTH:
            self.notes.doubt("Is nested deeper than anybody reads")
            return Script()
        self.depth += 1
        script = Script()
        for node in nodes:
            check()
            self.statement(node, script)
        self.depth -= 1
        return script

    def block(self, node: Node) -> Script:
        self.covered(node.children, 0, len(self.source.text))
        return self.script(node.children)

    def statement(self, node: Node, script: Script) -> None:
        """Adds what a statement runs to the script."""
        self.notes.statements += 1
        if self.notes.statements > MAX_STATEMENTS or self.commands > MAX_COMMANDS:
            self.notes.doubt(TOO_MUCH)
            return
        kind = node.type
        if node.children:
            self.covered_line(node)
        if kind == "command":
            script.append(self.command(node.children))
        elif kind in ("list", "redirected_statement"):
            self.chain(node, script)
        elif kind == "pipeline":
            self.pipeline(node.children, script)
        elif kind in _JOINS:
            script.join(_JOINS[kind])
        elif kind in _SIGNS:
            return
        elif kind == "comment":
            self.comment(node)
        else:
            self.other(node, kind, script)

    def chain(self, node: Node, script: Script) -> None:
        """Adds a list; a redirect belongs to the last command before it, as the shell has it."""
        first, *rest = self.flat(node)
        if first.type in _REDIRECTS:
            script.append(PipelinePart())
            rest.insert(0, first)
        else:
            script.extend(self.script([first]))
        for child in rest:
            if child.type in _REDIRECTS:
                if child.start_byte in self.dashes:
                    script.last.words.append(self.dashes[child.start_byte])
                self.redirect(child, script.last, script)
            else:
                self.statement(child, script)

    def flat(self, node: Node) -> list[Node]:
        """The parts of a list in their order, redirects behind what they follow.

        The grammar nests lists and redirects to the left, as deep as the text is long.
        """
        behind: list[Node] = []
        while node.type in ("list", "redirected_statement"):
            self.covered_line(node)
            children = node.children
            redirects = [child for child in children if child.type in _REDIRECTS]
            first, *rest = [c for c in children if c.type not in _REDIRECTS] + redirects
            behind += reversed(rest)
            node = first
        return [node, *reversed(behind)]

    def other(self, node: Node, kind: str, script: Script) -> None:
        if kind in _BLOCKS:
            self.group(node, kind, script)
        elif kind in ("variable_assignment", "variable_assignments"):
            nodes = [node] if kind == "variable_assignment" else node.children
            script.append(self.command(nodes))
        elif kind in ("declaration_command", "unset_command", "test_command"):
            script.append(self.builtin(node))
        elif kind == "c_style_for_statement":
            self.computed(node, script)
        elif kind == "function_definition":
            self.function(node, script)
        elif kind in _REDIRECTS:
            part = PipelinePart()
            script.append(part)
            self.redirect(node, part, script)
        elif kind in LITERALS:  # the words of a loop, the patterns of a case
            part = PipelinePart()
            self.loose(node, part)
            if part.inner:
                script.append(part)
        else:
            self.unknown(node, script)

    def unknown(self, node: Node, script: Script) -> None:
        """Looks through a node that nobody knows; the text is opaque."""
        self.notes.doubt(_UNREAD)
        children = node.children
        if any(child.type == "command_name" for child in children):
            known = [c for c in children if c.type == "command_name" or c.type in LITERALS]
            script.append(self.command(known))
        script.extend(self.script([c for c in children if c.is_named]))

    def group(self, node: Node, kind: str, script: Script) -> None:
        children = node.children
        if kind == "negated_command" and not self._stands_alone(node):
            self.notes.doubt("Starts with a sign that may belong to the name of a program")
        if children and children[0].type == "((":
            self.computed(node, script)
        elif kind in _GROUPS:
            part = PipelinePart(apart=kind == "subshell", branches=kind != "compound_statement")
            if kind == "for_statement":
                children = self.loop(children, part)
            part.groups.append(self.script(children))
            script.append(part)
        else:
            script.extend(self.script(children))
            if kind == "negated_command" and script.pipelines:
                script.last.negated = True

    def loop(self, children: Sequence[Node], part: PipelinePart) -> list[Node]:
        """Notes the variable of a loop over words, and gives the rest of it."""
        text = self.source.text
        for named in (c for c in children if c.type == "variable_name"):
            self.sets(named.start_byte, named.end_byte, part)
            for word in (c for c in children if c.type in LITERALS and c is not named):
                name = text[named.start_byte : named.end_byte]
                value = text[word.start_byte : word.end_byte]
                expansions.assigned(name, value, self.notes)
                self.notes.looped.setdefault(name, []).append(value)
        return [c for c in children if c.type != "variable_name"]

    def _stands_alone(self, node: Node) -> bool:
        """Returns whether what follows the sign at a node's start cannot be one word with it."""
        following = self.source.text[node.start_byte + 1 : node.start_byte + 2]
        return not following or following in _BLANKS

    def pipeline(self, nodes: Sequence[Node], script: Script) -> None:
        fed: Script | None = None
        for node in nodes:
            if node.type in ("|", "|&"):
                continue
            part = self.script([node])
            if fed is None:
                fed = part
            else:
                fed.pipe(part)
        script.extend(fed or Script())

    def command(self, nodes: Sequence[Node]) -> PipelinePart:
        self.commands += 1
        part = PipelinePart()
        run: list[Node] = []
        trailing = Script()
        for node in nodes:
            kind = node.type
            if kind in LITERALS or kind in ("command_name", "$"):
                if run and run[-1].end_byte != node.start_byte:
                    part.words += self.words_of(run, part)
                    run = []
                run.append(node)
            elif kind == "variable_assignment":
                self.assignment(node, part)
            elif kind == "comment":
                self.comment(node)
            elif kind in ("file_redirect", "herestring_redirect"):
                self.redirect(node, part, trailing)
            else:
                self.notes.doubt(_UNREAD)
                trailing.extend(self.script([node]))
        if run:
            part.words += self.words_of(run, part)
        expansions.taken(part.words, self.notes)
        if trailing.pipelines:
            part.groups.append(trailing)
        return part

    def assignment(self, node: Node, part: PipelinePart) -> None:
        name = self.source.text[node.start_byte : node.end_byte]
        if not _NAME.match(name):
            self.notes.doubt("Sets no variable, so it runs a program of that name")
        value = node.child_by_field_name("value")
        if _NAME.match(name) and "[" in name.partition("=")[0]:
            self.notes.computes = True
        expansions.assigned(name.partition("=")[0].rstrip("+"), name.partition("=")[2], self.notes)
        plain = value is None or value.type != "array"
        part.assignments.append(self.word_of(node, part) if plain else self.loose(node, part))

    def builtin(self, node: Node) -> PipelinePart:
        """A declaration, an `unset` or a test: words of its own kinds."""
        part = PipelinePart()
        if node.type == "test_command":
            self.notes.computes = True
        for child in node.children:
            if child.type == "variable_assignment":
                self.assignment(child, part)
                part.words.append(part.assignments.pop())
            elif child.type in LITERALS and node.type != "test_command":
                part.words += self.words_of([child], part)
            elif child.type == "comment":
                self.comment(child)
            else:
                self.tested(child, part)
        return part

    def tested(self, node: Node, part: PipelinePart) -> None:
        """The words of a test, which the grammar nests as operators bind."""
        waiting = [node]
        while waiting:
            child = waiting.pop()
            if child.type.endswith("_expression") and child.type != "brace_expression":
                self.covered(child.children, child.start_byte, child.end_byte)
                waiting += reversed(child.children)
            else:
                part.words.append(self.loose(child, part))

    def computed(self, node: Node, script: Script) -> None:
        """Arithmetic as a statement, and a loop that counts with it."""
        part = PipelinePart()
        body = node.child_by_field_name("body")
        end = body.start_byte if body else node.end_byte
        self.computed_text(node.start_byte, end, part)
        first = self.piece(node.children[0].start_byte, node.children[0].end_byte)
        head = [child for child in node.children if child.end_byte <= end]
        part.words = [first, *(self.loose(child, part) for child in head[1:])]
        if body:
            part.words = []
            part.groups.append(self.script([body]))
        script.append(part)

    def function(self, node: Node, script: Script) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.notes.defined.add(self.source.text[name.start_byte : name.end_byte])
        part = PipelinePart(apart=True)
        body = [c for c in node.children if c != name and c.is_named and c.type not in _REDIRECTS]
        part.groups.append(self.script(body))
        script.append(part)
        for child in node.children:
            if child.type in _REDIRECTS:
                self.redirect(child, part, script)

    def redirect(self, node: Node, part: PipelinePart, script: Script) -> None:
        """Adds a redirect to its part; what follows a here-document's line goes to the script."""
        check()
        self.covered_line(node)
        if node.type == "heredoc_redirect":
            self.heredoc(node, part, script)
            return
        children = [child for child in node.children if child.type != "file_descriptor"]
        operator = children[0].type
        targets = children[1:]
        if self.source.text[children[0].start_byte - 1 : children[0].start_byte] == "}":
            self.notes.doubt("Sets a variable to the number of a descriptor")
        if operator in (">&-", "<&-"):
            word = self.piece(children[0].end_byte - 1, children[0].end_byte)
            part.redirects.append(Redirect(operator[:2], word, descriptor=True))
        elif not targets or any(child.type not in LITERALS for child in targets):
            self.notes.doubt("Redirects to something that could not be read")
            self.misread_target(operator, targets, part)
            return
        else:
            first, targets = targets[0], targets[1:]
            word = self.word_of(first, part)
            if operator in (">&", "<&") and word.text[:1] == "-" != word.text:
                self.notes.doubt("Closes a descriptor where a name could be meant")
            self.target(operator, word, part)
        # The grammar takes the words behind a target for more targets; they are arguments.
        for child in targets:
            part.words += self.words_of([child], part)

    def misread_target(self, operator: str, targets: Sequence[Node], part: PipelinePart) -> None:
        for child in targets:
            if child.type in LITERALS:
                operator = "<>" if operator == "<" else operator
                part.redirects.append(Redirect(operator, self.word_of(child, part)))

    def target(self, operator: str, word: Word, part: PipelinePart) -> None:
        if operator == "<<<":
            part.documents.append(word)
            return
        descriptor = operator in (">&", "<&") and (
            operator == "<&" or bool(_DESCRIPTOR.fullmatch(word.text))
        )
        part.redirects.append(Redirect(operator, word, descriptor))

    def heredoc(self, node: Node, part: PipelinePart, script: Script) -> None:
        for child in node.children:
            kind = child.type
            if kind in ("<<", "<<-", "heredoc_start", "heredoc_end"):
                continue
            if kind == "heredoc_body":
                part.documents.append(heredocs.document(self, node, child, part))
            elif kind == "pipeline":
                fed = Script()
                self.pipeline(child.children, fed)
                if not script.pipelines:
                    script.append(PipelinePart())
                script.pipe(fed)
            elif kind in ("file_redirect", "herestring_redirect"):
                self.redirect(child, part, script)
            elif kind in LITERALS:
                part.words += self.words_of([child], part)
            else:
                self.statement(child, script)
        if not any(child.type == "heredoc_body" for child in node.children):
            heredocs.bodiless(self, node)

    def comment(self, node: Node) -> None:
        start = node.start_byte
        if start and self.source.text[start - 1] not in _BEFORE_COMMENT:
            self.notes.doubt("Has a sign that may or may not start a comment")
