"""Files of a user's own to start with, and writing them where none is.

The name of a shipped file and a path come in, the file goes there. It imports printing, and the
service's system when a command runs.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from watchgate.cli.base.printing import Stop, say


def start_with(name: str, path: Path, advice: str) -> None:
    """Writes the shipped file of this name, with its folder; one that is there already stays."""
    from watchgate.service.system.new_file import NewFileError, new_file

    if os.path.lexists(path):
        raise Stop(f"{path} is there already, and stays as it is: {advice}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with new_file(path) as file:
            file.write(files(__name__).joinpath(name).read_bytes())
    except OSError as fault:
        raise Stop(f"cannot make the folder {path.parent}: {fault.strerror}") from None
    except NewFileError as fault:
        raise Stop(str(fault)) from None
    say(f"{path} is there now; it changes nothing yet: {advice}")
