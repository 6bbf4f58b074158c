"""Rules as values: shapes of a command that are dangerous, and how a shape is matched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from watchgate.core.policy.assessment import Risk
from watchgate.core.policy.commands import Command
from watchgate.core.policy.folders import Place
from watchgate.core.policy.words import Word, names
from watchgate.core.text import Span

PathTest = Callable[[Place, str], bool]

# Options with a value that stand before a program's sub-command.
GLOBAL_OPTIONS: dict[str, frozenset[str]] = {
    "git": names("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path"),
    "docker": names("-H --host -c --context --config -l --log-level"),
    "podman": names("--connection --url --log-level"),
    "kubectl": names("-n --namespace --context --cluster --user --kubeconfig -s"),
    "helm": names("-n --namespace --kube-context --kubeconfig"),
    "tmux": names("-L -S -f -T"),
    "screen": names("-S -p -c"),
    "zellij": names("-s --session -c --config"),
    "kitty": names("--to"),
    "systemctl": names("-H --host -M --machine"),
    "npm": names("--prefix -w --workspace -C"),
    "pnpm": names("-C --dir --filter"),
}


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """One shape of a command; everything that is given must hold.

    `programs` any of these names; `sub` its first operands, `not_sub` what they are not; `flags`
    at least one of these, also within a cluster (`-rf`) or shortened (`--recurs`); `without` none
    of these; `args` some argument, with its home expanded; `path` some operand or option value
    that is such a path; `reads`, `writes` a redirect from or to such a path; `alone` no operands at
    all (`-` counts as none); `piped_from`, `built_from` commands that feed it.
    """

    programs: frozenset[str] = frozenset()
    sub: tuple[str, ...] = ()
    not_sub: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    args: re.Pattern[str] | None = None
    path: PathTest | None = None
    reads: PathTest | None = None
    writes: PathTest | None = None
    alone: bool = False
    piped_from: Shape | None = None
    built_from: Shape | None = None


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A risk: its id, one sentence for a person, its shapes.

    `raw` is looked for in the text itself, where the command could not be read.
    """

    id: str
    risk: Risk
    reason: str
    shapes: tuple[Shape, ...]
    raw: re.Pattern[str] | None = None


def match(shape: Shape, command: Command, place: Place) -> Span | None:
    """The part of the text that has this shape, if the command has it."""
    words = _matched(shape, command, place)
    if words is None:
        return None
    return min(word.start for word in words), max(word.end for word in words)


def _matched(shape: Shape, command: Command, place: Place) -> list[Word] | None:
    """The words that make the command match; None if it does not."""
    if shape.programs and command.program not in shape.programs:
        return None
    if shape.without and any(_flag(w.text, shape.without) for w in command.arguments):
        return None
    if _sub_words(shape.not_sub, command):
        return None
    found: list[Word] = list(command.words[:1])
    for words in _demands(shape, command, place):
        if not words:
            return None
        found += words
    if shape.alone and any(w.text != "-" for w in _operands(command)):
        return None
    return found or None


def _demands(shape: Shape, command: Command, place: Place) -> Iterator[Sequence[Word]]:
    """For each thing that the shape asks for, the words that have it."""
    arguments = command.arguments
    if shape.sub:
        yield _sub_words(shape.sub, command)
    if shape.flags:
        yield [w for w in arguments if _flag(w.text, shape.flags)]
    if shape.args:
        yield [w for w in arguments if shape.args.search(_expanded(w.text, place))]
    if shape.path:
        yield [w for w in arguments if shape.path(place, _value(w.text))]
    for test, writes in ((shape.reads, False), (shape.writes, True)):
        if test:
            targets = [r.target for r in command.redirects if r.writes is writes]
            yield [w for w in targets if test(place, w.text)]
    for feeding, commands in (
        (shape.piped_from, command.piped_from),
        (shape.built_from, command.built_from),
    ):
        if feeding:
            yield [w for c in commands for w in _matched(feeding, c, place) or ()]


def _flag(text: str, flags: frozenset[str]) -> bool:
    if len(text) < 2 or text[0] != "-":
        return False
    if text in flags:
        return True
    if not text.startswith("--"):
        return any("-" + letter in flags for letter in text[1:])
    name = text.partition("=")[0]
    return len(name) > 2 and any(f.startswith(name) for f in flags if f.startswith("--"))


def _operands(command: Command) -> list[Word]:
    """The arguments that are no options, values of the program's global options left out."""
    valued = GLOBAL_OPTIONS.get(command.program, frozenset())
    kept: list[Word] = []
    skip = False
    for word in command.arguments:
        if skip or (word.text.startswith("-") and word.text != "-"):
            skip = not skip and not kept and word.text in valued
        else:
            kept.append(word)
    return kept


def _sub_words(subs: Sequence[str], command: Command) -> list[Word]:
    operands = _operands(command) if subs else []
    for sub in subs:
        wanted = sub.split()
        if [word.text for word in operands[: len(wanted)]] == wanted:
            return operands[: len(wanted)]
    return []


def _expanded(text: str, place: Place) -> str:
    for home in ("${HOME}", "$HOME", "~"):
        if place.home and text.startswith(home):
            return place.home + text[len(home) :]
    return text


def _value(text: str) -> str:
    """The path in an argument: `of=/x` and `--file=/x` and `@/x` name `/x`."""
    return text.rpartition("=")[2].removeprefix("@") or text
