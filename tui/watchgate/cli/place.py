"""Where this user's files are and what the configuration says, or a clear end of the command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from watchgate.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from watchgate.core.config import Config
    from watchgate.link.paths import Paths


def here() -> Paths:
    """The paths that the environment names."""
    from watchgate.link.paths import SocketPathTooLongError, paths

    try:
        return paths(os.environ)
    except SocketPathTooLongError as fault:
        raise Stop(str(fault), Exit.USAGE) from None


def configured(paths: Paths) -> Config:
    """The configuration in force; a bad one ends the command."""
    from watchgate.core.config import ConfigError
    from watchgate.service.runtime_dir import RuntimeDirError
    from watchgate.service.settings import read_config

    try:
        return read_config(paths)
    except (ConfigError, RuntimeDirError) as fault:
        raise Stop(str(fault)) from None
