"""Leaving what is shown: at once, or when asked twice where more than a picture would go."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchgate.ui.app import WatchgateApp

AGAIN_WITHIN_S = 5.0


def detach(console: WatchgateApp) -> None:
    """Leave; when asked twice where the core ends with the console."""
    if console.stage.ends_core:
        _ask_again(console, "detach", f"leaves {console.stage.ends}", console.detach)
    else:
        console.detach()


def leave(console: WatchgateApp) -> None:
    """Leave when asked twice."""
    _ask_again(console, "leave", f"leaves {console.stage.ends}", console.detach)


def demo(console: WatchgateApp) -> None:
    """Play the demo: when asked twice where it would take the place of sessions."""
    play = console.stage.play_demo
    if not console.bridge.state.sessions:
        play()
    else:
        does = "shows the demo in place of your sessions, which stay gated"
        _ask_again(console, "demo", does, play)


def _ask_again(console: WatchgateApp, action: str, does: str, then: Callable[[], None]) -> None:
    """Do it if its key was pressed while the screen said so; else say so."""
    text = f"{console.keymap[action].shown} again {does}"
    console.desk.forget(console.now_s())
    if console.desk.note == text:
        console.desk.note = ""
        then()
    else:
        console.say(text, AGAIN_WITHIN_S)
