"""Command shapes, compiled: the matcher of ask and deny rules, in any reading of the words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

import msgspec

from watchgate.core.base.patterns.pattern import shared
from watchgate.core.base.text import Span
from watchgate.core.policy.inputs.rule_file import CommandMatch, Names
from watchgate.core.policy.inputs.subject import EVERYTHING
from watchgate.core.policy.matching import (
    command_options,
    command_view,
    path_patterns,
    sentence_templates,
    value_options,
)
from watchgate.core.policy.matching.command_options import Flags
from watchgate.core.policy.matching.command_view import CommandView
from watchgate.core.policy.matching.name_patterns import (
    Patterns,
    Sets,
    compiled,
    each,
    expanded,
    glob_source,
    regex,
)
from watchgate.core.policy.matching.path_patterns import PathPatterns
from watchgate.core.policy.matching.value_options import excused, may_mean
from watchgate.core.policy.shell.commands import Command, Word, plain_name

_WILD = re.compile(r"[*?\[]")
Search = Callable[[str], object]
Sub = tuple[Patterns, ...]
Demand = Callable[["Shape", CommandView], Sequence[Word]]


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
    closed: command_options.Closed | None
    args: Search | None
    no_args: Search | None
    args_regex: Search | None
    no_args_regex: Search | None
    first: Search | None
    line: Search | None
    operands: str
    paths: PathPatterns | None
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
    says: tuple[sentence_templates.Template, ...] = ()
    suggest: str | None = None
    needs: int = 0
    heads: frozenset[str] | None = None
    demands: tuple[Demand, ...] = ()
    has_exceptions: bool = False

    def is_of(self, program: str) -> bool:
        """Returns whether a program may have this shape."""
        if self.program and not self.program.fit(program):
            return False
        return not self.not_program.fit(program)


def _called(name: str) -> str:
    """Returns a program's name as those of commands are compared: `python` for `python3`."""
    return name.lower() if "*" in name else plain_name(name)


def shape(match: CommandMatch, sets: Sets, *, allows: bool) -> Shape:
    """Compiles the shape of a rule, which `allows` or asks; raises `PatternError`."""

    def names(given: Names) -> tuple[str, ...]:
        return expanded(given, sets)

    any_flag, all_flag, no_flag = map(names, (match.any_flag, match.all_flag, match.no_flag))
    listed = None if match.flags is None else command_options.closed(names(match.flags))
    plain = (*any_flag, *all_flag, *(listed.plain if listed else ()))
    letters = (name[1] for name in plain if len(name) == 2)
    lines = [_line(pattern) for pattern in names(match.line)]
    made = Shape(
        program=compiled(map(_called, names(match.program))),
        not_program=compiled(map(_called, names(match.not_program))),
        sub=_subs(names(match.sub)),
        not_sub=_subs(names(match.not_sub)),
        sub_regex=regex(match.sub_regex).span_here if match.sub_regex else None,
        any_flag=command_options.flags(any_flag) if any_flag else None,
        all_flag=tuple(command_options.flags((flag,)) for flag in all_flag),
        no_flag=command_options.flags(no_flag) if no_flag else None,
        known=frozenset(letters),
        closed=listed,
        args=compiled(names(match.args)).test,
        no_args=compiled(names(match.no_args)).test,
        args_regex=_search(match.args_regex),
        no_args_regex=_search(match.no_args_regex),
        first=regex(match.first).fullmatch if match.first else None,
        line=shared("|".join(lines), re.DOTALL).fullmatch if lines else None,
        operands=match.operands,
        paths=path_patterns.compiled(match.paths, sets, allows=allows) if match.paths else None,
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
        says=sentence_templates.compiled(each(match.says)),
        suggest=match.suggest,
    )
    return _indexed(made)


def words_of(wanted: Shape, view: CommandView) -> list[Word] | None:
    """Returns the words that give a command this shape, in any reading; None without it."""
    if not wanted.is_of(view.program) or wanted.needs & ~view.has:
        return None
    if wanted.heads is not None and wanted.heads.isdisjoint(view.known_texts):
        return None
    return words_behind(wanted, view)


def words_behind(wanted: Shape, view: CommandView) -> list[Word] | None:
    """Returns those words where program, `needs` and `heads` are known to fit; None without."""
    if wanted.wrapper:
        view = view.own_part
    behind: list[Word] = []
    for demand in wanted.demands:
        words = demand(wanted, view)
        if not words:
            return None
        behind += words
    if wanted.has_exceptions and _excepted(wanted, view):
        return None
    if not is_fed_so(wanted, view.command):
        return None
    shape_words = [*view.command.words[:1], *behind]
    if not shape_words and not wanted.program:
        shape_words = [*view.command.assignments, *(r.target for r in view.command.redirects)]
    return shape_words or None


