"""Asks a person at a terminal before a call may run, as the console does.

The whole request is shown first, page by page to its end. Then one `yes`; for high or unknown risk
a second, and for critical the word typed by hand, where no paste counts.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.drawn_text import styled_output
from watchgate.cli.base.printing import Stop
from watchgate.cli.base.typed_input import stood, typed_by_hand, typed_now
from watchgate.cli.decide.request_page import page
from watchgate.core.base.amounts import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOKEN = re.compile("\x1b\\[[0-9]*m|.")
UNDECIDED = "nothing was decided; the request still waits"
_AGAIN = {"high": "It is HIGH", "unknown": "Its risk is UNKNOWN"}


def show_to_end(request: dict[str, Any], more: Sequence[str] = ()) -> None:
    """Shows a request, and `more` below it, page by page; ends the command if that is left."""
    _paged([*page(request, styled=styled_output()), *more])
    stood()


def ask_consent(request: dict[str, Any], *, what: str = "let it run", asked: bool = False) -> str:
    """Asks a person about a request that was shown: `allow`, or `deny` where they deny it.

    Ends the command where nothing is decided. `asked` says that the command line said it once.

    Args:
        request: the request as `show` tells it; its risk says what is asked.
        what: what a yes does, in the words of the question.
        asked: whether the first of two questions was answered by a digest.
    """
    risk = request["risk"]
    if risk == "critical":
        return _by_hand(request, what)
    if not asked:
        _yes(f"\nType yes to {what}, anything else to leave it waiting: ")
    if risk in _AGAIN:
        _yes(f"{_AGAIN[risk]}: {request['reason']}. Type yes again to {what}: ")
    return "allow"


def _yes(prompt: str) -> None:
    if typed_now(prompt) != "yes":
        raise Stop(UNDECIDED)


def _by_hand(request: dict[str, Any], what: str) -> str:
    from watchgate.ui.approval.arming import Ask

    print(f"\nIt is CRITICAL. To {what} type the letters yes; d denies it, Esc leaves it.")
    commit = typed_by_hand(Ask("yes", "allow", request["id"], "", 0), "yes, by hand: ")
    if commit is None:
        raise Stop(UNDECIDED)
    return "deny" if commit.intent == "deny" else "allow"


def _paged(lines: Sequence[str]) -> None:
    """Prints lines by the height of the terminal; the next page comes on Enter alone."""
    columns, height = shutil.get_terminal_size()
    rows = [row for line in lines for row in _rows(line, columns)]
    room = max(1, height - 2)
    for start in range(0, len(rows), room):
        if start:
            left = plural(len(rows) - start, "more line")
            prompt = f"-- {left}. Enter shows on, q and Enter leaves it waiting: "
            if typed_now(prompt):
                raise Stop(UNDECIDED)
        print("\n".join(rows[start : start + room]), flush=True)


def _rows(line: str, columns: int) -> list[str]:
    """The rows of the terminal that a line takes; a style goes on from one to the next."""
    from rich.cells import get_character_cell_size

    rows, room = [""], columns
    for token in _TOKEN.findall(line):
        cells = 0 if token.startswith("\x1b") else get_character_cell_size(token)
        if cells > room:
            rows.append("")
            room = columns
        rows[-1] += token
        room -= cells
    return rows
