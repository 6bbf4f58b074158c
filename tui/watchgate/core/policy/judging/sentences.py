"""Fillers for the placeholders in a rule's sentences, out of the words of a command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec

from watchgate.core.policy.matching import value_options
from watchgate.core.policy.matching.command_options import GLOBAL_OPTIONS, is_option
from watchgate.core.policy.matching.command_shape import Shape, maybe_sub
from watchgate.core.policy.matching.command_view import CommandView
from watchgate.core.policy.matching.name_patterns import kinds_of
from watchgate.core.policy.matching.sentence_templates import Slot, listed, shown
from watchgate.core.policy.shell.commands import Word
from watchgate.core.policy.shell.unwrap import unwrap


class Matched(msgspec.Struct, frozen=True, gc=False):
    """A command, the shape of a rule that it matches, and the words that match."""

    view: CommandView
    shape: Shape | None
    words: Sequence[Word]

    def fill(self, slot: Slot) -> str:
        """Returns the text for a placeholder; empty where that is not certain."""
        return FILLS[slot.kind](self, slot.detail)


def _operands(matched: Matched) -> tuple[list[str], bool]:
    """Returns the operands behind the sub-command, and whether it is certain that those are all.

    They end at an option that nobody knows and that may have the next word for its value.
    """
    view, sub = matched.view, _sub_words(matched)
    taken = {id(word) for word in sub}
    grammar = value_options.grammar_of(view.program, sub[0].text if sub else "")
    everywhere = GLOBAL_OPTIONS.get(view.program, frozenset())
    texts: list[str] = []
    before = ""
    for word, text in ((word, word.text) for word in _in_front(view.arguments)):
        option, before = before, ""
        if is_option(text):
            before = text
        elif option in everywhere or grammar.surely_takes_next(option):
            continue
        elif grammar.may_take_next(option):
            return texts, False
        elif id(word) not in taken:
            texts.append(text)
    return [*texts, *_texts_behind(view.arguments)], True


def _in_front(words: Sequence[Word]) -> Sequence[Word]:
    """Returns the words in front of `--`."""
    return words[: next((i for i, word in enumerate(words) if word.text == "--"), len(words))]


def _texts_behind(words: Sequence[Word]) -> list[str]:
    return [word.text for word in words[len(_in_front(words)) + 1 :]]


def _part(start: int | None, stop: int | None) -> Callable[[Matched, str], str]:
    """Returns a filler with some of the operands, where it is certain which those are."""

    def fill(matched: Matched, noun: str) -> str:
        operands, sure = _operands(matched)
        if "" in operands:
            # What `xargs` reads, and whatever else nobody can name.
            return ""
        return listed(operands[start:stop], noun) if sure or stop == 1 else ""

    return fill


def _behind(matched: Matched, noun: str) -> str:
    """Returns the operands behind `--`."""
    return listed(_texts_behind(matched.view.arguments), noun)


def _value(matched: Matched, detail: str) -> str:
    """Returns the value of the first of these options, in their order, that is given."""
    values: dict[str, str] = {}
    for word, behind in pairwise((*matched.view.arguments, None)):
        name, given, value = word.text.partition("=") if word is not None else ("", "", "")
        if given:
            values.setdefault(name, value)
        elif behind is not None and not is_option(behind.text):
            values.setdefault(name, behind.text)
    return listed([values[name] for name in detail.split("|") if name in values][:1])


def _sub(matched: Matched, noun: str) -> str:
    """Returns the sub-command, with a blank between its words."""
    return listed([" ".join(word.text for word in _sub_words(matched))], noun).strip("'")


def _word(matched: Matched, noun: str) -> str:
    """Returns the arguments that the rule matches, without its sub-command and options."""
    left = {id(word) for word in _sub_words(matched)}
    given = {id(word) for word in matched.view.arguments} - left
    texts = [word.text for word in matched.words if id(word) in given]
    return listed([text for text in texts if not is_option(text)], noun)


def _sub_words(matched: Matched) -> list[Word]:
    shape = matched.shape
    return maybe_sub(shape.sub, matched.view) if shape is not None and shape.sub else []


def _paths(matched: Matched, noun: str) -> str:
    """Returns the paths among the words that the rule is about, also of what feeds the command."""
    command = matched.view.command
    about = {id(word) for word in matched.words} - {id(word) for word in _sub_words(matched)}
    others = matched.view.others((*command.piped_from, *command.built_from))
    path_of_word: dict[int, str] = {}
    for view in (matched.view, *others):
        for touch, _ in view.touched:
            option = is_option(touch.word.text) and "=" not in touch.word.text
            if touch.word.expands == "glob" and id(touch.word) in about:
                # Which files it stands for, only the run shows.
                return ""
            if touch.sure and id(touch.word) in about and not option:
                # Of `of=/dev/sda` the last one is the path.
                path_of_word[id(touch.word)] = touch.path
    return listed(path_of_word.values(), noun)


def _host(matched: Matched, _detail: str) -> str:
    return listed([kinds_of(address)[0] for _, address in matched.view.addresses][:1])


def _source(matched: Matched, _detail: str) -> str:
    """Returns the source of what feeds the command: a host, or else a file."""
    command = matched.view.command
    others = matched.view.others((*command.piped_from, *command.built_from))
    hosts = [kinds_of(address)[0] for view in others for _, address in view.addresses]
    if not any(hosts):
        hosts = [touch.path for view in others for touch, _ in view.touched if touch.sure]
    return listed(hosts[:1])


def _command(matched: Matched, _detail: str) -> str:
    """Returns the command that a wrapper starts."""
    command = matched.view.command
    wrapped = unwrap(command.words, command.documents)
    if wrapped.commands:
        return shown(" ".join(word.text for word in wrapped.commands[0]))
    return shown(wrapped.scripts[0].text) if wrapped.scripts else ""


def _variables(matched: Matched, noun: str) -> str:
    """Returns the variables that the command sets, among the words that the rule is about."""
    about = {id(word) for word in matched.words}
    return listed((name for word, name in matched.view.variables if id(word) in about), noun)


def _program(matched: Matched, _detail: str) -> str:
    return matched.view.program and shown(matched.view.program)


def _objects(matched: Matched, _noun: str) -> str:
    """Returns the objects of the SQL that the shape matches, with their own noun."""
    wanted = matched.shape.statement if matched.shape is not None else ()
    acts = [act for act in matched.view.acts if act.kind in wanted and act.name]
    nouns = {act.noun for act in acts}
    return listed([act.name for act in acts], nouns.pop() if len(nouns) == 1 else "object")


FILLS: dict[str, Callable[[Matched, str], str]] = {
    "operands": _part(None, None),
    "first": _part(None, 1),
    "rest": _part(1, None),
    "front": _part(None, -1),
    "last": _part(-1, None),
    "behind": _behind,
    "value": _value,
    "sub": _sub,
    "word": _word,
    "paths": _paths,
    "host": _host,
    "objects": _objects,
    "source": _source,
    "command": _command,
    "program": _program,
    "variables": _variables,
}
"""The filler of each placeholder, given what stands behind its colon."""
