"""The palette in use, and the marks of risks.

A widget draws with `palette(self.app.theme).style("dim", "s1", bold=True)`; a stylesheet writes
`$wg-s1`.
"""

from __future__ import annotations

from watchgate.ui.theming.depths import DEPTHS
from watchgate.ui.theming.palettes import BASES, DARK, LIGHT, MONO, Palette, Token

PALETTES = {
    each.name: each for each in (*BASES, *(p for few in DEPTHS.values() for p in few.values()))
}

NAMES: dict[str, Palette] = {
    "dark": DARK,
    "light": LIGHT,
    "mono": MONO,
    "textual-dark": DARK,
    "textual-light": LIGHT,
}
"""The words that `[ui] theme` may hold."""


def palette(theme: str) -> Palette:
    """The palette of the theme that an app shows; any theme that is not ours is drawn as dark."""
    return PALETTES.get(theme, DARK)


def fitted(chosen: Palette, colors: str | None) -> Palette:
    """The palette that stands in for a chosen one where there are only so many colours.

    `colors` is the terminal's colour system as Rich names it.
    """
    return DEPTHS.get(colors or "", {}).get(chosen.name, chosen)


RISK_GLYPH: dict[str, str] = {
    "low": ".",
    "medium": "!",
    "high": "!!",
    "critical": "!!!",
    "unknown": "!!",
}

RISK_TOKEN: dict[str, Token] = {
    "low": "low",
    "medium": "medium",
    "high": "high",
    "critical": "critical",
    "unknown": "high",
}

RISK_RANK: dict[str, int] = {"low": 0, "medium": 1, "unknown": 2, "high": 2, "critical": 3}