def is_fed_so(wanted: Shape, command: Command) -> bool:
    """Returns whether a command's input and code are as a shape asks."""
    if wanted.fed not in (None, command.reads_input):
        return False
    return not wanted.code or (wanted.code == "read") == command.reads_code


def _excepted(wanted: Shape, view: CommandView) -> bool:
    """Returns whether an exception holds for certain."""
    excuses = wanted.no_flag
    if excuses and excused(excuses, wanted.known, view.program, view.arguments):
        return True
    if wanted.not_sub and _surely_sub(wanted.not_sub, view):
        return True
    for test in (wanted.no_args, wanted.no_args_regex):
        if test is not None and any(
            test(text)
            for text, word in zip(view.texts, view.arguments, strict=True)
            if not word.dynamic
        ):
            return True
    return False


def _sub(wanted: Shape, view: CommandView) -> Sequence[Word]:
    return maybe_sub(wanted.sub, view)


def _any_flag(wanted: Shape, view: CommandView) -> Sequence[Word]:
    return _flag(wanted, wanted.any_flag, view) if wanted.any_flag else ()


def _all_flags(wanted: Shape, view: CommandView) -> Sequence[Word]:
    word_lists = [_flag(wanted, flags, view) for flags in wanted.all_flag]
    return [word for words in word_lists for word in words] if all(word_lists) else ()


def _flag(wanted: Shape, flags: Flags, view: CommandView) -> list[Word]:
    """Returns words that may be such a flag; in `git -C x branch` the -C is git's, not branch's."""
    among = view.dashed if flags.dashed else view.arguments
    flag_words = [word for word in among if flags.maybe(word.text)]
    if not flag_words:
        return flag_words
    sub = maybe_sub(wanted.sub, view) if wanted.sub else []
    front = _in_front(view, sub)
    name = sub[0].text if sub else ""
    return [
        word
        for word in flag_words
        if id(word) not in front and may_mean(flags, view.program, name, word.text)
    ]


def _closed(wanted: Shape, view: CommandView) -> Sequence[Word]:
    closed = wanted.closed
    given = [word.text for word in view.dashed if word.text != "-"]
    known = closed is not None and all(closed.takes(text)[0] for text in given)
    return view.command.words if known else ()


def _args(wanted: Shape, view: CommandView) -> Sequence[Word]:
    return _having(wanted.args, view) if wanted.args else ()


def _args_regex(wanted: Shape, view: CommandView) -> Sequence[Word]:
    return _having(wanted.args_regex, view) if wanted.args_regex else ()


def _in_front(view: CommandView, sub: list[Word]) -> set[int]:
    """Returns the program's own options with a value before the sub-command, by identity."""
    if not sub or not view.global_options:
        return set()
    place = next(i for i, word in enumerate(view.arguments) if word is sub[0])
    return {id(word) for word in view.arguments[:place] if word.text in view.global_options}


def _sub_regex(wanted: Shape, view: CommandView) -> Sequence[Word]:
    hit = wanted.sub_regex(view.operand_line) if wanted.sub_regex else None
    return view.operands[: view.operand_line.count(" ", *hit) + 1] if hit else ()


def _operands(wanted: Shape, view: CommandView) -> Sequence[Word]:
    taken = {id(word) for word in (maybe_sub(wanted.sub, view) if wanted.sub else ())}
    behind = [word for word in view.operands if id(word) not in taken and word.text != "-"]
    # What expands to words may expand to none, unless something stands before the expansion.
    sure = sum(word.expands != "words" or word.prefix != "" for word in behind)
    wrong = {
        "none": sure > 0,
        "one": sure > 1 or not behind,
        "some": not behind,
    }.get(wanted.operands, False)
    words = () if wrong else (view.command.words or view.command.assignments)
    if wanted.first and words:
        words = tuple(behind[:1]) if behind and wanted.first(behind[0].text) else ()
    return words


def _lines(wanted: Shape, view: CommandView) -> Sequence[Word]:
    return view.command.words if wanted.line and wanted.line(view.line) else ()


def _paths(wanted: Shape, view: CommandView) -> Sequence[Word]:
    return view.touching(wanted.paths) if wanted.paths else ()


