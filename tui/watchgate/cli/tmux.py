"""Texts for tmux, which expands formats and commands in almost all it shows, and its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import CompletedProcess


def literal(text: str) -> str:
    """A text that tmux shows as it is, with neither formats nor commands nor times in it."""
    return text.replace("#", "##").replace("%", "%%")


def literal_in_status(text: str) -> str:
    """A text for the output of a `#(command)` in the status line, where no time is expanded."""
    return text.replace("#", "##")


def command(*words: str) -> list[str]:
    """The command line of one tmux command.

    A semicolon at the end of a word would end the command, and the next word begin another.
    """
    return ["tmux", *(f"{word[:-1]}\\;" if word.endswith(";") else word for word in words)]


def run(*words: str) -> CompletedProcess[str] | None:
    """Run a tmux command to its end; None when there is no tmux."""
    import subprocess

    try:
        return subprocess.run(
            command(*words), capture_output=True, text=True, errors="replace", check=False
        )
    except OSError:
        return None


def answer(*words: str) -> str | None:
    """Return what a tmux command prints; None when there is no tmux, no server or no such thing."""
    done = run(*words)
    return done.stdout.strip() if done is not None and done.returncode == 0 else None
