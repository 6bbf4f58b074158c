"""The console on a recording: what `watchgate replay` opens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchgate.core.model.records import Record


def in_console(records: Sequence[Record], *, speed: float = 1.0) -> int:
    """Play records, at least one and oldest first; returns the exit code.

    Raises `Stop` without a terminal, and for a configuration that cannot be used.
    """
    from watchgate.cli.base.command_environment import configured, here
    from watchgate.cli.base.console_keys import check_keys
    from watchgate.cli.console.console_command import need_terminal, open_console
    from watchgate.ui.replay.replay_source import Recording

    need_terminal()
    paths = here()
    config = configured(paths)
    check_keys(paths, config)
    return open_console(paths, config, replay=Recording(records, speed))
