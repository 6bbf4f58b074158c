"""The token that a registered program decides with: from a file, or from its environment."""

from __future__ import annotations

import argparse
import os
import stat
from pathlib import Path

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.typed import at_terminal

VARIABLE = "WATCHGATE_TOKEN"
UNREGISTERED = (
    "without a terminal only a program that you registered may let a call run: "
    "`watchgate token add NAME` once, then give it as WATCHGATE_TOKEN or --token-file FILE"
)
_LONGEST = 4096


def add_token_option(command: argparse.ArgumentParser) -> None:
    """Add `--token-file` to a command that lets calls run."""
    command.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"for a registered program (`watchgate token add`): its token, instead of {VARIABLE}",
    )


def given_token(file: str | None) -> str | None:
    """The token of this program; None where a person sits at the terminal and names no file.

    Ends the command for a file that others may read: whoever reads it may allow.
    """
    if file is not None:
        return _read(Path(file))
    return None if at_terminal() else os.environ.get(VARIABLE) or None


def _read(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            status = os.fstat(descriptor)
            mode = stat.S_IMODE(status.st_mode)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or mode & 0o077:
                raise Stop(
                    f"{path}: others may read this token ({mode:04o}), so it is not used: "
                    f"chmod 600 {path}, and register the program again",
                    Exit.USAGE,
                )
            words = opened.read(_LONGEST).decode("utf-8", "replace").split()
    except OSError as fault:
        raise Stop(f"{path}: no token can be read: {fault.strerror}", Exit.USAGE) from None
    if not words:
        raise Stop(f"{path}: there is no token in it", Exit.USAGE)
    # Above it may stand what `token add` printed before it.
    return words[-1]
