"""The gate's state as tmux's status line shows it: a few words, styled by the worst request."""

from __future__ import annotations

from collections.abc import Sequence

from watchgate.cli.tmux import literal_in_status

# The tokens of ui/theming/palettes.py, as chips: what they lie on is the user's, any colour.
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
    """Count the open requests by risk; what nobody could assess counts as high."""
    if not risks:
        gate = "watch, NOT GATING," if profile == "watch" else literal_in_status(profile)
        return f"{gate} 0 pending"
    known = [risk if risk in _CHIPS else "high" for risk in risks]
    ground, glyph = _CHIPS[max(known, key=_RANK.index)]
    return _chip(f"{glyph} {len(risks)} pending", ground, _INK)


def alarm_line(words: str) -> str:
    """Write what must not be overlooked: no core, or the gate switched off."""
    return _chip(words, *_ALARM)


def _chip(words: str, ground: str, ink: str) -> str:
    return f"#[fg={ink},bg={ground},bold] {literal_in_status(words)} #[default]"
