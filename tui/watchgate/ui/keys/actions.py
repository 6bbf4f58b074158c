"""The action of each key, once nothing speaks against it: one function per id of the keymap."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from watchgate.core.agent_state import install_command
from watchgate.core.text import safe_text
from watchgate.link.lines import CoreLost
from watchgate.link.protocol import Refusal, Verb
from watchgate.ui import places
from watchgate.ui.deciding.operator import INTENTS
from watchgate.ui.keys import going, leaving, playing
from watchgate.ui.theming.palettes import BASES
from watchgate.ui.theming.theme import NAMES, fitted

if TYPE_CHECKING:
    from watchgate.ui.app import WatchgateApp

Action = Callable[["WatchgateApp"], None]

OFF_FOR_S = 1800


def done_there(action: str) -> Action:
    """Returns what only some screens do, by themselves."""

    def do(console: WatchgateApp) -> None:
        if not console.pages.top.do(action):
            console.say(f"{console.keymap[action].help}: not here")

    return do


def key_decides(console: WatchgateApp) -> None:
    """A decision is made by its key where its request is drawn, by no other way."""
    console.say("a request is decided by its own key, where it is shown")


def reveal(console: WatchgateApp) -> None:
    """Tell the secrets of the docked request, or cover them again; it alone, while it is docked."""
    console.desk.reveal()


def freeze(console: WatchgateApp) -> None:
    """Freeze the view, or let it go on."""
    desk = console.desk
    desk.frozen_us = None if desk.frozen_us is not None else console.bridge.now_us()


def copy(console: WatchgateApp) -> None:
    """Copy what is under the cursor, or the install line while there is nothing."""
    text, row = console.desk.offered or console.pages.top.copied, console.monitor.table.selected
    if text is None:
        text = row.summary if row is not None else install_command(console.desk.agents)
    console.copy_to_clipboard(text)
    console.say("copied")


def install(console: WatchgateApp) -> None:
    """Say which line connects an agent, and have it copied by the next copy."""
    console.start(console.agents.offer)


def theme(console: WatchgateApp) -> None:
    """Change to the next theme."""
    names = [fitted(each, console.console.color_system).name for each in BASES]
    place = names.index(console.theme) if console.theme in names else 0
    console.theme = names[(place + 1) % len(names)]


def dressed(name: str) -> Action:
    """Change to the theme of this name."""

    def dress(console: WatchgateApp) -> None:
        console.theme = fitted(NAMES[name], console.console.color_system).name

    return dress


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
        "Nothing that comes is held or denied for 30 min.",
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
    if isinstance(answer, Refusal):
        console.say(safe_text(answer.message))
        if answer.refused == "locked":
            console.ask_unlock("")
    else:
        host = answer.ok.get("host")  # told where several are watched: this is about one of them
        console.say(f"{done}, on {host} alone" if host else done)


ACTIONS: dict[str, Action] = {
    "help": going.help_page,
    "commands": going.commands,
    "log": going.log,
    "back": going.back,
    "freeze": freeze,
    "copy": copy,
    "install": install,
    "terminal": places.terminal,
    "theme": theme,
    "start": start_core,
    "gate_on": gate_on,
    "gate_off": gate_off,
    "stop": stop,
    "unlock": lambda console: console.unlocking.unlock(),
    "unlock_other": lambda console: console.unlocking.unlock_other(),
    "monitor": going.monitor,
    "approvals": going.approvals,
    "traces": going.traces,
    "costs": going.costs,
    "history": going.history,
    "view": going.view,
    "reveal": reveal,
    "detail": going.detail,
    "next": lambda console: going.turn(console, +1),
    "previous": lambda console: going.turn(console, -1),
    "down": lambda console: console.pages.move(+1),
    "up": lambda console: console.pages.move(-1),
    "page_down": lambda console: console.pages.page(+1),
    "page_up": lambda console: console.pages.page(-1),
    "top": lambda console: console.pages.end(newest=False),
    "bottom": lambda console: console.pages.end(newest=True),
    "half_down": lambda console: going.half(console, +1),
    "half_up": lambda console: going.half(console, -1),
    "sessions": going.sessions,
    "jump": going.jump,
    "sort": done_there("sort"),
    "window": done_there("window"),
    "replay": playing.play,
    **playing.ACTIONS,
    "theme_dark": dressed("dark"),
    "theme_light": dressed("light"),
    "theme_mono": dressed("mono"),
    **dict.fromkeys(INTENTS, key_decides),
    "filter": going.ask_filter,
    "demo": leaving.demo,
    "detach": leaving.detach,
    "leave": leaving.leave,
}
