"""Shapes of commands, compiled: what an ask or deny rule looks for, in any reading of the words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

import msgspec

from watchgate.core.patterns.pattern import shared
from watchgate.core.policy.matching import needs, options, paths, templates, value_options
from watchgate.core.policy.matching.excuses import excused
from watchgate.core.policy.matching.options import Flags
from watchgate.core.policy.matching.paths import Paths
from watchgate.core.policy.matching.patterns import (
    Patterns,
    Sets,
    compiled,
    each,
    expanded,
    glob_source,
    regex,
)
from watchgate.core.policy.matching.seen import Seen
from watchgate.core.policy.matching.value_options import may_mean
from watchgate.core.policy.rule_file import CommandMatch, Names
from watchgate.core.policy.shell.commands import Command
from watchgate.core.policy.shell.names import plain_name
from watchgate.core.policy.shell.words import Word
from watchgate.core.policy.subject import EVERYTHING
from watchgate.core.text import Span

_WILD = re.compile(r"[*?\[]")
Search = Callable[[str], object]
Sub = tuple[Patterns, ...]
Demand = Callable[["Shape", Seen], Sequence[Word]]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """One shape of a command; what is empty or None is not asked for.

    `needs` are the bits of what a command must have, `heads` the first words of which `sub` needs
    one; None where that cannot be told by whole words. `demands` find the words for each thing that
    is asked for; `has_exceptions` says that there are some.
    """

    program: Patterns
    not_program: Patterns
    sub: tuple[Sub, ...]
    not_sub: tuple[Sub, ...]
    sub_regex: Callable[[str], Span | None] | None
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
    fed: bool | None
    changed: Patterns
    code: str = ""
    shows: Patterns = Patterns()
    statement: frozenset[str] = frozenset()
    anywhere: bool = False
    scratch: bool = True
    texts: frozenset[str] = frozenset()
    project_file: bool = False
    wrapper: bool = False
    says: tuple[templates.Template, ...] = ()
    suggest: str | None = None
    needs: int = 0
    heads: frozenset[str] | None = None
    demands: tuple[Demand, ...] = ()
    has_exceptions: bool = False

    def is_of(self, program: str) -> bool:
        """Whether a program may have this shape."""
        if self.program and not self.program.fit(program):
            return False
        return not self.not_program.fit(program)


def _called(name: str) -> str:
    """The name of a program as those of commands are compared: `python3` is `python` there."""
    return name.lower() if "*" in name else plain_name(name)


def shape(match: CommandMatch, sets: Sets, *, allows: bool) -> Shape:
    """The shape that a rule describes, which `allows` or asks; raises `PatternError`."""

    def names(given: Names) -> tuple[str, ...]:
        return expanded(given, sets)

    any_flag, all_flag, no_flag = map(names, (match.any_flag, match.all_flag, match.no_flag))
    listed = None if match.flags is None else options.closed(names(match.flags))
    plain = (*any_flag, *all_flag, *(listed.plain if listed else ()))
    letters = (name[1] for name in plain if len(name) == 2)
    lines = [_line(pattern) for pattern in names(match.line)]
    made = Shape(
        program=compiled(map(_called, names(match.program))),
        not_program=compiled(map(_called, names(match.not_program))),
        sub=_subs(names(match.sub)),
        not_sub=_subs(names(match.not_sub)),
        sub_regex=regex(match.sub_regex).span_here if match.sub_regex else None,
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
        line=shared("|".join(lines), re.DOTALL).fullmatch if lines else None,
        operands=match.operands,
        paths=paths.compiled(match.paths, sets, allows=allows) if match.paths else None,
        piped_from=shape(match.piped_from, sets, allows=allows) if match.piped_from else None,
        built_from=shape(match.built_from, sets, allows=allows) if match.built_from else None,
        fed=match.fed,
        changed=compiled(name.lower() for name in names(match.changed)),
        code=match.code,
        shows=compiled(names(match.shows)),
        statement=frozenset(names(match.statement)),
        anywhere=match.anywhere,
        scratch=match.scratch,
        texts=frozenset(names(match.texts)),
        project_file=match.project_file,
        wrapper=match.wrapper,
        says=templates.compiled(each(match.says)),
        suggest=match.suggest,
    )
    return _indexed(made)


def words_of(wanted: Shape, seen: Seen) -> list[Word] | None:
    """The words that give a command this shape, in any reading of them; None without it."""
    if not wanted.is_of(seen.program) or wanted.needs & ~seen.has:
        return None
    if wanted.heads is not None and wanted.heads.isdisjoint(seen.known_texts):
        return None
    return words_behind(wanted, seen)


def words_behind(wanted: Shape, seen: Seen) -> list[Word] | None:
    """Likewise, of a command with its `needs` and `heads` whose program may have the shape."""
    if wanted.wrapper:
        seen = seen.own_part
    behind: list[Word] = []
    for demand in wanted.demands:
        words = demand(wanted, seen)
        if not words:
            return None
        behind += words
    if wanted.has_exceptions and _excepted(wanted, seen):
        return None
    if not is_fed_so(wanted, seen.command):
        return None
    found = [*seen.command.words[:1], *behind]
    if not found and not wanted.program:
        found = [*seen.command.assignments, *(r.target for r in seen.command.redirects)]
    return found or None


def is_fed_so(wanted: Shape, command: Command) -> bool:
    """Tell whether a command gets its input and its code as a shape asks."""
    if wanted.fed not in (None, command.reads_input):
        return False
    return not wanted.code or (wanted.code == "read") == command.reads_code


def _excepted(wanted: Shape, seen: Seen) -> bool:
    """Whether an exception holds for certain."""
    excuses = wanted.no_flag
    if excuses and excused(excuses, wanted.known, seen.program, seen.arguments):
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


def _sub(wanted: Shape, seen: Seen) -> Sequence[Word]:
    return maybe_sub(wanted.sub, seen)


def _any_flag(wanted: Shape, seen: Seen) -> Sequence[Word]:
    return _flag(wanted, wanted.any_flag, seen) if wanted.any_flag else ()


def _all_flags(wanted: Shape, seen: Seen) -> Sequence[Word]:
    found = [_flag(wanted, flags, seen) for flags in wanted.all_flag]
    return [word for words in found for word in words] if all(found) else ()


def _flag(wanted: Shape, flags: Flags, seen: Seen) -> list[Word]:
    """The words that may be such a flag; in `git -C x branch` the -C is git's, not its branch's."""
    among = seen.dashed if flags.dashed else seen.arguments
    found = [word for word in among if flags.maybe(word.text)]
    if not found:
        return found
    sub = maybe_sub(wanted.sub, seen) if wanted.sub else []
    front = _in_front(seen, sub)
    name = sub[0].text if sub else ""
    return [
        word
        for word in found
        if id(word) not in front and may_mean(flags, seen.program, name, word.text)
    ]


def _closed(wanted: Shape, seen: Seen) -> Sequence[Word]:
    closed = wanted.closed
    given = [word.text for word in seen.dashed if word.text != "-"]
    known = closed is not None and all(closed.takes(text)[0] for text in given)
    return seen.command.words if known else ()


def _args(wanted: Shape, seen: Seen) -> Sequence[Word]:
    return _having(wanted.args, seen) if wanted.args else ()


def _args_regex(wanted: Shape, seen: Seen) -> Sequence[Word]:
    return _having(wanted.args_regex, seen) if wanted.args_regex else ()


def _in_front(seen: Seen, sub: list[Word]) -> set[int]:
    """The program's own options with a value that stand before the sub-command, by identity."""
    if not sub or not seen.global_options:
        return set()
    place = next(i for i, word in enumerate(seen.arguments) if word is sub[0])
    return {id(word) for word in seen.arguments[:place] if word.text in seen.global_options}


