"""Sentence templates of rules, with placeholders for what a call is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.core.policy.matching.name_patterns import PatternError
from watchgate.core.secrets.redact import redact

PLACEHOLDERS = (
    "operands", "first", "rest", "front", "last", "behind", "value", "sub", "word", "paths", "host",
    "source", "objects", "command", "program", "variables",
)  # fmt: skip
MAX_NAMES = 3
MAX_CHARS = 60

_PLACEHOLDER = re.compile(r"\{([a-z]+)(?::([^{}]*))?\}")
_PLAIN = re.compile(r"[\w./:@%+,=~^*?$#{}\[\]-]+")
# Standard input, and what is only known when it runs.
_NAMELESS = ("", "-", "{}")
# Another command names the things, and nobody knows how many.
_SUBSTITUTIONS = ("$(", "`")
# A shorter text is no secret.
_SECRET_CHARS = 12


class Slot(msgspec.Struct, frozen=True):
    """A placeholder; `detail` is the noun for what it names, or the options whose value it is."""

    kind: str
    detail: str = ""


class Template(msgspec.Struct, frozen=True):
    """A sentence in parts: text and placeholders in turn, with text at both ends."""

    parts: tuple[str | Slot, ...]


Fill = Callable[[Slot], str]
"""The text in a placeholder's place; empty where that is not known."""


def compiled(texts: Iterable[str]) -> tuple[Template, ...]:
    """Compiles the templates of a rule or a shape; raises `PatternError`."""
    return tuple(map(_compiled, texts))


def _compiled(text: str) -> Template:
    parts: list[str | Slot] = []
    done = 0
    for match in _PLACEHOLDER.finditer(text):
        kind, detail = match[1], match[2] or ""
        if kind not in PLACEHOLDERS:
            known = ", ".join(PLACEHOLDERS)
            raise PatternError(f"says: no placeholder is called {{{kind}}}; take one of {known}")
        if kind == "value" and not detail.startswith("-"):
            raise PatternError("says: {value} needs its options, such as {value:-n|--namespace}")
        parts += [text[done : match.start()], Slot(kind, detail)]
        done = match.end()
    parts.append(text[done:])
    if any("{" in part or "}" in part for part in parts if isinstance(part, str)):
        raise PatternError(f"says: {text!r} has a brace outside of a placeholder; remove it")
    return Template(tuple(parts))


def sentence(templates: Sequence[Template], fill: Fill) -> str:
    """Fills the first of the templates that can be filled; empty without any."""
    for template in templates:
        filled = [part if isinstance(part, str) else fill(part) for part in template.parts]
        if all(filled[1::2]):
            return "".join(filled)
    return ""


def listed(names: Iterable[str], noun: str = "") -> str:
    """Lists names in a sentence: `the folder a`, `2 folders: a, b`, `a, b, c and 3 more`."""
    known = list(dict.fromkeys(name for name in names if name not in _NAMELESS))
    text = ", ".join(map(shown, known[:MAX_NAMES]))
    if known == ["."]:
        return "this folder"
    if len(known) > MAX_NAMES:
        text += f" and {len(known) - MAX_NAMES} more"
    if not noun or not known:
        return text
    if len(known) == 1 and known[0].startswith(_SUBSTITUTIONS):
        return f"the {_plural(noun)} of {text}"
    return f"the {noun} {text}" if len(known) == 1 else f"{len(known)} {_plural(noun)}: {text}"


def _plural(noun: str) -> str:
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def shown(name: str) -> str:
    """Shortens a name for a sentence, makes it visible and takes secrets out."""
    text = safe_text(redact(name) if len(name) >= _SECRET_CHARS else name)
    if len(text) > MAX_CHARS:
        half = MAX_CHARS // 2
        text = f"{text[:half]}...{text[-half + 3 :]}"
    return text if _PLAIN.fullmatch(text) else f"'{text}'"
