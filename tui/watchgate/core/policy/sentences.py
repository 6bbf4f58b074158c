"""Words of a command that fill the placeholders of a rule's sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec

from watchgate.core.policy.matching import value_options
from watchgate.core.policy.matching.command import Shape, maybe_sub
from watchgate.core.policy.matching.hosts import kinds_of
from watchgate.core.policy.matching.options import GLOBAL_OPTIONS, is_option
from watchgate.core.policy.matching.seen import Seen
from watchgate.core.policy.matching.templates import Slot, listed, shown
from watchgate.core.policy.shell.unwrap import unwrap
from watchgate.core.policy.shell.words import Word


class Matched(msgspec.Struct, frozen=True, gc=False):
    """A command, the shape of it that a rule has found, and the words that gave it away."""

    seen: Seen
    shape: Shape | None
    words: Sequence[Word]

    def fill(self, slot: Slot) -> str:
        """Return what stands in a placeholder's place; empty where that is not certain."""
        return FILLS[slot.kind](self, slot.detail)


def _operands(matched: Matched) -> tuple[list[str], bool]:
    """The operands behind the sub-command, and whether it is certain that those are all.

    They end at an option that nobody knows and that may have the next word for its value.
    """
    seen, sub = matched.seen, _sub_words(matched)
    taken = {id(word) for word in sub}
    grammar = value_options.of(seen.program, sub[0].text if sub else "")
    everywhere = GLOBAL_OPTIONS.get(seen.program, frozenset())
    found: list[str] = []
    before = ""
    for word, text in ((word, word.text) for word in _in_front(seen.arguments)):
        option, before = before, ""
        if is_option(text):
            before = text
        elif option in everywhere or grammar.surely_takes_next(option):
            continue
        elif grammar.may_take_next(option):
            return found, False
        elif id(word) not in taken:
            found.append(text)
    return [*found, *_texts_behind(seen.arguments)], True


def _in_front(words: Sequence[Word]) -> Sequence[Word]:
    """The words in front of `--`."""
    return words[: next((i for i, word in enumerate(words) if word.text == "--"), len(words))]


def _texts_behind(words: Sequence[Word]) -> list[str]:
    return [word.text for word in words[len(_in_front(words)) + 1 :]]


def _part(start: int | None, stop: int | None) -> Callable[[Matched, str], str]:
    """Fills with some of the operands, if it is certain which those are."""

    def fill(matched: Matched, noun: str) -> str:
        found, sure = _operands(matched)
        if "" in found:
            # What `xargs` reads, and whatever else nobody can name.
            return ""
        return listed(found[start:stop], noun) if sure or stop == 1 else ""

    return fill


def _behind(matched: Matched, noun: str) -> str:
    """The operands behind `--`."""
    return listed(_texts_behind(matched.seen.arguments), noun)


def _value(matched: Matched, detail: str) -> str:
    """The value of the first of these options, in their order, that is given."""
    values: dict[str, str] = {}
    for word, behind in pairwise((*matched.seen.arguments, None)):
        name, given, value = word.text.partition("=") if word is not None else ("", "", "")
        if given:
            values.setdefault(name, value)
        elif behind is not None and not is_option(behind.text):
            values.setdefault(name, behind.text)
    return listed([values[name] for name in detail.split("|") if name in values][:1])


def _sub(matched: Matched, noun: str) -> str:
    """The sub-command, with a blank between its words."""
    return listed([" ".join(word.text for word in _sub_words(matched))], noun).strip("'")


def _word(matched: Matched, noun: str) -> str:
    """The arguments that the rule has found, without its sub-command and options."""
    left = {id(word) for word in _sub_words(matched)}
    given = {id(word) for word in matched.seen.arguments} - left
    found = [word.text for word in matched.words if id(word) in given]
    return listed([text for text in found if not is_option(text)], noun)


def _sub_words(matched: Matched) -> list[Word]:
    shape = matched.shape
    return maybe_sub(shape.sub, matched.seen) if shape is not None and shape.sub else []


def _paths(matched: Matched, noun: str) -> str:
    """The paths among the words that the rule is about, also of what feeds the command."""
    command = matched.seen.command
    about = {id(word) for word in matched.words} - {id(word) for word in _sub_words(matched)}
    others = matched.seen.others((*command.piped_from, *command.built_from))
    found: dict[int, str] = {}
    for seen in (matched.seen, *others):
        for touch, _ in seen.touched:
            option = is_option(touch.word.text) and "=" not in touch.word.text
            if touch.word.expands == "glob" and id(touch.word) in about:
                # Which files it stands for, only the run shows.
                return ""
            if touch.sure and id(touch.word) in about and not option:
                # Of `of=/dev/sda` the last one is the path.
                found[id(touch.word)] = touch.path
    return listed(found.values(), noun)


def _host(matched: Matched, _detail: str) -> str:
    return listed([kinds_of(address)[0] for _, address in matched.seen.addresses][:1])


def _source(matched: Matched, _detail: str) -> str:
    """Find where what feeds the command comes from: a host, or else a file."""
    command = matched.seen.command
    others = matched.seen.others((*command.piped_from, *command.built_from))
    hosts = [kinds_of(address)[0] for seen in others for _, address in seen.addresses]
    if not any(hosts):
        hosts = [touch.path for seen in others for touch, _ in seen.touched if touch.sure]
    return listed(hosts[:1])


def _command(matched: Matched, _detail: str) -> str:
    """The command that the command starts."""
    command = matched.seen.command
    wrapped = unwrap(command.words, command.documents)
    if wrapped.commands:
        return shown(" ".join(word.text for word in wrapped.commands[0]))
    return shown(wrapped.scripts[0].text) if wrapped.scripts else ""


def _variables(matched: Matched, noun: str) -> str:
    """The variables that the command sets, among the words that the rule is about."""
    about = {id(word) for word in matched.words}
    return listed((name for word, name in matched.seen.variables if id(word) in about), noun)


def _program(matched: Matched, _detail: str) -> str:
    return matched.seen.program and shown(matched.seen.program)


def _objects(matched: Matched, _noun: str) -> str:
    """Return what the SQL is about that the shape has found, with its own noun."""
    wanted = matched.shape.statement if matched.shape is not None else ()
    found = [act for act in matched.seen.acts if act.kind in wanted and act.name]
    nouns = {act.noun for act in found}
    return listed([act.name for act in found], nouns.pop() if len(nouns) == 1 else "object")


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
