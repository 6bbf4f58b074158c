"""The ways in which a console may notify: what its environment says of the terminal around it.

- Signals that end a console: it leaves as by its key, so that the terminal is as it was before.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from watchgate.cli.base import tmux

if TYPE_CHECKING:
    from textual.app import App

    from watchgate.core.config.config import Ui
    from watchgate.ui.notifications.terminal_sequences import Around, Telling, Way, Wrap


ENDING = (signal.SIGTERM, signal.SIGHUP)
"""A request to end, and a terminal that is gone."""


@contextmanager
def ended_by_signals(app: App[Any]) -> Iterator[None]:
    """Lets these signals end the app, with the exit code of a process that died of one.

    A signal that comes once more, or before the app runs, ends the process at once.
    """

    def end(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        if app.is_running:
            app.exit(return_code=128 + number)
        else:
            os.kill(os.getpid(), number)

    before = {number: signal.signal(number, end) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_OSC777: Final = ("VTE_VERSION", "KONSOLE_VERSION")
_OSC9: Final = ("KITTY_WINDOW_ID", "WT_SESSION", "ITERM_SESSION_ID", "WEZTERM_PANE")
"""Variables by which terminals make themselves known, also to what runs in a multiplexer."""

_DEAF: Final = ("", "dumb", "linux")
"""Terminals that show no notice, and may print one."""

MESSAGE_MS = 8000

_IS_VISIBLE = "#{?window_active,#{?window_zoomed_flag,#{pane_active},1},0}"
"""A format of tmux: `1` for a pane that its session shows, not hidden behind a zoomed one."""


def telling(ui: Ui, env: Mapping[str, str]) -> Telling:
    """Returns the ways in which a console so configured notifies in this environment."""
    from watchgate.ui.notifications.terminal_sequences import Telling

    around: Around | None = None
    way = way_of(ui.notify, env)
    if env.get("TMUX") and env.get("TMUX_PANE") and (way != "off" or ui.notify == "tmux"):
        # With a second multiplexer between, a sequence may end there.
        passes = ui.notify != "tmux" and not env.get("ZELLIJ") and not env.get("STY")
        around = _by_tmux(env["TMUX_PANE"], passes=passes)
    return Telling(
        bell=ui.bell,
        title=ui.title,
        way=way,
        wrap=wrap_of(env),
        around=around,
        unfocused=ui.notify_when == "unfocused",
        command=ui.notify_text == "command",
    )


def way_of(notify: str, env: Mapping[str, str]) -> Way:
    """The sequence that the terminal understands, as far as the environment tells.

    A terminal that nothing is known of gets the one that is ignored by most of those that do not
    understand it.
    """
    if notify == "osc9":
        return "osc9"
    if notify == "osc777":
        return "osc777"
    term, program = env.get("TERM", ""), env.get("TERM_PROGRAM", "")
    if notify != "auto" or term in _DEAF or program == "Apple_Terminal":
        return "off"
    if term.startswith(("foot", "rxvt")) or any(map(env.get, _OSC777)):
        return "osc9" if any(map(env.get, _OSC9)) else "osc777"
    return "osc9"


def wrap_of(env: Mapping[str, str]) -> Wrap:
    """The multiplexer that is nearest around the console and has to be told to hand on.

    zellij is told nothing: it hands on what it knows and drops the rest.
    """
    if env.get("ZELLIJ"):
        return ""
    if env.get("TMUX"):
        return "tmux"
    return "screen" if env.get("STY") else ""


def _by_tmux(pane: str, *, passes: bool) -> Around:
    """A message of tmux for every client that a sequence from this pane would not reach."""

    async def show(text: str) -> bool:
        reached = await _reached(pane) if passes else frozenset()
        listed = await _run("list-clients", "-F", "#{session_id} #{client_name}") or ""
        clients = [line.partition(" ") for line in listed.splitlines()]
        clients_left = [client for session, _, client in clients if session not in reached]
        for client in clients_left:
            await _show(client, text)
        return bool(clients) and len(clients_left) == len(clients)

    return show


async def _reached(pane: str) -> frozenset[str]:
    """The sessions whose clients get a sequence: mostly those that show the pane just now."""
    allowed = await _run("show-options", "-A", "-p", "-v", "-t", pane, "allow-passthrough")
    if allowed not in ("on", "all"):
        return frozenset()
    panes = (
        await _run("list-panes", "-a", "-F", f"#{{session_id}} #{{pane_id}} {_IS_VISIBLE}") or ""
    )
    pane_rows = [line.split() for line in panes.splitlines()]
    return frozenset(
        session
        for session, id, visible in pane_rows
        if id == pane and (visible == "1" or allowed == "all")
    )


async def _show(client: str, text: str) -> None:
    """A message in one client; before 3.2 for as long as tmux is configured to show one."""
    message = ("display-message", "-c", client)
    words = tmux.literal(text)
    if await _run(*message, "-d", str(MESSAGE_MS), "--", words) is None:
        await _run(*message, "--", words)


async def _run(*words: str) -> str | None:
    """Returns the output of a tmux command; None where tmux is gone or refuses."""
    import anyio

    try:
        done = await anyio.run_process(
            tmux.command(*words), check=False, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
    except OSError:
        return None
    return done.stdout.decode("utf-8", errors="replace").strip() if done.returncode == 0 else None
