"""Shapes of commands, compiled: what an ask or deny rule looks for, in any reading of the words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from watchgate.core.policy.matching import options, paths
from watchgate.core.policy.matching.options import Flags
from watchgate.core.policy.matching.paths import Paths
from watchgate.core.policy.matching.patterns import (
    Patterns,
    Sets,
    compiled,
    expanded,
    glob_source,
    regex,
)
from watchgate.core.policy.matching.seen import Seen
from watchgate.core.policy.rule_file import CommandMatch, Names
from watchgate.core.policy.shell.names import plain_name
from watchgate.core.policy.shell.words import Word

Search = Callable[[str], object]
Sub = tuple[Patterns, ...]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """One shape of a command; what is empty or None is not asked for."""

    program: Patterns
    not_program: Patterns
    sub: tuple[Sub, ...]
    not_sub: tuple[Sub, ...]
    sub_regex: Search | None
    any_flag: Flags | None
    all_flag: tuple[Flags, ...]
    no_flag: Flags | None
    known: frozenset[str]
    closed: options.Closed | None
    args: Search | None
    no_args: Search | None
    args_regex: Search | None
    no_args_regex: Search | None
    first: Search | None
    line: Search | None
    operands: str
    paths: Paths | None
    piped_from: Shape | None
    built_from: Shape | None

    def is_of(self, program: str) -> bool:
        """Whether a program may have this shape."""
        if self.program and not self.program.fit(program):
            return False
        return not self.not_program.fit(program)


def _called(name: str) -> str:
    """The name of a program as those of commands are compared: `python3` is `python` there."""
    return name.lower() if "*" in name else plain_name(name)


def shape(match: CommandMatch, sets: Sets) -> Shape:
    """The shape that a rule describes; raises `PatternError`."""

    def names(given: Names) -> tuple[str, ...]:
        return expanded(given, sets)

    any_flag, all_flag, no_flag = map(names, (match.any_flag, match.all_flag, match.no_flag))
    listed = None if match.flags is None else options.closed(names(match.flags))
    plain = (*any_flag, *all_flag, *(listed.plain if listed else ()))
    letters = (name[1] for name in plain if len(name) == 2)
    lines = [_line(pattern) for pattern in names(match.line)]
    return Shape(
        program=compiled(map(_called, names(match.program))),
        not_program=compiled(map(_called, names(match.not_program))),
        sub=_subs(names(match.sub)),
        not_sub=_subs(names(match.not_sub)),
        sub_regex=regex(match.sub_regex).match if match.sub_regex else None,
        any_flag=options.flags(any_flag) if any_flag else None,
        all_flag=tuple(options.flags((flag,)) for flag in all_flag),
        no_flag=options.flags(no_flag) if no_flag else None,
        known=frozenset(letters),
        closed=listed,
        args=compiled(names(match.args)).test,
        no_args=compiled(names(match.no_args)).test,
        args_regex=_search(match.args_regex),
        no_args_regex=_search(match.no_args_regex),
        first=regex(match.first).fullmatch if match.first else None,
        line=re.compile("|".join(lines), re.DOTALL).fullmatch if lines else None,
        operands=match.operands,
        paths=paths.compiled(match.paths, sets) if match.paths else None,
        piped_from=shape(match.piped_from, sets) if match.piped_from else None,
        built_from=shape(match.built_from, sets) if match.built_from else None,
    )


def words_of(wanted: Shape, seen: Seen) -> list[Word] | None:
    """The words that give a command this shape, in any reading of them; None without it."""
    return words_behind(wanted, seen) if wanted.is_of(seen.program) else None


def words_behind(wanted: Shape, seen: Seen) -> list[Word] | None:
    """Likewise, of a command whose program may have the shape."""
    if _excepted(wanted, seen):
        return None
    found: list[Word] = list(seen.command.words[:1])
    for words in _demands(wanted, seen):
        if not words:
            return None
        found += words
    if not found and not wanted.program:
        found = [*seen.command.assignments, *(r.target for r in seen.command.redirects)]
    return found or None


def _excepted(wanted: Shape, seen: Seen) -> bool:
    """Whether an exception holds for certain."""
    if wanted.no_flag is not None:
        for word in seen.arguments:
            if word.text == "--":
                break
            if not word.dynamic and wanted.no_flag.surely(word.text, wanted.known):
                return True
    if wanted.not_sub and _surely_sub(wanted.not_sub, seen):
        return True
    for test in (wanted.no_args, wanted.no_args_regex):
        if test is not None and any(
            test(text)
            for text, word in zip(seen.texts, seen.arguments, strict=True)
            if not word.dynamic
        ):
            return True
    return False


def _demands(wanted: Shape, seen: Seen) -> Iterator[Sequence[Word]]:
    """For each thing that the shape asks for, the words that have it."""
    sub: list[Word] = []
    if wanted.sub:
        sub = maybe_sub(wanted.sub, seen)
        yield sub
    yield from _flags(wanted, seen)
    if wanted.args:
        yield _having(wanted.args, seen)
    if wanted.args_regex:
        yield _having(wanted.args_regex, seen)
    if wanted.sub_regex:
        named = seen.operands
        hit = wanted.sub_regex(" ".join(word.text for word in named))
        yield named[: hit.group().count(" ") + 1] if isinstance(hit, re.Match) else ()
    if wanted.operands != "any" or wanted.first:
        yield from _operands(wanted, seen, sub)
    if wanted.line:
        yield seen.command.words if wanted.line(seen.line) else ()
    if wanted.paths is not None:
        yield seen.touching(wanted.paths)
    command = seen.command
    for feeding, commands in (
        (wanted.piped_from, command.piped_from),
        (wanted.built_from, command.built_from),
    ):
        if feeding is not None:
            yield [w for other in seen.others(commands) for w in words_of(feeding, other) or ()]


def _flags(wanted: Shape, seen: Seen) -> Iterator[Sequence[Word]]:
    for flags in (wanted.any_flag, *wanted.all_flag):
        if flags is not None:
            yield [word for word in seen.arguments if flags.maybe(word.text)]
    closed = wanted.closed
    if closed is not None and not closed.open:
        given = [word.text for word in seen.arguments if options.is_option(word.text)]
        yield seen.command.words if all(closed.takes(text)[0] for text in given) else ()


def _operands(wanted: Shape, seen: Seen, sub: list[Word]) -> Iterator[Sequence[Word]]:
    taken = {id(word) for word in sub}
    behind = [word for word in seen.operands if id(word) not in taken and word.text != "-"]
    # What expands to words may expand to none.
    sure = sum(word.expands != "words" for word in behind)
    wrong = {
        "none": sure > 0,
        "one": sure > 1 or not behind,
        "some": not behind,
    }.get(wanted.operands, False)
    yield () if wrong else (seen.command.words or seen.command.assignments)
    if wanted.first:
        yield behind[:1] if behind and wanted.first(behind[0].text) else ()


def _having(test: Search, seen: Seen) -> list[Word]:
    return [word for word, text in zip(seen.arguments, seen.texts, strict=True) if test(text)]


def maybe_sub(subs: tuple[Sub, ...], seen: Seen) -> list[Word]:
    """The words of a sub-command that the command may have, in any reading of its options."""
    for sub in subs:
        found = _maybe(sub, seen, 0)
        if found is not None:
            return found
    return []


def _maybe(sub: Sub, seen: Seen, at: int) -> list[Word] | None:
    if not sub:
        return []
    for index in options.maybe_starts(seen.program, seen.arguments, at):
        word = seen.arguments[index]
        if sub[0].fit(word.text):
            rest = _maybe(sub[1:], seen, index + 1)
            if rest is not None:
                return [word, *rest]
    return None


def _surely_sub(subs: tuple[Sub, ...], seen: Seen) -> bool:
    """Whether the command has such a sub-command whatever its options mean."""
    for sub in subs:
        at = 0
        for wanted in sub:
            starts = options.maybe_starts(seen.program, seen.arguments, at)
            if len(starts) != 1 or _may_be_value(seen, starts[0], at):
                break
            word = seen.arguments[starts[0]]
            if word.dynamic or not wanted.fit(word.text):
                break
            at = starts[0] + 1
        else:
            return True
    return False


def _may_be_value(seen: Seen, index: int, at: int) -> bool:
    """Whether an option that nobody knows may take this word for its value."""
    before = seen.arguments[index - 1].text if index > at else ""
    return options.is_option(before) and "=" not in before


def _subs(given: tuple[str, ...]) -> tuple[Sub, ...]:
    return tuple(tuple(compiled((word,)) for word in sub.split()) for sub in given)


def _search(source: str) -> Search | None:
    return regex(source).search if source else None


def _line(pattern: str) -> str:
    if pattern.endswith(" *"):
        return glob_source(pattern[:-2]) + "(?: .*)?"
    return glob_source(pattern)
