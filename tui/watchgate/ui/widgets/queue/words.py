"""The queue: open requests by deadline, and below them the newest settled with their endings."""

from __future__ import annotations

import re
from typing import Final

from watchgate.core.records import Word
from watchgate.core.text import safe_text
from watchgate.core.views import Settled
from watchgate.ui.deciding.consequences import title
from watchgate.ui.deciding.decisions import SCOPES
from watchgate.ui.formats import width

_OPERATOR = re.compile(r"operator (?P<name>.*?)(?: \([^()]*\))?", re.DOTALL)

WORDS: Final[dict[Word, str]] = {
    "allowed-by-operator": "allowed",
    "allowed-by-grant": "allowed by a grant",
    "allowed-by-rule": "allowed by a rule",
    "answered-by-operator": "answered",
    "denied-by-operator": "denied",
    "denied-by-rule": "denied by a rule",
    "denied-by-timeout": "denied, no answer",
    "denied-no-approver": "denied, nobody there",
    "denied-no-journal": "denied, no journal",
    "denied-core-stopped": "denied, core stopped",
    "denied-failure": "denied, a failure",
    "denied-paused": "denied, paused",
    "edited-by-operator": "edited, asked again",
    "withdrawn": "withdrawn, agent gone",
    "answered-elsewhere": "answered in its agent",
    "handed-back": "handed back",
    "handed-back-by-operator": "handed back",
    "handed-back-by-timeout": "no answer, went back",
}
"""The label of each word, without the name of whoever decided."""

CELLS = 21
"""The room beside the time in a list of 38 cells."""


def outcome(ended: Settled, cells: int = CELLS) -> str:
    """Returns how a request ended: who decided and with what, as far as the name fits."""
    word = ended.word
    if word not in WORDS:
        return safe_text(word)
    plain = WORDS[word]
    match word:
        case "allowed-by-operator":
            return _first(cells, f"{plain} by {_who(ended)}{_reach(ended)}", plain + _reach(ended))
        case "denied-by-operator" if ended.reason:
            return f"{plain}, with reply"
        case "denied-by-operator" | "answered-by-operator" | "handed-back-by-operator":
            return _first(cells, f"{plain} by {_who(ended)}", plain)
        case "answered-elsewhere" if ended.agent and ended.agent != "acp":
            return _first(cells, f"answered in {title(ended.agent)}", plain)
    return plain


def _who(ended: Settled) -> str:
    """Returns the name alone of `operator ana (console 2)`."""
    match = _OPERATOR.fullmatch(ended.by)
    return safe_text((match["name"] if match else ended.by) or "an operator")


def _reach(ended: Settled) -> str:
    """Returns how far an allow reaches; a word of a later version stays as it is."""
    known = next((words for scope, words in SCOPES.items() if scope == ended.scope), "")
    return f", {known or safe_text(ended.scope)}"


def _first(cells: int, *words: str) -> str:
    """Returns the first that fits, else the last."""
    return next((each for each in words if width(each) <= cells), words[-1])
