"""The PowerShell text that the words of `pwsh -Command` or `-EncodedCommand` give to it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Final

from watchgate.core.policy.shell.commands import Word, names

_PROGRAMS: Final = names("pwsh powershell pwsh-preview pwsh.exe powershell.exe")
_VALUED: Final = names("executionpolicy ex ep outputformat o of inputformat in if windowstyle w")
_FLAGS: Final = names(
    "noprofile nop nologo nol noninteractive noni noexit noe login l mta sta interactive i"
)
_COMMAND: Final = "command"
_ENCODED: Final = "encodedcommand"
_ALSO_ENCODED: Final = names("ec en")


def scripts(program: str, words: Sequence[Word]) -> tuple[Word, ...]:
    """The text that a program's words let PowerShell run; none where that is not sure."""
    return tuple(_scripts(words)) if program in _PROGRAMS else ()


def _scripts(words: Sequence[Word]) -> Iterator[Word]:
    index = 1
    while index < len(words):
        word = words[index]
        sign, name = word.text[:1], word.text.lower().lstrip("-/")
        if word.dynamic or sign not in ("-", "/") or not name:
            return
        behind = words[index + 1 :]
        if _COMMAND.startswith(name):
            if behind and behind[0].text != "-":
                yield _joined(behind)
            return
        if _ENCODED.startswith(name) or name in _ALSO_ENCODED:
            if len(behind) == 1 and (text := _decoded(behind[0])):
                yield text
            return
        if name not in _VALUED and name not in _FLAGS:
            return
        index += 2 if name in _VALUED else 1


def _joined(words: Sequence[Word]) -> Word:
    text = " ".join(word.text for word in words)
    at = [place for word in words for place in (*word.at, word.end)][:-1]
    dynamic = any(word.dynamic for word in words)
    return Word(text, tuple(at), words[0].start, words[-1].end, "words" if dynamic else "")


def _decoded(word: Word) -> Word | None:
    """The text that is encoded in a word: UTF-16 in base64."""
    try:
        text = base64.b64decode(word.text, validate=True).decode("utf-16-le")
    except (binascii.Error, ValueError):
        return None
    return None if word.dynamic else Word(text, (word.start,) * len(text), *word.span)