def _sub_regex(wanted: Shape, seen: Seen) -> Sequence[Word]:
    hit = wanted.sub_regex(seen.operand_line) if wanted.sub_regex else None
    return seen.operands[: seen.operand_line.count(" ", *hit) + 1] if hit else ()


def _operands(wanted: Shape, seen: Seen) -> Sequence[Word]:
    taken = {id(word) for word in (maybe_sub(wanted.sub, seen) if wanted.sub else ())}
    behind = [word for word in seen.operands if id(word) not in taken and word.text != "-"]
    # What expands to words may expand to none, unless something stands before the expansion.
    sure = sum(word.expands != "words" or word.prefix != "" for word in behind)
    wrong = {
        "none": sure > 0,
        "one": sure > 1 or not behind,
        "some": not behind,
    }.get(wanted.operands, False)
    found = () if wrong else (seen.command.words or seen.command.assignments)
    if wanted.first and found:
        found = tuple(behind[:1]) if behind and wanted.first(behind[0].text) else ()
    return found


def _lines(wanted: Shape, seen: Seen) -> Sequence[Word]:
    return seen.command.words if wanted.line and wanted.line(seen.line) else ()


def _paths(wanted: Shape, seen: Seen) -> Sequence[Word]:
    return seen.touching(wanted.paths) if wanted.paths else ()


