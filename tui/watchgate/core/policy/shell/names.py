"""Names of programs, and which of them are shells or interpreters."""

from __future__ import annotations

from functools import lru_cache

from watchgate.core.policy.shell.words import names

SHELLS = names("sh bash zsh dash ksh mksh ash fish csh tcsh rbash")
INTERPRETERS = names("python perl ruby node php lua deno bun tclsh osascript pwsh powershell")

SYSTEM_FOLDERS = names("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /opt/homebrew/bin")
"""Where a program is what its name says."""


# A command's name is asked for at every step of reading and judging it.
@lru_cache(maxsize=64)
def plain_name(text: str) -> str:
    """A program's name without folder, version and capitals: `/bin/python3.12` is `python`."""
    name = text.rpartition("/")[2].lower()
    family = name.rstrip("0123456789.")
    return family if family in INTERPRETERS else name


def is_itself(text: str) -> bool:
    """Return whether a program's name, as it is written, can only mean the system's own program."""
    folder, slash, name = text.rpartition("/")
    return name == plain_name(name) and (not slash or folder in SYSTEM_FOLDERS)
