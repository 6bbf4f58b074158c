"""The console as commands and the app's parts see it: protocols that the app fulfils."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from rich.console import Console as RichConsole
    from textual.geometry import Size
    from textual.worker import Worker

    from watchgate.core.model.records import Record
    from watchgate.ui.keys.keymap import Keymap
    from watchgate.ui.screens.monitor_screen import MonitorScreen
    from watchgate.ui.screens.pages import Pages
    from watchgate.ui.screens.prompts import Prompts
    from watchgate.ui.source.core_bridge import Bridge
    from watchgate.ui.source.replay_source import Recording
    from watchgate.ui.view_model.console_options import Options
    from watchgate.ui.view_model.dock_state import DockState
    from watchgate.ui.view_model.view_model import ViewModel
    from watchgate.ui.widgets.calls.call_table import Keep
    from watchgate.ui.widgets.prompts.prompt import Prompt


class Stage(Protocol):
    """The picture that is shown: the console's own core, a demo or a recording."""

    demo: bool
    recording: Recording | None

    @property
    def live_is_demo(self) -> bool:
        """The console's own core is a demo."""

    @property
    def live(self) -> Bridge | None:
        """The console's own core, whatever is shown."""

    @property
    def ends(self) -> str:
        """The consequence of leaving, in words."""

    @property
    def ends_core(self) -> bool:
        """Leaving ends a core."""

    def play_demo(self) -> None:
        """Shows the demo until it is left."""

    def play(self, records: Sequence[Record]) -> None:
        """Shows a recording until it is left."""


class Unlocker(Protocol):
    """Unlocks terminals."""

    def unlock(self) -> None:
        """Unlocks this terminal."""

    def unlock_other(self) -> None:
        """Confirms the code that another terminal shows."""


class AgentOffer(Protocol):
    """Knows the agents of the core's machine."""

    async def offer(self) -> None:
        """Offers the command that installs hooks for an agent without."""


class Console(Protocol):
    """The console: its state, its screens, and what may be asked of it."""

    bridge: Bridge
    desk: DockState
    keymap: Keymap
    monitor: MonitorScreen
    options: Options
    pages: Pages
    prompts: Prompts
    now_s: Callable[[], float]
    theme: str

    @property
    def agents(self) -> AgentOffer:
        """The agents of the core's machine."""

    @property
    def stage(self) -> Stage:
        """The picture that is shown."""

    @property
    def unlocking(self) -> Unlocker:
        """The way to unlock terminals."""

    @property
    def console(self) -> RichConsole:
        """The terminal, as Rich knows it."""

    @property
    def size(self) -> Size:
        """Columns and rows."""

    def moment(self) -> ViewModel:
        """Returns the view model of now."""

    def say(self, text: str, seconds: float = 4.0, *, docked: bool = False) -> None:
        """Shows the operator a sentence for a moment."""

    def start(self, work: Callable[[], Coroutine[None, None, None]]) -> Worker[None]:
        """Runs something in the background."""

    def stop_work(self, group: str) -> None:
        """Cancels the background work of a group."""

    def wake(self) -> None:
        """Draws at the next tick."""

    def show(self, bridge: Bridge) -> None:
        """Shows what a bridge reads."""

    def follow(self, bridge: Bridge, group: str = "bridge") -> None:
        """Shows what a bridge reads, and has it read."""

    def set_filter(self, text: str, keep: Keep | None) -> None:
        """Narrows the table of calls."""

    def ask_unlock(self, request: str) -> None:
        """Asks for a proof so that a request can be allowed."""

    def leave_prompt(self, prompt: Prompt) -> None:
        """Closes a prompt if it is the open one."""

    def copy_to_clipboard(self, text: str) -> None:
        """Hands a text to the terminal's clipboard."""

    def detach(self) -> None:
        """Leaves the console; a core that was started goes on."""
