"""The shell command that does what a command of PowerShell does, with all of its parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from watchgate.core.policy.shell.commands import Word, names
from watchgate.core.policy.shell.powershell_cmdlets import CMDLETS, KINDS, Cmdlet
from watchgate.core.policy.shell.powershell_words import Argument, made_word

_MATCHES_NAMES: Final = names("path filepath destination")
_STORE: Final = re.compile(
    r"(?:env|hk\w\w|cert|function|variable|alias|wsman|registry):", re.IGNORECASE
)
_PROPERTIES: Final = names(
    """-membername basename count cpu directoryname extension fullname id key length line name path
    pspath value"""
)
_ANY: Final = "${_}"
_PRINTS: Final = names("get-childitem get-item get-content")
_TAKES_FILES: Final = names(
    "get-content select-string remove-item copy-item move-item get-filehash"
)


def same_in_shell(
    name: str, arguments: Sequence[Argument], *, lists: bool = False
) -> tuple[Word, ...] | None:
    """The words of the shell command that does what a cmdlet does; None where that is not sure.

    `lists` says that what feeds it are files, which a cmdlet takes for those to work on.
    """
    start = arguments[0][0].start if arguments and arguments[0] else 0
    if name == "foreach-object":
        # By a name it calls a method, or reads a property.
        named = [word.text.lower() for argument in arguments for word in argument]
        return (made_word("true", start),) if _PROPERTIES.issuperset(named) else None
    cmdlet = CMDLETS.get(name)
    if cmdlet is None:
        return None
    if cmdlet.passes:
        return tuple(made_word(text, start) for text in cmdlet.words)
    given = _given(cmdlet, arguments)
    if given is None:
        return None
    if "whatif" in given:
        return (made_word("true", start),)
    kind = given.get("itemtype") or given.get("type")
    if kind and name == "new-item":
        cmdlet = KINDS.get(kind[0].text.lower())
        if cmdlet is None:
            return None
    words = _words(cmdlet, given, start)
    if any(_STORE.match(word.text) for word in words):
        # No folder of the disk: the variables of the environment, the registry, certificates.
        shown = [word for word in words if word.text.lower().startswith("env:")]
        return _printed(shown[0], start) if shown and name in _PRINTS else None
    names_files = given.get("path") or given.get("literalpath")
    if lists and name in _TAKES_FILES and not names_files:
        words.insert(0, made_word("xargs", start))
    if name == "start-process":
        # Arguments may be one text, which the program splits at its blanks.
        words = [*words[:1], *(part for word in words[1:] for part in _at_blanks(word))]
    return tuple(words) or None


def _printed(word: Word, start: int) -> tuple[Word, ...]:
    """The command that prints the variables of the environment, or one that a path names."""
    name = word.text.partition(":")[2].strip("/")
    if not name or word.dynamic:
        return (made_word("env", start),)
    return (made_word("printenv", start), made_word(name, start))


def _at_blanks(word: Word) -> list[Word]:
    if word.dynamic or " " not in word.text:
        return [word]
    return [made_word(text, word.start) for text in word.text.split()]


def _words(cmdlet: Cmdlet, given: Mapping[str, Sequence[Word]], start: int) -> list[Word]:
    words = [made_word(text, start) for text in cmdlet.words]
    words += [made_word(text, start) for key, text in cmdlet.options.items() if key in given]
    for key, text in cmdlet.valued.items():
        for value in given.get(key, ()):
            words += [made_word(text, start), value]
    for key in cmdlet.operands:
        matches = key in _MATCHES_NAMES
        words += [_globbed(word) if matches else word for word in given.get(key, ())]
    return words


def _globbed(word: Word) -> Word:
    """The word as a pattern of names, which it is in quotes too."""
    sign = next((i for i, sign in enumerate(word.text) if sign in "*?["), -1)
    if word.dynamic or sign < 0:
        return word
    prefix = word.text[:sign]
    if prefix and not prefix.endswith("/"):
        return msgspec.structs.replace(word, expands="glob", prefix=prefix)
    # Unlike in a shell, it may be the name of a hidden file.
    at = (*word.at[:sign], *(word.start,) * len(_ANY))
    return Word(prefix + _ANY, at, *word.span, "value", prefix)


def _given(cmdlet: Cmdlet, arguments: Sequence[Argument]) -> dict[str, list[Word]] | None:
    """The values of each parameter by its name; None where a word may be anything."""
    parameters: dict[str, list[Word]] = {}
    taking = ""
    for argument in arguments:
        first = argument[0]
        if not taking and first.prefix[:1] == "-" and first.prefix[1:2].isalpha():
            name, colon, value = first.text.partition(":")
            key = cmdlet.parameter(name[1:].lower())
            if key is None or (first.dynamic and not colon):
                return None
            values = parameters.setdefault(key, [])
            takes = cmdlet.takes_value(key)
            if value and takes:
                values += (_behind(first, len(name) + 1), *argument[1:])
            elif value and value.lower() != "$true":
                return None
            elif not value:
                taking = key if takes else ""
            continue
        key = taking or next((each for each in cmdlet.positions if each not in parameters), "")
        if not key and not cmdlet.positions:
            return None
        parameters.setdefault(key or cmdlet.positions[-1], []).extend(argument)
        taking = ""
    return None if taking else parameters


def _behind(word: Word, length: int) -> Word:
    rest = {"text": word.text[length:], "at": word.at[length:], "prefix": word.prefix[length:]}
    return msgspec.structs.replace(word, **rest)
