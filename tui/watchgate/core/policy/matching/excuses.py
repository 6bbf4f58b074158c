"""Excusing options, such as `--dry-run`: they count only where the program reads them so."""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.core.policy.matching import value_options
from watchgate.core.policy.matching.options import NOT_MEANT, Flags, is_option
from watchgate.core.policy.matching.value_options import Grammar
from watchgate.core.policy.shell.words import Word


def excused(flags: Flags, known: frozenset[str], program: str, words: Iterable[Word]) -> bool:
    """Returns whether one of the flags is given for certain.

    Not where it may be the value of the option in front of it, behind `--`, or behind the operand
    from which on the words are those of another program. `known` are short options without a
    value, behind which another one may stand in a cluster.
    """
    grammar = value_options.of(program)
    sub = ""
    before = ""
    excuse = False
    for word in words:
        text = word.text
        if excuse:
            # The program goes by the last word of both.
            excuse = not _takes_back(flags, text)
            continue
        is_value = bool(before) and grammar.may_take_next(before)
        is_surely_value = bool(before) and grammar.surely_takes_next(before)
        before = ""
        if word.dynamic and not word.prefix:
            # It may become `--`, an option with a value, or an operand.
            if grammar.ends or word.expands == "words":
                return False
        elif text == "--":
            return False
        elif is_option(text):
            excuse = not is_value and _is_one(flags, known, grammar, text)
            before = text
        elif not is_surely_value:
            if grammar.ends:
                return False
            if not sub and (not is_value or (program, text) in value_options.SUBS):
                sub = text
                grammar = value_options.of(program, sub)
    return excuse


def _takes_back(flags: Flags, text: str) -> bool:
    """Returns whether a word may take an excuse back: `--no-dry-run`, `--dry-run=no`."""
    name, given, value = text.partition("=")
    if given and name in flags.exact:
        return value.lower() in NOT_MEANT
    meant = f"--{name[5:]}" if name.startswith("--no-") else "--"
    return len(meant) > 2 and any(flag.startswith(meant) for flag in flags.long)


def _is_one(flags: Flags, known: frozenset[str], grammar: Grammar, text: str) -> bool:
    if grammar.valued is None or text[1] == "-" or "=" in text or text in flags.exact:
        return flags.surely(text, known)
    return not flags.letters.isdisjoint(grammar.letters_in(text))
