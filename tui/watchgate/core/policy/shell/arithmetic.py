"""Arithmetic evaluates the text that its variables hold, and runs the substitutions in that text.

A variable that holds a number, or a text that stands in the script, is seen through. What a loop
reads from a file, or a substitution prints, is somebody else's text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from watchgate.core.policy.shell.script import Notes
from watchgate.core.policy.shell.words import Word, names

_TAKERS = names("read mapfile readarray getopts")
_UNNAMED = names("REPLY MAPFILE OPTARG")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_OPERAND = r"""(?:\s+-\w+)*(?:\s*<\s*(?:"\$\w+"|[^|;&()<>$`\s"]+))?"""
_COUNTS = re.compile(
    r"\$\(\s*(?:[^;&`\n()]*\|\s*)?(?:"
    rf"(?:wc{_OPERAND}|nproc|id\s+-[ug]|date(?:\s+-u)?\s+['\"]?\+%\w['\"]?)\s*"
    r"|(?:seq\s[^;&|()`\n]*|git\s+rev-list\s+--count\s[^;&|()`\n]*"
    r"""|grep\s+-[iEFvwx]*c[iEFvwx]*\s(?:"\$\w+"|[^;&|()$`*?\[\n"])*"""
    r")(?:\n\s*)?)\)"
)
_NUMBER = re.compile(r"\$[#?$!]|\$\{#\w+(?:\[[@*]\])?\}|\$\(\((?:[^()]|\([^()]*\))*\)\)", re.ASCII)
_UNSURE = re.compile(r"[$`*?\[]|<\(")


def evaluated(raw: str, notes: Notes) -> None:
    """Note which variables a sum reads; `raw` is the expansion or statement as it is written."""
    own = raw[:2] if raw.startswith("$") else ""
    rest = _COUNTS.sub("0", raw[len(own) :])
    if "$(" in _NUMBER.sub("0", rest) or "`" in rest:
        notes.doubt("Evaluates what a command prints, which may run commands within it")
    notes.sums(_NAME.findall(rest))


def assigned(name: str, value: str, notes: Notes) -> None:
    """Note a variable whose value is not known to be a number or a text of the script."""
    if _UNSURE.search(_NUMBER.sub("0", _COUNTS.sub("0", value))):
        notes.takes((name,))


def taken(words: Sequence[Word], notes: Notes) -> None:
    """Note the variables into which a command puts what it reads."""
    if _program(words) in _TAKERS:
        notes.takes((*_UNNAMED, *(word.text for word in words[1:] if _NAME.fullmatch(word.text))))


def _program(words: Sequence[Word]) -> str:
    """The program behind `builtin` and `command`, which run it as it is."""
    rest = [w.text for w in words if w.text not in ("builtin", "command") and w.text[:1] != "-"]
    return rest[0] if rest else ""
