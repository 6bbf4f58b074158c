"""Focus of an agent's terminal: it is brought to the front, or its place is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from watchgate.core.text import safe_text
from watchgate.ui.options import Terminal

if TYPE_CHECKING:
    from watchgate.core.state import State
    from watchgate.core.views import CallRow, PendingView
    from watchgate.ui.app import WatchgateApp

SAID_S = 10
UNKNOWN = "where this agent runs is not known: only a request tells, and it asked for none yet"
_PANES = {
    "TMUX_PANE": "tmux pane",
    "ZELLIJ_PANE_ID": "zellij pane",
    "KITTY_WINDOW_ID": "kitty window",
    "WEZTERM_PANE": "wezterm pane",
}


def terminal(console: WatchgateApp) -> None:
    """Go to the terminal of the docked request's agent, else of the call under the cursor."""
    state, docked = console.bridge.state, console.moment().docked
    terminal = place(state, docked, console.monitor.table.selected)
    if terminal is None:
        console.say(UNKNOWN)
        return
    where, go_to = terminal, console.options.go_to
    # A pane's number on another machine is that of some other pane on this one.
    if go_to is None or where.host:
        console.say(words(where), SAID_S)
        return

    async def go() -> None:
        done = await go_to(where)
        console.say(safe_text(done) if done else words(where), SAID_S)

    console.start(go)


def place(state: State, docked: PendingView | None, row: CallRow | None) -> Terminal | None:
    """Finds the terminal of a request's agent, else of a call's; None where none is known."""
    if docked is not None:
        pid, env, session = docked.data.agent_pid, docked.data.env, docked.session
    else:
        view = state.session(row.agent, row.session) if row is not None else None
        if view is None:
            return None
        pid, env, session = view.pid, view.env, view.session
    if pid is None and not env:
        return None
    host = state.hosts.get(state.host_of(session))
    return Terminal(agent_pid=pid, env=env, host="" if host is None or host.local else host.name)


def words(where: Terminal) -> str:
    """The machine, terminal, pane and process, as far as they are known."""
    parts = [f"on {where.host}"] if where.host else []
    if tty := where.env.get("SSH_TTY"):
        parts.append(f"in {tty}")
    parts += _panes(where.env)
    if where.agent_pid is not None:
        parts.append(f"pid {where.agent_pid}")
    return safe_text(f"the agent runs {', '.join(parts)}") if parts else UNKNOWN


def _panes(env: Mapping[str, str]) -> list[str]:
    return [f"{name} {env[key]}" for key, name in _PANES.items() if env.get(key)]
