"""Words for files that the gate rests on and that are not what they were; nothing here draws."""

from __future__ import annotations

from watchgate.core.base.amounts import plural
from watchgate.core.base.text import safe_text
from watchgate.core.model.records import ATTEMPT, TamperedData
from watchgate.core.model.views import GateView
from watchgate.ui.base.formats import cut

NAME_CELLS = 24
MEND_CELLS = 60
_CLIENT = "hook client changed"
_ATTEMPT = "no person tried to decide"


def tampered_words(gate: GateView, *, whole: bool) -> str:
    """Names the part that was changed last; the `whole` of it names the command that mends it."""
    if not gate.tampered:
        return ""
    newest = gate.tampered[-1]
    words = f"{changed(newest)}{_more(gate)}"
    return f"{words}: {mend(newest)}" if whole and newest.mend else words


def changed(tampered: TamperedData) -> str:
    """Returns the name of the changed part, in two or three words."""
    if tampered.part == "client":
        return _CLIENT
    if tampered.part == ATTEMPT:
        return _ATTEMPT
    agent = "".join(cut(safe_text(tampered.agent), NAME_CELLS))
    return f"{agent} {safe_text(tampered.part)} changed".lstrip()


def mend(tampered: TamperedData, cells: int = MEND_CELLS) -> str:
    """Returns the advice that puts it right, cut to that many cells."""
    return "".join(cut(safe_text(tampered.mend), cells))


def _more(gate: GateView) -> str:
    others = len(gate.tampered) - 1
    return f" and {plural(others, 'other')}" if others else ""
