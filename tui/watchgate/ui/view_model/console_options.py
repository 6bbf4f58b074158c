"""The options of a console besides its source: facts about the machine, and callbacks.

The console reads no files and starts no processes; whoever starts it does that on its behalf.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from watchgate.core.base.clock import Clock
from watchgate.core.model.agent_state import WithoutCore
from watchgate.ui.notifications.terminal_sequences import Telling
from watchgate.ui.source.record_source import RecordSource

if TYPE_CHECKING:
    from watchgate.ui.source.replay_source import Recording


class Terminal(msgspec.Struct, frozen=True, kw_only=True):
    """The terminal of an agent, as far as its hook names one; `host` is its machine if another."""

    agent_pid: int | None
    env: Mapping[str, str]
    host: str = ""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that differs between two consoles on the same core.

    `demo` marks the picture as a demonstration, `hosted` says that the core ends with the console.
    `open_demo` starts a demo and gives its source and its clock; `start_core` starts a core and
    returns once it was asked to; `log_lines` reads the core's newest log lines; `go_to` brings the
    agent's terminal to the front and returns what it did, None when it knows no way.
    `without_core` reads what the hooks on this machine do while no core runs. `replay` is the
    recording that the console shows in place of a core.
    `telling` is how it may ring and notify; `keys` maps action ids to keys; `theme` is a word of
    `theme.NAMES`. With `ascii` nothing but ASCII is written to the terminal.
    """

    demo: bool = False
    hosted: bool = False
    replay: Recording | None = None
    home: str = ""
    theme: str = "dark"
    ascii: bool = False
    keys: Mapping[str, str] = {}
    telling: Telling = Telling()
    start_core: Callable[[], Awaitable[None]] | None = None
    log_lines: Callable[[], list[str]] | None = None
    without_core: Callable[[], WithoutCore] | None = None
    open_demo: Callable[[], Awaitable[tuple[RecordSource, Clock]]] | None = None
    go_to: Callable[[Terminal], Awaitable[str | None]] | None = None
