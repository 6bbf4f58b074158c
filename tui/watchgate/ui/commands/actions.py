"""The action of each key, once nothing speaks against it: one function per id of the keymap.

- Leaving what is shown: at once, or when asked twice where more than a picture would go.
- The actions of a replay's keys, and of the one that starts it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from watchgate.core.base.amounts import count
from watchgate.core.base.text import safe_text
from watchgate.core.model.agent_state import install_command
from watchgate.link.control_lines import CoreLost
from watchgate.link.protocol import Refusal, Verb
from watchgate.ui.approval.operator import INTENTS
from watchgate.ui.base.theme import BASES, NAMES, fitted
from watchgate.ui.commands import navigation
from watchgate.ui.source.replay_source import MINUTE_S, Player

if TYPE_CHECKING:
    from watchgate.ui.commands.console import Console


ReplayAction = Callable[["Console"], None]


def play(console: Console) -> None:
    """Fetches the session of the call under the cursor, and plays it."""
    from watchgate.ui.source.replay_source import RECORDS_MAX, NotFetched, fetch

    top, bridge = console.pages.top, console.bridge
    chosen = top.playable
    if chosen is None:
        return

    async def playing() -> None:
        message = "fetching the session"
        console.say(message)
        try:
            records = await fetch(
                bridge.call, *chosen, lambda many: console.say(f"{message}: {count(many)} records")
            )
        except NotFetched as fault:
            console.say(f"not played: {fault}")
            return
        if console.pages.top is not top or console.bridge is not bridge:
            return  # the operator went on to something else
        console.stage.play(records)
        if len(records) == RECORDS_MAX:
            console.say(
                f"its newest {count(RECORDS_MAX)} records; `watchgate replay` plays all of them"
            )

    console.start(playing)


def _replay_move(move: Callable[[Player], None]) -> ReplayAction:
    """Returns an action that moves the player and shows its new position."""

    def do(console: Console) -> None:
        recording = console.stage.recording
        if recording is not None:
            move(recording.player)
            recording.moved()
            console.wake()

    return do


REPLAY_ACTIONS: dict[str, ReplayAction] = {
    "pause": _replay_move(Player.pause),
    "step_back": _replay_move(lambda player: player.step(-1)),
    "step_on": _replay_move(lambda player: player.step(+1)),
    "call_back": _replay_move(lambda player: player.step_call(-1)),
    "call_on": _replay_move(lambda player: player.step_call(+1)),
    "request_back": _replay_move(lambda player: player.step_request(-1)),
    "request_on": _replay_move(lambda player: player.step_request(+1)),
    "minute_back": _replay_move(lambda player: player.seek(-MINUTE_S)),
    "minute_on": _replay_move(lambda player: player.seek(MINUTE_S)),
    "film_start": _replay_move(Player.to_start),
    "film_end": _replay_move(Player.to_end),
    "slower": _replay_move(Player.slower),
    "faster": _replay_move(Player.faster),
}


AGAIN_WITHIN_S = 5.0


def detach(console: Console) -> None:
    """Leaves; asks for the key again where the core ends with the console."""
    if console.stage.ends_core:
        _ask_again(console, "detach", f"leaves {console.stage.ends}", console.detach)
    else:
        console.detach()


def leave(console: Console) -> None:
    """Leaves once the key was pressed again."""
    _ask_again(console, "leave", f"leaves {console.stage.ends}", console.detach)


def demo(console: Console) -> None:
    """Plays the demo; asks for the key again where it would take the place of sessions."""
    play = console.stage.play_demo
    if not console.bridge.state.sessions:
        play()
    else:
        does = "shows the demo in place of your sessions, which stay gated"
        _ask_again(console, "demo", does, play)


def _ask_again(console: Console, action: str, does: str, then: Callable[[], None]) -> None:
    """Calls `then` if the key was pressed while the screen asked for it again; else asks."""
    text = f"{console.keymap[action].shown} again {does}"
    console.desk.forget(console.now_s())
    if console.desk.note == text:
        console.desk.note = ""
        then()
    else:
        console.say(text, AGAIN_WITHIN_S)


Action = Callable[["Console"], None]

OFF_FOR_S = 1800


def done_there(action: str) -> Action:
    """Returns the action of a key that only some screens act on, by themselves."""

    def do(console: Console) -> None:
        if not console.pages.top.do(action):
            console.say(f"{console.keymap[action].help}: not here")

    return do


def key_decides(console: Console) -> None:
    """Refuses a decision from the palette: only its own key decides, where the request is drawn."""
    console.say("a request is decided by its own key, where it is shown")


def reveal(console: Console) -> None:
    """Uncovers the secrets of the docked request while it is docked, or covers them again."""
    console.desk.reveal()


def freeze(console: Console) -> None:
    """Freezes the view, or lets it go on."""
    desk = console.desk
    desk.frozen_us = None if desk.frozen_us is not None else console.bridge.now_us()


def copy(console: Console) -> None:
    """Copies what is under the cursor, or the install line while there is nothing."""
    text, row = console.desk.offered or console.pages.top.copied, console.monitor.table.selected
    if text is None:
        text = row.summary if row is not None else install_command(console.desk.agents)
    console.copy_to_clipboard(text)
    console.say("copied")


def install(console: Console) -> None:
    """Shows the command that connects an agent, and has the next copy take it."""
    console.start(console.agents.offer)


def theme(console: Console) -> None:
    """Changes to the next theme."""
    names = [fitted(each, console.console.color_system).name for each in BASES]
    place = names.index(console.theme) if console.theme in names else 0
    console.theme = names[(place + 1) % len(names)]


def dressed(name: str) -> Action:
    """Returns the action that changes to the theme of this name."""

    def dress(console: Console) -> None:
        console.theme = fitted(NAMES[name], console.console.color_system).name

    return dress


def start_core(console: Console) -> None:
    """Starts a core and tries to reach it at once."""
    start = console.options.start_core
    if start is None:
        return

    async def starting() -> None:
        console.say("starting a core")
        await start()
        console.bridge.retry_now()

    console.start(starting)


def gate_on(console: Console) -> None:
    """Switches the gate on again."""
    console.start(lambda: _tell(console, "on", "the gate is on"))


def gate_off(console: Console) -> None:
    """Asks for the word, then switches the gate off for half an hour."""
    console.prompts.ask_word(
        "off",
        "Nothing that comes is held or denied for 30 min.",
        lambda: console.start(
            lambda: _tell(console, "off", "the gate is off for 30 min", seconds=OFF_FOR_S)
        ),
    )


def stop(console: Console) -> None:
    """Asks for the word, then stops the core."""
    console.prompts.ask_word(
        "stop",
        "Every acting call is denied until a core runs again.",
        lambda: console.start(lambda: _tell(console, "stop", "the core stops")),
    )


async def _tell(console: Console, verb: Verb, done: str, *, seconds: int | None = None) -> None:
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
    "help": navigation.help_page,
    "commands": navigation.commands,
    "log": navigation.log,
    "back": navigation.back,
    "freeze": freeze,
    "copy": copy,
    "install": install,
    "terminal": navigation.terminal,
    "theme": theme,
    "start": start_core,
    "gate_on": gate_on,
    "gate_off": gate_off,
    "stop": stop,
    "unlock": lambda console: console.unlocking.unlock(),
    "unlock_other": lambda console: console.unlocking.unlock_other(),
    "monitor": navigation.monitor,
    "approvals": navigation.approvals,
    "traces": navigation.traces,
    "costs": navigation.costs,
    "history": navigation.history,
    "view": navigation.view,
    "reveal": reveal,
    "detail": navigation.detail,
    "next": lambda console: navigation.turn(console, +1),
    "previous": lambda console: navigation.turn(console, -1),
    "down": lambda console: console.pages.move(+1),
    "up": lambda console: console.pages.move(-1),
    "page_down": lambda console: console.pages.page(+1),
    "page_up": lambda console: console.pages.page(-1),
    "top": lambda console: console.pages.end(newest=False),
    "bottom": lambda console: console.pages.end(newest=True),
    "half_down": lambda console: navigation.half(console, +1),
    "half_up": lambda console: navigation.half(console, -1),
    "sessions": navigation.sessions,
    "jump": navigation.jump,
    "sort": done_there("sort"),
    "window": done_there("window"),
    "replay": play,
    **REPLAY_ACTIONS,
    "theme_dark": dressed("dark"),
    "theme_light": dressed("light"),
    "theme_mono": dressed("mono"),
    **dict.fromkeys(INTENTS, key_decides),
    "filter": navigation.ask_filter,
    "demo": demo,
    "detach": detach,
    "leave": leave,
}
