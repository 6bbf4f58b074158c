"""Terminal sequences of a notice, which no text from outside can end or begin.

`ESC ] 9 ; TEXT BEL` is iTerm2's, understood by WezTerm, Ghostty, kitty and Windows Terminal too;
`ESC ] 777 ; notify ; TITLE ; TEXT BEL` is urxvt's, understood by foot, Konsole and VTE. A terminal
that knows neither ignores both. tmux hands a sequence on when it is wrapped in `ESC P tmux;` with
every ESC doubled and `allow-passthrough` is on; GNU screen when it stands in `ESC P`.

- The terminal's title: what waits, for whoever looks at another window.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Literal

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.ui.base.ascii_only import spelled
from watchgate.ui.base.formats import cut

SAVE = "\x1b[22;0t"
RESTORE = "\x1b[23;0t"
CLEAR = "\x1b[2J"
"""Empties the screen that is left: tmux, grown meanwhile, would show some of it above the shell."""


def title(pending: int, *, lost: bool, off: bool) -> str:
    """The title of a moment; nothing in it comes from an agent."""
    if lost:
        return "watchgate: core lost"
    if off:
        return "watchgate: GATE OFF"
    return f"({pending}) watchgate" if pending else "watchgate"


def set_title(words: str) -> str:
    """Returns the control sequence that makes a terminal show a title."""
    return f"\x1b]0;{words}\x07"


ESC = "\x1b"
BEL = "\x07"
TEXT_CELLS = 120
TITLE = "watchgate"

Way = Literal["osc9", "osc777", "off"]
Wrap = Literal["", "tmux", "screen"]
Around = Callable[[str], Coroutine[None, None, bool]]


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """The ways in which this console may notify, as configuration and terminal have it.

    `way` is the sequence for a notice on the desktop, `wrap` the multiplexer that it has to pass.
    `around` shows a text by the multiplexer's own means to whoever the sequence would not reach,
    and says whether that was everybody; else the sequence is written too. `unfocused` keeps notices
    to times when somebody looks elsewhere (or when the terminal does not say), `command` tells what
    a request wants to run.
    """

    bell: bool = True
    title: bool = True
    way: Way = "off"
    wrap: Wrap = ""
    around: Around | None = None
    unfocused: bool = True
    command: bool = False


def plain(text: str, cells: int = TEXT_CELLS) -> str:
    """A text that means nothing to any terminal, on one line of at most so many cells.

    A semicolon would end a field of OSC 777, or a command of tmux.
    """
    shown, dots = cut(spelled(safe_text(text)).replace(";", ","), cells)
    return shown + dots


def sequence(text: str, *, way: Way, wrap: Wrap = "", title: str = TITLE) -> str:
    """Returns the sequence that shows a text on the desktop; empty where it is off."""
    if way == "off":
        return ""
    words = plain(text)
    if way == "osc777":
        control = f"{ESC}]777;notify;{plain(title)};{words}{BEL}"
    else:
        control = f"{ESC}]9;{plain(title)}: {words}{BEL}"
    return wrapped(control, wrap)


def wrapped(control: str, wrap: Wrap) -> str:
    """A sequence as a multiplexer hands it on to the terminal outside."""
    if wrap == "tmux":
        return f"{ESC}Ptmux;{control.replace(ESC, ESC + ESC)}{ESC}\\"
    if wrap == "screen":
        return f"{ESC}P{control}{ESC}\\"
    return control
