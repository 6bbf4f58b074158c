"""Path patterns as in `.gitignore`, and the built-in sets of places such as `@inside`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

import msgspec

from watchgate.core.patterns.pattern import Pattern, shared
from watchgate.core.policy.matching.hints import Hints, hints
from watchgate.core.policy.matching.patterns import PatternError, Sets, expanded
from watchgate.core.policy.matching.wildcards import Samples, may_become, samples
from watchgate.core.policy.places import PLAIN_NAMES, Place, within
from watchgate.core.policy.rule_file import Access, PathMatch

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


class Paths(msgspec.Struct, frozen=True):
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


def compiled(match: PathMatch, sets: Sets, *, allows: bool) -> Paths:
    """Compiles the matcher of a rule's paths; raises `PatternError`.

    Some file systems take `.ENV` for `.env`, others do not. So what makes a rule ask is read
    without case, and what makes one allow, with it; letters in brackets are always just those.
    """
    names = expanded(match.any, sets, _BUILT_IN)
    excepted = expanded(match.none, sets, _BUILT_IN)
    return Paths(
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
