"""Query programs of jq and its likes: in their words `.env` is a field, and no file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from watchgate.core.policy.shell.words import Word, names

JQS = names("jq gojq jaq")
# Some take a first word that is the name of a file for one; no file is called like this.
_MAYBE_FILES = names("yq")
QUERIES = JQS | _MAYBE_FILES
"""Programs whose words may have one."""

_CODE = re.compile(r"[|({\[\"]|^\.$")
_VERBS = names("e ea eval eval-all")

_FLAGS = re.compile(r"-[acCejMnrRsSPyN]+|--[a-z]+(?:-[a-z]+)*|-[opI](?:=\w+|\d)")
_OF_ONE = names("--indent -o -p -I")
_OF_TWO = names("--arg --argjson --slurpfile --rawfile")
# With a file for the program the first operand is another file; `-L` is no flag that is known.
_FROM_FILE = re.compile(r"-[a-zA-Z]*f|--from")


def program_of(program: str, arguments: Sequence[Word]) -> Word | None:
    """Returns the word that is surely the query; None where there is none, or a doubt."""
    if any(_FROM_FILE.match(word.text) for word in arguments):
        return None
    skipped = 0
    for word in arguments:
        text = word.text
        if skipped:
            skipped -= 1
        elif text in _OF_TWO or text in _OF_ONE:
            skipped = 2 if text in _OF_TWO else 1
        elif text[:1] == "-" and text != "-":
            if not _FLAGS.fullmatch(text):
                return None
        elif program in JQS or (text not in _VERBS and _CODE.search(text)):
            return None if word.expands else word
        elif text not in _VERBS:
            return None
    return None
