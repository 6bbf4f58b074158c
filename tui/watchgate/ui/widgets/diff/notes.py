"""The section of a request that shows an edit: changes by file, remarks by line, other input."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from watchgate.core.diff.blocks import Block
from watchgate.core.diff.rows import Row
from watchgate.core.policy.assessment import Finding, Risk
from watchgate.core.text import Span, hidden_spans

HIDDEN_RULE = "text.hidden"
NOTES_SHOWN = 8

_WORD = re.compile(r"[^\s\"'`<>()]+")


class Note(msgspec.Struct, frozen=True):
    """A remark on one line: its number, the risk of the rule behind it, and words."""

    line: int
    risk: Risk | None
    words: str


def marked_blocks(blocks: Sequence[Block], findings: Sequence[Finding]) -> list[Block]:
    """Returns the blocks with hidden characters of inserted lines marked in their rule's colour."""
    rule = hidden_rule(findings)
    if rule is None:
        return list(blocks)
    return [
        msgspec.structs.replace(block, rows=tuple(_marked(row, rule) for row in block.rows))
        for block in blocks
    ]


def hidden_rule(findings: Sequence[Finding]) -> Finding | None:
    """Returns the finding that holds the call for its hidden characters."""
    return next((each for each in findings if each.rule.startswith(HIDDEN_RULE)), None)


def notes(blocks: Sequence[Block], findings: Sequence[Finding]) -> list[Note]:
    """Returns a remark for each inserted line that hides something, by its first hidden character.

    Characters are named as the difference draws them.
    """
    rule = hidden_rule(findings)
    return [
        Note(row.new, rule.risk if rule else None, _words(row.text, spans))
        for block in blocks
        for row in block.rows
        if row.sign == "+" and row.new is not None and (spans := hidden_spans(row.text))
    ]


def _words(text: str, spans: Sequence[Span]) -> str:
    start, _ = spans[0]
    more = f" and {len(spans) - 1} more" if len(spans) > 1 else ""
    where = " in an address" if "://" in text[slice(*_around(text, spans[0]))] else ""
    return f"hidden character{where}, drawn as {text[start]}{more}"


def _marked(row: Row, rule: Finding) -> Row:
    if row.sign != "+":
        return row
    spans = dict.fromkeys(_around(row.text, span) for span in hidden_spans(row.text))
    marks = tuple(msgspec.structs.replace(rule, span=span) for span in spans)
    return msgspec.structs.replace(row, marks=(*row.marks, *marks)) if marks else row


def _around(text: str, span: Span) -> Span:
    """Returns the word that holds a hidden character: what a person would take it for."""
    for match in _words_near(text, span):
        if match.start() <= span[0] and span[1] <= match.end():
            return match.span()
    return span


def _words_near(text: str, span: Span) -> Iterator[re.Match[str]]:
    """Yields the words that begin no more than a long address before a place."""
    return _WORD.finditer(text, max(0, span[0] - 500), span[1] + 500)
