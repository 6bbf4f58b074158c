"""Texts for tmux, which expands formats and commands in almost all it shows, and its answers.

- The gate's state as tmux's status line shows it: a few words, styled by the worst request.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """Runs a tmux command to its end; None when there is no tmux."""
    import subprocess

    try:
        return subprocess.run(
            command(*words), capture_output=True, text=True, errors="replace", check=False
        )
    except OSError:
        return None


def answer(*words: str) -> str | None:
    """Returns the output of a tmux command; None without tmux, a server or such a thing."""
    done = run(*words)
    return done.stdout.strip() if done is not None and done.returncode == 0 else None


# The tokens of ui/base/theme.py, as chips: what they lie on is the user's, any colour.
_INK = "#0f1115"
_CHIPS = {
    "low": ("#8a93a6", "."),
    "medium": ("#56b4e9", "!"),
    "high": ("#f0c419", "!!"),
    "critical": ("#ff6a3d", "!!!"),
}
_RANK = ("low", "medium", "high", "critical")
_ALARM = ("#b3261e", "#ffffff")


def pending_line(profile: str, risks: Sequence[str]) -> str:
    """Counts the open requests by risk; what nobody could assess counts as high."""
    if not risks:
        gate = "watch, NOT GATING," if profile == "watch" else literal_in_status(profile)
        return f"{gate} 0 pending"
    known = [risk if risk in _CHIPS else "high" for risk in risks]
    ground, glyph = _CHIPS[max(known, key=_RANK.index)]
    return _chip(f"{glyph} {len(risks)} pending", ground, _INK)


def alarm_line(words: str) -> str:
    """Writes what must not be overlooked: no core, or the gate switched off."""
    return _chip(words, *_ALARM)


def _chip(words: str, ground: str, ink: str) -> str:
    return f"#[fg={ink},bg={ground},bold] {literal_in_status(words)} #[default]"