def _shows(wanted: Shape, view: CommandView) -> Sequence[Word]:
    return [word for word, name in view.expanded_variables if wanted.shows.fit(name)]


def _statements(wanted: Shape, view: CommandView) -> Sequence[Word]:
    return view.command.words if wanted.statement & view.statements else ()


def _fed(wanted: Shape, view: CommandView) -> Sequence[Word]:
    return _others(wanted.piped_from, view.command.piped_from, view)


def _built(wanted: Shape, view: CommandView) -> Sequence[Word]:
    return _others(wanted.built_from, view.command.built_from, view)


def _changed(wanted: Shape, view: CommandView) -> Sequence[Word]:
    return view.command.words[:1] if _has_changed(wanted.changed, view.place.changed) else ()


def _has_changed(wanted: Patterns, changed: frozenset[str]) -> bool:
    """Returns whether a path that was written may be one of these, also by a wildcard."""
    if changed == EVERYTHING:
        return True
    names = {path.rpartition("/")[2].lower() for path in changed}
    wild = [name for name in names if _WILD.search(name)]
    return any(map(wanted.fit, names)) or any(
        fnmatchcase(name, pattern) for name in wanted.whole for pattern in wild
    )


def _others(wanted: Shape | None, commands: Sequence[Command], view: CommandView) -> Sequence[Word]:
    if wanted is None:
        return ()
    words: list[Word] = []
    key = id(wanted)
    for other in view.others(commands):
        if key not in other.shaped:
            other.shaped[key] = words_of(wanted, other)
        words += other.shaped[key] or ()
    return words


def _having(test: Search, view: CommandView) -> list[Word]:
    return [word for word, text in zip(view.arguments, view.texts, strict=True) if test(text)]


def maybe_sub(subs: tuple[Sub, ...], view: CommandView) -> list[Word]:
    """Returns the words of a sub-command that the command may have, in any reading."""
    for sub in subs:
        words = _maybe(sub, view, 0)
        if words is not None:
            return words
    return []


def _maybe(sub: Sub, view: CommandView, at: int) -> list[Word] | None:
    if not sub:
        return []
    for index in view.starts(at):
        word = view.arguments[index]
        if sub[0].fit(word.text):
            rest = _maybe(sub[1:], view, index + 1)
            if rest is not None:
                return [word, *rest]
    return None


def _surely_sub(subs: tuple[Sub, ...], view: CommandView) -> bool:
    """Returns whether the command has such a sub-command whatever its options mean."""
    for sub in subs:
        at = 0
        for wanted in sub:
            starts = view.starts(at)
            if not starts or _may_be_value(view, starts[0], at):
                break
            word = view.arguments[starts[0]]
            if word.dynamic or not wanted.fit(word.text):
                break
            at = starts[0] + 1
        else:
            return True
    return False


def _may_be_value(view: CommandView, index: int, at: int) -> bool:
    """Returns whether an option in front of this word may take it for its value."""
    before = view.arguments[index - 1].text if index > at else ""
    return value_options.grammar_of(view.program).may_take_next(before)


def _subs(given: tuple[str, ...]) -> tuple[Sub, ...]:
    return tuple(tuple(compiled((word,)) for word in sub.split()) for sub in given)


def _indexed(made: Shape) -> Shape:
    """Returns the shape with the fields that rule a command out quickly."""
    return msgspec.structs.replace(
        made,
        needs=_needs(made),
        heads=_heads(made.sub),
        demands=tuple(_demands(made)),
        has_exceptions=any((made.no_flag, made.not_sub, made.no_args, made.no_args_regex)),
    )


def _demands(made: Shape) -> Iterator[Demand]:
    """Yields a finder of words for each thing that the shape asks for; cheap ones first."""
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
    bits = command_view.HAS_ARGUMENT if any(words) or made.operands in ("one", "some") else 0
    if any(each.dashed for each in flags):
        bits |= command_view.HAS_DASH
    if made.shows:
        bits |= command_view.HAS_ARGUMENT
    if made.paths is not None:
        bits |= command_view.BITS_OF_ACCESS[made.paths.access]
    if made.piped_from is not None:
        bits |= command_view.HAS_INPUT
    if made.built_from is not None:
        bits |= command_view.HAS_SUBSTITUTION
    if made.changed:
        bits |= command_view.HAS_CHANGED_FILE
    return bits


def _search(source: str) -> Search | None:
    return regex(source).search if source else None


def _line(pattern: str) -> str:
    if pattern.endswith(" *"):
        return glob_source(pattern[:-2]) + "(?: .*)?"
    return glob_source(pattern)
