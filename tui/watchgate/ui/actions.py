"""What each key does, once nothing speaks against it: one function per id of the keymap."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from watchgate.core.text import safe_text
from watchgate.core.views import CallRow
from watchgate.link.lines import CoreLost
from watchgate.link.protocol import Refusal, Verb
from watchgate.ui.options import Terminal
from watchgate.ui.palettes import BASES
from watchgate.ui.theme import fitted
from watchgate.ui.widgets.empty import install_line

if TYPE_CHECKING:
    from watchgate.ui.app import WatchgateApp

Action = Callable[["WatchgateApp"], None]

OFF_FOR_S = 1800


def help_page(console: WatchgateApp) -> None:
    """Open the help page; again closes it."""
    from watchgate.ui.screens.help import HelpScreen

    if isinstance(console.pages.top, HelpScreen):
        console.pages.close()
    else:
        console.pages.open(HelpScreen(console.keymap))


def commands(console: WatchgateApp) -> None:
    """Open the command list."""
    from watchgate.ui.screens.commands import CommandScreen

    console.pages.open(CommandScreen(console.keymap, console.moment().context))


def log(console: WatchgateApp) -> None:
    """Show the last lines of the core's log."""
    from watchgate.ui.screens.log import LogScreen

    read = console.options.log_lines
    if read is not None:
        console.pages.open(LogScreen(read()))


def back(console: WatchgateApp) -> None:
    """Close the page, leave the sessions, or clear the filter: whichever is on top."""
    pages = console.pages
    if pages.top.leave() or pages.close() or console.monitor.leave_sessions():
        return
    if console.desk.filter:
        console.set_filter("", None)


def monitor(console: WatchgateApp) -> None:
    """Back to the monitor."""
    console.pages.go(None)


def traces(console: WatchgateApp) -> None:
    """Go to the traces."""
    from watchgate.ui.screens.traces import TracesScreen

    if not isinstance(console.pages.top, TracesScreen):
        console.pages.go(TracesScreen())


def turn(console: WatchgateApp, by: int) -> None:
    """Dock the next or the previous request; the table's cursor stays."""
    console.desk.turn(console.bridge.state.by_deadline(), by)


def view(console: WatchgateApp) -> None:
    """Open the whole docked request, or the call under the cursor while none is docked."""
    if console.moment().docked is None:
        detail(console)
    else:
        _whole(console, None)


def reveal(console: WatchgateApp) -> None:
    """Tell the secrets of the docked request, or cover them again; it alone, while it is docked."""
    console.desk.reveal()


def detail(console: WatchgateApp) -> None:
    """Open the call under the cursor; in the list of sessions, choose the one there."""
    monitor_screen = console.monitor
    if console.pages.top.enter():
        return
    if monitor_screen.listed:
        monitor_screen.sessions.open()
    elif monitor_screen.table.selected is not None:
        _whole(console, monitor_screen.table.selected)


def _whole(console: WatchgateApp, row: CallRow | None) -> None:
    from watchgate.ui.screens.detail import DetailScreen

    console.pages.open(DetailScreen(row, console.options.home))


def ask_filter(console: WatchgateApp) -> None:
    """Ask for the filter of the list that is shown."""
    narrowed = console.pages.top.narrowed
    console.prompts.ask_filter(console.desk.filter if narrowed is None else narrowed)


def freeze(console: WatchgateApp) -> None:
    """Freeze the view, or let it go on."""
    desk = console.desk
    desk.frozen_us = None if desk.frozen_us is not None else console.bridge.now_us()


def copy(console: WatchgateApp) -> None:
    """Copy what is under the cursor, or the install line while there is nothing."""
    text, row = console.pages.top.copied, console.monitor.table.selected
    if text is None:
        text = row.summary if row is not None else install_line(console.options.agents)
    console.copy_to_clipboard(text)
    console.say("copied")


def install(console: WatchgateApp) -> None:
    """Say which line connects an agent."""
    console.say(f"in a shell: {install_line(console.options.agents)}   (c copies it)", 10)


def terminal(console: WatchgateApp) -> None:
    """Go to the terminal of the docked request's agent, or say where it is."""
    docked = console.moment().docked
    if docked is None:
        console.say("no request is open: only a request tells where its agent runs")
        return
    place = Terminal(agent_pid=docked.data.agent_pid, env=docked.data.env)
    go_to = console.options.go_to
    if go_to is None:
        console.say(_where(place), 10)
        return

    async def go() -> None:
        done = await go_to(place)
        console.say(safe_text(done) if done else _where(place), 10)

    console.start(go)


def _where(place: Terminal) -> str:
    known = [f"{name}={value}" for name, value in place.env.items()]
    if place.agent_pid is not None:
        known.insert(0, f"pid {place.agent_pid}")
    return safe_text(f"the agent runs at {', '.join(known)}") if known else "its place is not known"


def theme(console: WatchgateApp) -> None:
    """Change to the next theme."""
    names = [fitted(each, console.console.color_system).name for each in BASES]
    place = names.index(console.theme) if console.theme in names else 0
    console.theme = names[(place + 1) % len(names)]


def start_core(console: WatchgateApp) -> None:
    """Start a core and try to reach it at once."""
    start = console.options.start_core
    if start is None:
        return

    async def starting() -> None:
        console.say("starting a core")
        await start()
        console.bridge.retry_now()

    console.start(starting)


def gate_on(console: WatchgateApp) -> None:
    """Switch the gate on again."""
    console.start(lambda: _tell(console, "on", "the gate is on"))


def gate_off(console: WatchgateApp) -> None:
    """Ask for the word, then switch the gate off for half an hour."""
    console.prompts.ask_word(
        "off",
        "Nothing will be held or denied for 30 min.",
        lambda: console.start(
            lambda: _tell(console, "off", "the gate is off for 30 min", seconds=OFF_FOR_S)
        ),
    )


def stop(console: WatchgateApp) -> None:
    """Ask for the word, then stop the core."""
    console.prompts.ask_word(
        "stop",
        "Every acting call is denied until a core runs again.",
        lambda: console.start(lambda: _tell(console, "stop", "the core stops")),
    )


async def _tell(
    console: WatchgateApp, verb: Verb, done: str, *, seconds: int | None = None
) -> None:
    try:
        answer = await console.bridge.call(verb, seconds=seconds)
    except CoreLost as lost:
        console.say(str(lost))
        return
    console.say(safe_text(answer.message) if isinstance(answer, Refusal) else done)


ACTIONS: dict[str, Action] = {
    "help": help_page,
    "commands": commands,
    "log": log,
    "back": back,
    "freeze": freeze,
    "copy": copy,
    "install": install,
    "terminal": terminal,
    "theme": theme,
    "start": start_core,
    "gate_on": gate_on,
    "gate_off": gate_off,
    "stop": stop,
    "monitor": monitor,
    "traces": traces,
    "view": view,
    "reveal": reveal,
    "detail": detail,
    "next": lambda console: turn(console, +1),
    "previous": lambda console: turn(console, -1),
    "down": lambda console: console.pages.move(+1),
    "up": lambda console: console.pages.move(-1),
    "page_down": lambda console: console.pages.page(+1),
    "page_up": lambda console: console.pages.page(-1),
    "top": lambda console: console.pages.end(newest=False),
    "bottom": lambda console: console.pages.end(newest=True),
    "sessions": lambda console: console.monitor.list_sessions(),
    "filter": ask_filter,
    "demo": lambda console: console.play_demo(),
    "detach": lambda console: console.detach(),
    "leave": lambda console: console.ask_leave(),
}
