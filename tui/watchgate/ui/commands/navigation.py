"""Actions of navigation: screens, pages, the cursor, and the terminal of an agent.

An agent's terminal is brought to the front where that can be done, else its place is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from watchgate.core.base.text import safe_text
from watchgate.core.model.call_row import CallRow
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer
from watchgate.link.protocol import Verb
from watchgate.ui.view_model.console_options import Terminal

if TYPE_CHECKING:
    from watchgate.core.model.call_row import CallRow
    from watchgate.core.model.views import PendingView
    from watchgate.core.state.state import State
    from watchgate.ui.commands.console import Console
    from watchgate.ui.screens.screen_frame import Frame


SHOWN_S = 10
UNKNOWN = "where this agent runs is not known: only a request tells, and it asked for none yet"
_PANES = {
    "TMUX_PANE": "tmux pane",
    "ZELLIJ_PANE_ID": "zellij pane",
    "KITTY_WINDOW_ID": "kitty window",
    "WEZTERM_PANE": "wezterm pane",
}


def terminal(console: Console) -> None:
    """Goes to the terminal of the docked request's agent, else of the call under the cursor."""
    state, docked = console.bridge.state, console.moment().docked
    terminal = place(state, docked, console.monitor.table.selected)
    if terminal is None:
        console.say(UNKNOWN)
        return
    where, go_to = terminal, console.options.go_to
    # A pane's number on another machine is that of some other pane on this one.
    if go_to is None or where.host:
        console.say(words(where), SHOWN_S)
        return

    async def go() -> None:
        done = await go_to(where)
        console.say(safe_text(done) if done else words(where), SHOWN_S)

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
    """Names the machine, terminal, pane and process, as far as they are known."""
    parts = [f"on {where.host}"] if where.host else []
    if tty := where.env.get("SSH_TTY"):
        parts.append(f"in {tty}")
    parts += _panes(where.env)
    if where.agent_pid is not None:
        parts.append(f"pid {where.agent_pid}")
    return safe_text(f"the agent runs {', '.join(parts)}") if parts else UNKNOWN


def _panes(env: Mapping[str, str]) -> list[str]:
    return [f"{name} {env[key]}" for key, name in _PANES.items() if env.get(key)]


def help_page(console: Console) -> None:
    """Opens the help page; pressed again, closes it."""
    from watchgate.ui.screens.text_screens import HelpScreen

    if isinstance(console.pages.top, HelpScreen):
        console.pages.close()
    else:
        console.pages.open(HelpScreen(console.keymap, replay=console.stage.recording is not None))


def commands(console: Console) -> None:
    """Opens the command list."""
    from watchgate.ui.screens.text_screens import CommandScreen

    console.pages.open(CommandScreen(console.keymap, console.moment().context))


def log(console: Console) -> None:
    """Shows the last lines of the core's log."""
    from watchgate.ui.screens.text_screens import LogScreen

    read = console.options.log_lines
    if read is not None:
        console.pages.open(LogScreen(read()))


def back(console: Console) -> None:
    """Closes the page, leaves the sessions, or clears the filter: whichever is on top."""
    pages = console.pages
    if pages.top.leave() or pages.close() or console.monitor.leave_sessions():
        return
    if console.desk.filter:
        console.set_filter("", None)


def monitor(console: Console) -> None:
    """Goes back to the monitor."""
    console.pages.go(None)


def approvals(console: Console) -> None:
    """Goes to the approvals."""
    from watchgate.ui.screens.approvals_screen import ApprovalsScreen

    _go(console, ApprovalsScreen)


def traces(console: Console) -> None:
    """Goes to the traces."""
    from watchgate.ui.screens.traces_screen import TracesScreen

    _go(console, TracesScreen)


def costs(console: Console) -> None:
    """Goes to the costs."""
    from watchgate.ui.screens.costs_screen import CostsScreen

    _go(console, CostsScreen)


def history(console: Console) -> None:
    """Goes to the history."""
    from watchgate.ui.screens.history_screen import HistoryScreen

    async def call(verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        # Asked for at the time: playing the demo puts another bridge in place.
        return await console.bridge.call(verb, **fields)

    if not isinstance(console.pages.top, HistoryScreen):
        console.pages.go(HistoryScreen(call))


def _go(console: Console, screen: type[Frame]) -> None:
    if not isinstance(console.pages.top, screen):
        console.pages.go(screen())


def turn(console: Console, by: int) -> None:
    """Docks the next or the previous request; the table's cursor stays."""
    console.desk.turn(console.bridge.state.by_deadline(), by)


def view(console: Console) -> None:
    """Opens the whole docked request, or the call under the cursor while none is docked.

    Where the whole of it stands already, its payload; from there back. In the list of sessions,
    the session under the cursor.
    """
    from watchgate.ui.screens.payload_screen import DetailScreen, PayloadScreen, SessionScreen

    top, home = console.pages.top, console.options.home
    chosen = console.monitor.sessions.chosen if console.monitor.listed else None
    if top is console.monitor and chosen is not None:
        console.pages.open(SessionScreen(*chosen, home))
    elif isinstance(top, PayloadScreen):
        _whole(console, top.row)
    elif isinstance(top, DetailScreen):
        console.pages.open(PayloadScreen(top.row, home))
    elif top.where == "approvals":
        console.pages.open(PayloadScreen(None, home))
    elif console.moment().docked is None:
        detail(console)
    else:
        _whole(console, None)


def sessions(console: Console) -> None:
    """Gives the keys to the list of sessions on the monitor; pressed again, takes them back."""
    if console.pages.top is not console.monitor:
        console.pages.go(None)
        console.monitor.leave_sessions()
    console.monitor.list_sessions()


def jump(console: Console) -> None:
    """Shows a letter at every line that can be jumped to."""
    top = console.pages.top
    if top.jumps():
        console.prompts.ask_jump(top.jumps)
    else:
        console.say("no line to jump to here")


def half(console: Console, way: int) -> None:
    """Moves by about half of what is visible."""
    listed = console.monitor.listed and console.pages.top is console.monitor
    console.pages.move(way * (2 if listed else max(1, console.size.height // 3)))


def detail(console: Console) -> None:
    """Opens the call under the cursor; in the list of sessions, chooses the one there."""
    monitor_screen = console.monitor
    if console.pages.top.enter():
        return
    if console.pages.top is not monitor_screen:
        console.say("nothing more to open on this page")
    elif monitor_screen.listed:
        monitor_screen.sessions.open()
    elif monitor_screen.table.selected is not None:
        _whole(console, monitor_screen.table.selected)


def request(console: Console) -> None:
    """Opens the whole docked request, whatever is open."""
    _whole(console, None)


def _whole(console: Console, row: CallRow | None) -> None:
    from watchgate.ui.screens.payload_screen import DetailScreen

    console.pages.open(DetailScreen(row, console.options.home))


def ask_filter(console: Console) -> None:
    """Asks for the filter of the list that is shown."""
    from watchgate.core.filters.filter_completion import known_in

    top = console.pages.top
    if top.where == "help":
        commands(console)
        return
    text = console.desk.filter if top.narrowed is None else top.narrowed
    bridge = console.bridge
    console.prompts.ask_filter(text, known_in(bridge.state), bridge.now_us)