def _shows(wanted: Shape, seen: Seen) -> Sequence[Word]:
    return [word for word, name in seen.expanded_variables if wanted.shows.fit(name)]


def _statements(wanted: Shape, seen: Seen) -> Sequence[Word]:
    return seen.command.words if wanted.statement & seen.statements else ()


def _fed(wanted: Shape, seen: Seen) -> Sequence[Word]:
    return _others(wanted.piped_from, seen.command.piped_from, seen)


def _built(wanted: Shape, seen: Seen) -> Sequence[Word]:
    return _others(wanted.built_from, seen.command.built_from, seen)


def _changed(wanted: Shape, seen: Seen) -> Sequence[Word]:
    return seen.command.words[:1] if _has_changed(wanted.changed, seen.place.changed) else ()


def _has_changed(wanted: Patterns, changed: frozenset[str]) -> bool:
    """Whether a path that was written may be one of these, also if only a wildcard names it."""
    if changed == EVERYTHING:
        return True
    names = {path.rpartition("/")[2].lower() for path in changed}
    wild = [name for name in names if _WILD.search(name)]
    return any(map(wanted.fit, names)) or any(
        fnmatchcase(name, pattern) for name in wanted.whole for pattern in wild
    )


def _others(wanted: Shape | None, commands: Sequence[Command], seen: Seen) -> Sequence[Word]:
    if wanted is None:
        return ()
    found: list[Word] = []
    key = id(wanted)
    for other in seen.others(commands):
        if key not in other.shaped:
            other.shaped[key] = words_of(wanted, other)
        found += other.shaped[key] or ()
    return found


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
    for index in seen.starts(at):
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
            starts = seen.starts(at)
            if not starts or _may_be_value(seen, starts[0], at):
                break
            word = seen.arguments[starts[0]]
            if word.dynamic or not wanted.fit(word.text):
                break
            at = starts[0] + 1
        else:
            return True
    return False


def _may_be_value(seen: Seen, index: int, at: int) -> bool:
    """Tell whether an option in front of this word may take it for its value."""
    before = seen.arguments[index - 1].text if index > at else ""
    return value_options.of(seen.program).may_take_next(before)


def _subs(given: tuple[str, ...]) -> tuple[Sub, ...]:
    return tuple(tuple(compiled((word,)) for word in sub.split()) for sub in given)


def _indexed(made: Shape) -> Shape:
    """The shape with what tells quickly that a command has not got it."""
    return msgspec.structs.replace(
        made,
        needs=_needs(made),
        heads=_heads(made.sub),
        demands=tuple(_demands(made)),
        has_exceptions=any((made.no_flag, made.not_sub, made.no_args, made.no_args_regex)),
    )


def _demands(made: Shape) -> Iterator[Demand]:
    """For each thing that is asked for, what finds the words that have it; cheap ones first."""
    closed = made.closed
    for asked, demand in (
        (made.changed, _changed),
        (made.sub, _sub),
        (made.any_flag, _any_flag),
        (made.all_flag, _all_flags),
        (closed is not None and not closed.open, _closed),
        (made.args, _args),
        (made.operands != "any" or made.first, _operands),
        (made.sub_regex, _sub_regex),
        (made.args_regex, _args_regex),
        (made.line, _lines),
        (made.shows, _shows),
        (made.statement, _statements),
        (made.paths, _paths),
        (made.piped_from, _fed),
        (made.built_from, _built),
    ):
        if asked:
            yield demand


def _heads(subs: tuple[Sub, ...]) -> frozenset[str] | None:
    if not subs or any(not sub or sub[0].search is not None for sub in subs):
        return None
    return frozenset(name for sub in subs for name in sub[0].whole)


def _needs(made: Shape) -> int:
    flags = (*((made.any_flag,) if made.any_flag else ()), *made.all_flag)
    words = (made.sub, flags, made.args, made.args_regex, made.sub_regex, made.first)
    found = needs.ARGUMENT if any(words) or made.operands in ("one", "some") else 0
    if any(each.dashed for each in flags):
        found |= needs.DASH
    if made.shows:
        found |= needs.ARGUMENT
    if made.paths is not None:
        found |= needs.OF_ACCESS[made.paths.access]
    if made.piped_from is not None:
        found |= needs.FED
    if made.built_from is not None:
        found |= needs.BUILT
    if made.changed:
        found |= needs.CHANGED
    return found


def _search(source: str) -> Search | None:
    return regex(source).search if source else None


def _line(pattern: str) -> str:
    if pattern.endswith(" *"):
        return glob_source(pattern[:-2]) + "(?: .*)?"
    return glob_source(pattern)
