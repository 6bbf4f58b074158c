"""Path patterns as in `.gitignore`, and the built-in sets of places such as `@inside`.

- Names that a path must have before patterns for paths can fit it. Nearly all paths have nothing of
  what a long list of patterns wants, and three looks into sets tell so where its expression would
  try one pattern after another. Whatever is in doubt may fit: only the expression says that
  something does. Letters are compared without case, as most rules do.
- Expansions of wildcards: `cat .e*` may read `.env` and does not say so. A name that starts with
  its wildcard, such as `*` or `*.py`, is left out: it stands for all that lies there, and would
  meet every pattern. Only what asks is held against them, without case.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from watchgate.core.base.patterns.pattern import Pattern, shared
from watchgate.core.policy.inputs.places import PLAIN_NAMES, Place, within
from watchgate.core.policy.inputs.rule_file import Access, PathMatch
from watchgate.core.policy.matching.name_patterns import PatternError, Sets, expanded

_WILD = re.compile(r"[*?\[]")
_FRONT_CHARS = 3
# A path may be written with these or without them.
_MARKS = frozenset(("", "~", "."))


class Names(msgspec.Struct, frozen=True):
    """The names in some paths, what they start with, and what stands behind their last dots."""

    whole: frozenset[str]
    fronts: frozenset[str]
    ends: frozenset[str]


def names_in(paths: Iterable[str]) -> Names:
    """Returns the names in these paths, without case."""
    whole = frozenset("/".join(paths).casefold().split("/"))
    fronts = frozenset([name[:_FRONT_CHARS] for name in whole])
    ends = frozenset([name.rpartition(".")[2] for name in whole if "." in name])
    return Names(whole, fronts, ends)


class Hints(msgspec.Struct, frozen=True):
    """Parts of names, one for each pattern, that a fitting path has; `any` if one has none."""

    whole: frozenset[str]
    fronts: frozenset[str]
    ends: frozenset[str]
    any: bool

    def may_fit(self, names: Names) -> bool:
        """Returns whether a pattern may fit one of the paths with these names."""
        return (
            self.any
            or not self.whole.isdisjoint(names.whole)
            or not self.fronts.isdisjoint(names.fronts)
            or not self.ends.isdisjoint(names.ends)
        )


def hints(patterns: Iterable[str]) -> Hints:
    """Returns the hints of these patterns, from the start on or behind a slash."""
    texts_by_kind: dict[str, set[str]] = {"whole": set(), "fronts": set(), "ends": set(), "": set()}
    for pattern in patterns:
        kind, text = _hint(pattern.casefold())
        texts_by_kind[kind].add(text)
    whole, fronts, ends, none = map(frozenset, texts_by_kind.values())
    return Hints(whole, fronts, ends, bool(none))


def _hint(pattern: str) -> tuple[str, str]:
    """Returns the last name before any wildcard; else the start or end of the name with one."""
    last = ""
    for name in pattern.split("/"):
        wild = _WILD.search(name)
        if wild is None:
            last = last if name in _MARKS else name
            continue
        front, back = name[: wild.start()], _WILD.split(name)[-1]
        if last:
            break
        if len(front) >= _FRONT_CHARS:
            return "fronts", front[:_FRONT_CHARS]
        # These may stand for a slash, so that what is behind them is of another name.
        if "." in back and "**" not in name and "[" not in name:
            return "ends", back.rpartition(".")[2]
        return "", ""
    return ("whole", last) if last else ("", "")


_WILDCARD = re.compile(r"\*+|\?|\[[^]/]{1,255}]")
_ALONE = re.compile(r"\[(\w)\]")
_PIECES = re.compile(r"\*+|\?|\[[^]/]{1,255}]|.", re.DOTALL)


class Samples(msgspec.Struct, frozen=True):
    """Sample paths of patterns, split into names and sorted; `heads` are their first names."""

    paths: tuple[tuple[str, ...], ...] = ()
    heads: tuple[str, ...] = ()


def samples(patterns: Iterable[str]) -> Samples:
    """Makes a sample path of each pattern, or of the folder that it takes in with all below."""
    plain = (_ALONE.sub(r"\1", pattern.removesuffix("/**")) for pattern in patterns)
    texts = {_WILDCARD.sub("x", pattern).lower() for pattern in plain}
    paths = tuple(sorted(tuple(text.split("/")) for text in texts))
    return Samples(paths, tuple(path[0] for path in paths))


def may_become(forms: Sequence[str], anchored: Samples, deep: Samples) -> bool:
    """Returns whether a word with wildcards, in one of its forms, may become one of these samples.

    Or what lies below one: `anchored` ones start where the form does, `deep` ones anywhere in it.
    All forms end alike, so that only their first names tell them apart.
    """
    for place, form in enumerate(forms):
        names = form.lower().split("/")
        if _becomes(names, 0, anchored):
            return True
        starts = range(1 if place else len(names))
        if deep.paths and any(_becomes(names, start, deep) for start in starts):
            return True
    return False


def _becomes(names: list[str], start: int, among: Samples) -> bool:
    first = names[start]
    wild = _WILDCARD.search(first)
    known = first[: wild.start()] if wild else first
    if wild and not known:
        return False
    index = bisect_left(among.heads, known)
    for path in among.paths[index:]:
        if not (path[0].startswith(known) if wild else path[0] == known):
            return False
        if _fits(names[start : start + len(path)], path):
            return True
    return False


def _fits(names: list[str], path: tuple[str, ...]) -> bool:
    """Returns whether these names, one with a wildcard, may become those of the path."""
    if len(names) != len(path):
        return False
    some = False
    for name, wanted in zip(names, path, strict=True):
        wild = _WILDCARD.search(name)
        if wild is None:
            if name != wanted:
                return False
        elif not wild.start() or not wanted.startswith(name[: wild.start()]):
            return False
        else:
            some = True
    return some and all(map(_fits_name, names, path))


def _fits_name(name: str, wanted: str) -> bool:
    """Returns whether a name may become the one wanted; an agent wrote it, so each part stays."""
    parts = [""]
    for piece in _PIECES.findall(name):
        if piece[0] == "*" or (len(piece) > 1 and piece[0] == "["):
            parts.append("")
        else:
            parts[-1] += "." if piece == "?" else re.escape(piece)
    if len("".join(parts)) > 2 * len(wanted):
        return False
    head, *more = parts
    within = "".join(f"(?>.*?{part})" for part in more[:-1] if part)
    tail = f".*{more[-1]}" if more else ""
    return re.fullmatch(f"{head}{within}{tail}", wanted, re.DOTALL) is not None


PathTest = Callable[[Place, str], bool]

PLACES: dict[str, PathTest] = {
    "@inside": Place.inside,
    "@outside": Place.outside,
    "@temporary": Place.temporary,
    "@sweeping": Place.sweeping,
    "@own": Place.is_own,
    "@device": Place.device,
    "@changed": Place.is_changed,
}
_BUILT_IN = frozenset(PLACES)

_TOKEN = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[[^]/]+]|[^*?\[/]+|/|\[")
_MEANS = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "[": r"\["}
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::?[-=+?][^}]{0,999})?\}")
_SLASHES = re.compile(r"/{2,}")


class Places(msgspec.Struct, frozen=True):
    """Places and path patterns: `anchored` fit a form of a path, `deep` what follows a `/`.

    `hints` are what a path must have for either.
    """

    tests: tuple[PathTest, ...]
    anchored: Pattern | None
    deep: Pattern | None
    hints: Hints
    anchored_samples: Samples
    deep_samples: Samples

    def hold(self, place: Place, path: str, forms: tuple[str, ...], *, hinted: bool = True) -> bool:
        """Returns whether one of them fits the path; patterns are tried only with `hinted`."""
        for test in self.tests:
            if test(place, path):
                return True
        if not hinted:
            return False
        if self.deep is not None:
            whole = forms[0]
            if self.deep.search(whole if whole.startswith("/") else f"/{whole}"):
                return True
        return self.anchored is not None and any(map(self.anchored.match, forms))


class PathPatterns(msgspec.Struct, frozen=True):
    """The paths that are meant, touched in which way; `own` where our own files are among them."""

    access: Access
    meant: Places
    excepted: Places | None
    own: bool

    def may_fit(self, forms: tuple[str, ...]) -> bool:
        """Returns whether a word with wildcards may become a path that is meant."""
        return may_become(forms, self.meant.anchored_samples, self.meant.deep_samples)

    def fit(self, place: Place, path: str, forms: tuple[str, ...], *, hinted: bool = True) -> bool:
        """Returns whether a path is meant; `forms` come from `forms_of`, `hinted` as for `hold`."""
        if not self.meant.hold(place, path, forms, hinted=hinted):
            return False
        return self.excepted is None or not self.excepted.hold(place, path, forms)


def compiled(match: PathMatch, sets: Sets, *, allows: bool) -> PathPatterns:
    """Compiles the matcher of a rule's paths; raises `PatternError`.

    Some file systems take `.ENV` for `.env`, others do not. So what makes a rule ask is read
    without case, and what makes one allow, with it; letters in brackets are always just those.
    """
    names = expanded(match.any, sets, _BUILT_IN)
    excepted = expanded(match.none, sets, _BUILT_IN)
    return PathPatterns(
        match.access,
        _places(names, cased=allows),
        _places(excepted, cased=not allows) if excepted else None,
        "@own" in names,
    )


def forms_of(place: Place, path: str) -> tuple[str, ...]:
    """Returns a path in the forms of patterns: absolute, from the home, from the session's folder.

    One that starts with a variable keeps it, as `$NAME`.
    """
    if path.startswith("$"):
        written = _SLASHES.sub("/", _VARIABLE.sub(r"$\1", path.replace('"', "")))
        if not place.home or not written.startswith(("$HOME/", "$PWD/")):
            return (written,)
    resolved = place.resolve(path)
    if PLAIN_NAMES.fullmatch(path) and (marks := _marks(place.session, place.home, place.cwd)):
        return (resolved, *(f"{mark}/{path}" for mark in marks))
    if not resolved.startswith("/"):
        return (resolved,) if resolved.startswith(("~", "..")) else (f"./{resolved}",)
    forms = [resolved]
    for folder, mark in ((place.home, "~"), (place.session, ".")):
        if folder and (resolved == folder or resolved.startswith(folder.rstrip("/") + "/")):
            forms.append(mark + resolved[len(folder.rstrip("/")) :])
    return tuple(forms)


@lru_cache(maxsize=16)
def _marks(session: str, home: str, cwd: str) -> tuple[str, ...]:
    """Returns the prefixes of a folder in its other forms (`~`, `.`); () where they differ."""
    folders = [(folder, mark) for folder, mark in ((home, "~"), (session, ".")) if folder]
    if any(within(folder, cwd) and folder != cwd for folder, _ in folders):
        return ()
    top = Place(session, home, cwd).resolve(cwd)
    if top != cwd or any(folder != folder.rstrip("/") for folder, _ in folders):
        return ()
    return tuple(mark + cwd[len(folder) :] for folder, mark in folders if within(cwd, folder))


def _places(names: tuple[str, ...], *, cased: bool) -> Places:
    flags = re.DOTALL if cased else re.DOTALL | re.IGNORECASE
    anchored: list[str] = []
    deep: list[str] = []
    for name in names:
        body = name.rstrip("/")
        if name in PLACES:
            continue
        if not body:
            anchored.append("")  # the root, with all below it
        elif body.startswith("**/") or "/" not in body:
            deep.append(body.removeprefix("**/"))
        else:
            head = "" if body.startswith(("/", "~", "$")) else "./"
            anchored.append(head + body.removeprefix("./"))
    # What fits a folder fits all below it.
    end = r"(?=/|\Z)"
    return Places(
        tuple(PLACES[name] for name in names if name in PLACES),
        shared(f"(?:{'|'.join(map(_source, anchored))}){end}", flags) if anchored else None,
        shared(f"/(?:{'|'.join(map(_source, deep))}){end}", flags) if deep else None,
        hints((*anchored, *deep)),
        samples(anchored),
        samples(deep),
    )


def _source(body: str) -> str:
    return "".join(_tokens(body))


def _tokens(body: str) -> Iterator[str]:
    for token in _TOKEN.findall(body):
        if token in _MEANS:
            yield _MEANS[token]
        elif token.startswith("[") and token.endswith("]"):
            inner = token[1:-1].replace("\\", "\\\\")
            source = f"[^{inner[1:]}]" if inner[0] in "!^" else f"[{inner}]"
            try:
                re.compile(source)
            except re.error as fault:
                raise PatternError(f"{body!r} is no pattern for paths: {fault}") from None
            yield f"(?-i:{source})"
        else:
            yield re.escape(token)
